/**
 * Bundles the page that the service serves at `/v1/ui` into one module of the service:
 *
 * in src/middleware/page/browser:
 *   main.ts         → app     the page itself, without the library's modules
 *   worker/main.ts  → worker  the library with its WebAssembly, loaded on demand
 *   {style.css,icon.svg,index.html}
 *   → src/middleware/page/assets.gen.ts
 *
 * Also turns src/middleware/http/openapi.json into a module, which every host and bundler can load.
 *
 * The same sources always give the same bytes; a file is written only when they have changed.
 *
 *   node scripts/build-assets.ts           writes the files
 *   node scripts/build-assets.ts --print   bundles the page afresh and writes it to standard output
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { type Plugin, rolldown } from 'rolldown';
import { header, isCurrent, ROOT, sha256, writeAtomically } from './generated.ts';

const PAGE = join(ROOT, 'src/middleware/page/browser');
const OUTPUT = 'src/middleware/page/assets.gen.ts';
const OPENAPI = 'src/middleware/http/openapi';

/** Browsers of the last two years or so; `light-dark()` in the style needs the latest versions. */
const TARGET = ['chrome123', 'firefox120', 'safari17.5'];

/** Modules with side effects; package.json says that all others have none. */
const RUN_WHEN_LOADED =
  /\/(browser\/main|browser\/worker\/(main|calls)|aggregate\/aggregateWorker)\.ts$/;

interface Built {
  readonly name: string;
  readonly extension: string;
  readonly type: string;
  readonly data: string;
}

/** The client would load the library to check a result; the page leaves that to its worker. */
const libraryInWorker: Plugin = {
  name: 'library-in-worker',
  resolveId: (id, importer) =>
    importer?.includes('/src/client/') && id.endsWith('/aggregate/index.ts') ? '\0nothing' : null,
  load: (id) => (id === '\0nothing' ? 'export {}' : null),
};

/** One script with everything that it imports. */
async function bundle(entry: string, plugins: Plugin[] = []): Promise<string> {
  const build = await rolldown({
    input: join(PAGE, entry),
    cwd: ROOT,
    platform: 'browser',
    plugins,
    transform: { target: TARGET },
    treeshake: { moduleSideEffects: [{ test: RUN_WHEN_LOADED, sideEffects: true }] },
    onLog: (_level, log) => {
      throw new Error(`rolldown: ${log.message}`);
    },
  });
  try {
    const { output } = await build.generate({
      format: 'esm',
      minify: true,
      codeSplitting: false,
      comments: false,
    });
    const [chunk] = output;
    if (output.length !== 1 || chunk.imports.length > 0) {
      throw new Error(`${entry} did not become one script`);
    }
    return chunk.code;
  } finally {
    await build.close();
  }
}

const text = (name: string) => readFileSync(join(PAGE, name), 'utf8');
const style = text('style.css')
  .replaceAll(/\/\*[\s\S]*?\*\//g, '')
  .replaceAll(/\n\s*/g, '\n')
  .trim();
const SCRIPT = 'text/javascript; charset=utf-8';

const assets: Built[] = [
  { name: 'app', extension: 'js', type: SCRIPT, data: await bundle('main.ts', [libraryInWorker]) },
  { name: 'worker', extension: 'js', type: SCRIPT, data: await bundle('worker/main.ts') },
  { name: 'style', extension: 'css', type: 'text/css; charset=utf-8', data: style },
  { name: 'icon', extension: 'svg', type: 'image/svg+xml', data: text('icon.svg') },
];
/** The start of every WebAssembly module, in base64. */
const holdsLibrary = ({ data }: Built) => data.includes('AGFzbQ');
const holders = assets.filter(holdsLibrary).map(({ name }) => name);
if (holders.join() !== 'worker') throw new Error(`the library is in: ${holders.join()}`);

const template = text('index.html');
const recipe = readFileSync(fileURLToPath(import.meta.url), 'utf8');
const inputs = sha256(JSON.stringify([recipe, template, assets]));
const head = header('scripts/build-assets.ts', inputs);

function moduleSource(): string {
  const entries = assets.map(({ name, extension, type, data }) => {
    const bytes = Buffer.from(data);
    const brotli = brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    });
    return `  ${name}: {
    extension: '${extension}',
    type: '${type}',
    sha256: '${sha256(bytes)}',
    bytes: ${bytes.length},
    brotliBytes: ${brotli.length},
    brotli:
      '${brotli.toString('base64')}',
  },`;
  });
  return `${head}
export type AssetName = ${assets.map(({ name }) => `'${name}'`).join(' | ')};

export interface AssetData {
  readonly extension: string;
  readonly type: string;
  /** Of the bytes before compression. */
  readonly sha256: string;
  readonly bytes: number;
  readonly brotliBytes: number;
  /** Compressed by brotli, in base64. */
  readonly brotli: string;
}

export const ASSETS: Readonly<Record<AssetName, AssetData>> = {
${entries.join('\n')}
};

/** The html with \`{{placeholders}}\`. */
export const TEMPLATE: string = ${JSON.stringify(template)};
`;
}

/** Text, which is parsed when a service is first asked for its document. */
function writeOpenapi(): void {
  const document = JSON.stringify(JSON.parse(readFileSync(join(ROOT, `${OPENAPI}.json`), 'utf8')));
  const openapiHead = header('scripts/build-assets.ts', sha256(recipe + document));
  if (isCurrent(`${OPENAPI}.gen.ts`, openapiHead)) return;
  const text = document.replaceAll(/[\\']/g, '\\$&');
  writeAtomically(
    `${OPENAPI}.gen.ts`,
    `${openapiHead}\nexport const OPENAPI: string = '${text}';\n`,
  );
}

writeOpenapi();
if (process.argv.includes('--print')) {
  process.stdout.write(moduleSource());
} else if (!isCurrent(OUTPUT, head)) {
  writeAtomically(OUTPUT, moduleSource());
}
