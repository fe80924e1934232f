/**
 * A host for the browser: the service mounted in it, and this project's TypeScript as it stands,
 * types stripped, so that page and service have one origin. Nothing is bundled or built.
 */
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Hono } from 'hono';
import { type HttpServer, openHttpServer } from '../../../src/cli/operate/httpServer.ts';
import type { FalconService } from '../../../src/middleware/index.ts';

const root = new URL('../../../', import.meta.url);
const SERVED =
  /^\/(src|test\/client|node_modules\/(@noble\/hashes|eventsource-parser))\/[\w./@-]+\.(ts|js)$/;
/** Where the packages that the client imports are. */
const PACKAGES = /(from|import)(\s*\(?\s*)(['"])(@noble\/hashes\/[\w./-]+|eventsource-parser)\3/g;
const fileOf = (name: string): string =>
  `/node_modules/${name === 'eventsource-parser' ? 'eventsource-parser/dist/index.js' : name}`;

const PAGE = `<!doctype html><meta charset="utf-8"><title>client</title><script type="module">
  import { checkClient } from '/test/client/runtimes/check.ts';
  globalThis.checkClient = checkClient;
  globalThis.loaded = true;
</script>`;

/** The service is at `/falcon` of the page's origin. */
export function openHost(service: FalconService): Promise<HttpServer> {
  const host = new Hono();
  host.route('/falcon', service.app);
  host.get('/page', (c) => c.html(PAGE));
  host.get('*', async (c) => {
    const { path } = c.req;
    if (!SERVED.test(path) || path.includes('..')) return c.notFound();
    const source = await readFile(fileURLToPath(new URL(`.${path}`, root)), 'utf8');
    const code = path.endsWith('.ts') ? stripTypeScriptTypes(source) : source;
    const body = code.replaceAll(
      PACKAGES,
      (_, word, space, quote, name) => `${word}${space}${quote}${fileOf(name)}${quote}`,
    );
    return c.body(body, 200, { 'content-type': 'text/javascript' });
  });
  return openHttpServer({ fetch: host.fetch, port: 0, host: '127.0.0.1' });
}
