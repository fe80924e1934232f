/**
 * A web server on 127.0.0.1 that gives a browser this project's TypeScript as it stands: types
 * stripped, names of packages replaced by their paths (import maps do not reach worker threads).
 * Nothing is bundled or built.
 */
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { openServer } from '../support/openServer.ts';

const root = new URL('../../', import.meta.url);
const SERVED = /^\/(src|test\/runtimes|node_modules\/@noble\/hashes)\/[\w./@-]+\.(ts|js)$/;

const PAGE = `<!doctype html><meta charset="utf-8"><title>check</title><script type="module">
  import { check, proveMany, verifyMany } from '/test/runtimes/check.ts';
  Object.assign(globalThis, { proveMany, verifyMany });
  globalThis.report = check();
  globalThis.loaded = true;
</script>`;

export interface TestServer {
  readonly url: string;
  /** Paths asked for and not served. */
  readonly missing: string[];
  close(): Promise<void>;
}

export async function serveLibrary(): Promise<TestServer> {
  const missing: string[] = [];
  const { address, close } = await openServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname;
    answer(path).then(
      ({ type, body }) => response.writeHead(200, { 'content-type': type }).end(body),
      () => {
        if (path !== '/favicon.ico') missing.push(path);
        response.writeHead(404).end();
      },
    );
  });
  return { url: `${address}/`, missing, close };
}

async function answer(path: string): Promise<{ type: string; body: string }> {
  if (path === '/') return { type: 'text/html', body: PAGE };
  if (!SERVED.test(path) || path.includes('..')) throw new Error('not served');
  const source = await readFile(fileURLToPath(new URL(`.${path}`, root)), 'utf8');
  const code = path.endsWith('.ts') ? stripTypeScriptTypes(source) : source;
  const body = code.replaceAll(
    /(from|import)(\s*\(?\s*)(['"])(@noble\/hashes\/[\w./-]+)\3/g,
    (_, word, space, quote, name) => `${word}${space}${quote}/node_modules/${name}${quote}`,
  );
  return { type: 'text/javascript', body };
}
