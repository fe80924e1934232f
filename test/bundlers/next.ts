/** Next: the client page, the server component, and a route handler that runs the service. */
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/ports.ts';
import { startProgram } from '../support/startProgram.ts';
import { HAS, inChromium } from './browsers.ts';
import { beside, command, project } from './project.ts';
import type { JobReport } from './report.ts';

const NEXT = beside('next/dist/bin/next');
const ENV = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };
const root = fileURLToPath(new URL('./', import.meta.url));

const LAYOUT = `export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`;
const CLIENT = `'use client';
import { useEffect } from 'react';
import { job } from '../job.js';

export default function Page() {
  useEffect(() => { globalThis.report ??= job(); }, []);
  return <p>client</p>;
}
`;
const SERVER = `import { job } from '../../job.js';

export const dynamic = 'force-dynamic';
export default async function Page() {
  return <pre>{JSON.stringify(await job()).replaceAll('"', '~')}</pre>;
}
`;
/** One service for all requests: it starts with the first one. */
const ROUTE = `import { falcon512 } from 'falconry';
import { createClient } from 'falconry/client';
import { falconService } from 'falconry/middleware';

export const dynamic = 'force-dynamic';

async function aggregateTask() {
  const service = falconService({ dataDirectory: './data', threads: 2 });
  await service.start();
  try {
    const { key } = await service.apiKeys.create({ name: 'route' });
    const client = createClient({
      baseUrl: 'http://localhost',
      apiKey: key,
      fetch: async (url, init) => service.app.fetch(new Request(url, init)),
    });
    const { publicKey, secretKey } = falcon512.keygen();
    const items = Array.from({ length: 3 }, (_, i) => {
      const message = Uint8Array.of(i);
      return { publicKey, message, signature: falcon512.sign(message, secretKey) };
    });
    const { process_id } = await client.submit(items);
    await client.waitFor(process_id);
    return await client.result(process_id, { statements: items });
  } finally {
    await service.stop();
  }
}

export async function GET() {
  try {
    return Response.json({ checked: (await aggregateTask()).checked });
  } catch (error) {
    return Response.json({ code: error?.code, message: error?.message });
  }
}
`;

/** What the route handler answered: the checked result of a task, or how `start()` refused. */
export interface RouteReport {
  readonly checked?: boolean;
  readonly code?: string;
  readonly message?: string;
}

export interface NextReport {
  /** Left out where there is no Chromium. */
  readonly client?: JobReport;
  readonly server: JobReport;
  readonly route: RouteReport;
}

/**
 * Builds the three, starts them and asks each. @param external with `serverExternalPackages:
 * ['falconry']`
 */
export async function tryNext(external: boolean): Promise<NextReport> {
  const settings = {
    ...(external && { serverExternalPackages: ['falconry'] }),
    turbopack: { root },
  };
  const folder = await project(external ? 'next-external' : 'next', {
    'package.json': '{ "type": "module" }',
    'next.config.mjs': `export default ${JSON.stringify(settings)};\n`,
    'app/layout.jsx': LAYOUT,
    'app/page.jsx': CLIENT,
    'app/server/page.jsx': SERVER,
    'app/route/route.js': ROUTE,
  });
  await command(folder, process.execPath, [NEXT, 'build'], ENV);
  const server = await start(folder);
  try {
    const page = await (await fetch(`${server.url}/server`)).text();
    const text = /<pre>(.*?)<\/pre>/s.exec(page)?.[1];
    if (text === undefined) throw new Error(`no report in the page:\n${page}\n${server.output()}`);
    const route = await fetch(`${server.url}/route`);
    return {
      server: JSON.parse(text.replaceAll('~', '"')),
      route: (await route.json()) as RouteReport,
      ...(HAS.Chromium && { client: await inChromium(`${server.url}/`) }),
    };
  } finally {
    await server.end('SIGTERM');
  }
}

async function start(folder: string) {
  const port = await freePort();
  const args = [NEXT, 'start', '--hostname', '127.0.0.1', '--port', String(port)];
  const env = { ...process.env, ...ENV };
  const options = { cwd: folder, env, ready: /Ready in/ };
  const server = await startProgram(process.execPath, args, options);
  return { ...server, url: `http://127.0.0.1:${port}` };
}
