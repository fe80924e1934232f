/** The client really run in Node, Deno, Bun and Chromium, against both servers. */
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';
import type { HttpServer } from '../../../src/cli/operate/httpServer.ts';
import { serviceTest } from '../../middleware/support.ts';
import { findChromium, loadPage, openBrowser } from '../../support/chromium.ts';
import { fact } from '../../support/facts.ts';
import {
  BUN,
  BUN_RUN,
  DENO,
  DENO_RUN,
  reportOf,
  versionOfHost,
} from '../../support/hostCommands.ts';
import { PLAIN_KEY, type PlainServer, startPlainServer } from '../plainServer.ts';
import type { ClientReport, Servers } from './check.ts';
import { openHost } from './page.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const TOPIC = 'the client really ran in';
const LONG = { timeout: 300_000 };

const { test, http } = serviceTest({ threads: 1, cors: '*' });
let host: HttpServer;
let plain: PlainServer;
let servers: Servers;

test.beforeAll(async () => {
  host = await openHost(http.service);
  plain = await startPlainServer();
  servers = {
    service: { baseUrl: `http://127.0.0.1:${host.port}/falcon`, apiKey: http.alice },
    plain: { baseUrl: plain.base, apiKey: PLAIN_KEY, serviceName: 'plain' },
  };
});
afterAll(async () => {
  await host.close(0);
  await plain.close();
});

function judge(report: ClientReport): string {
  expect(report.faults).toEqual([]);
  expect(report.checks).toBeGreaterThan(15);
  // Told on the way, not only at both ends; and the store of the other server got a length and no
  // key.
  expect(report.between.service).toBeGreaterThan(0);
  expect(report.between.plain).toBeGreaterThan(0);
  const puts = plain.seen.filter(({ method }) => method === 'PUT');
  expect(plain.tasks.get(report.ids[0]!)!.file!.length).toBe(24_000_000);
  expect(puts.at(-1)!.headers['content-length']).toBe('24000000');
  expect(puts.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  return `${report.checks} checks`;
}

test.for([
  ['Node', process.execPath, []],
  ['Deno', DENO, [...DENO_RUN, '--allow-net=127.0.0.1']],
  ['Bun', BUN, BUN_RUN],
] as const)('%s', LONG, async ([, command, args], { task }) => {
  const report = await reportOf<ClientReport>(command, [...args, main, JSON.stringify(servers)]);
  fact({ task }, TOPIC, `${versionOfHost(command)}: ${judge(report)}`);
});

const executablePath = findChromium();

test('Chromium', LONG, async ({ skip, task }) => {
  if (executablePath === undefined) return skip('no Chromium on this machine');
  const browser = await openBrowser(executablePath);
  try {
    const { page, errors } = await loadPage(browser, `http://127.0.0.1:${host.port}/page`);
    // Chromium tells of an upload ten times a second: one that lasts a second is told of in
    // between.
    const session = await page.context().newCDPSession(page);
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 24_000_000,
    });
    const run = (own: Servers) =>
      page.evaluate(`globalThis.checkClient(${JSON.stringify(own)})`) as Promise<ClientReport>;
    // In a page the address may be relative to it; or that of another origin, which allows it.
    const own = { ...servers, service: { ...servers.service, baseUrl: './falcon/' } };
    const elsewhere = { ...servers, service: { ...servers.service, baseUrl: http.address } };
    const said = `Chromium ${browser.version()}`;
    fact({ task }, TOPIC, `${said}: ${judge(await run(own))} from its own origin`);
    fact({ task }, TOPIC, `${said}: ${judge(await run(elsewhere))} from another one`);
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
});
