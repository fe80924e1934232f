/** A folder over HTTP, for browsers. */
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { openServer } from '../support/openServer.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a free port of this machine. @param base the path at which the folder is */
export async function serveFolder(folder: string, base = '/'): Promise<Served> {
  const { address, close } = await openServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    const path = pathname.startsWith(base) ? `/${pathname.slice(base.length)}` : '/404.html';
    const file = join(folder, normalize(path.endsWith('/') ? `${path}index.html` : path));
    const body = await readFile(file).catch(() => undefined);
    response.writeHead(body === undefined ? 404 : 200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    });
    response.end(body);
  });
  return { url: `${address}${base}`, close };
}
