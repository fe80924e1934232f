/**
 * Bundles that esbuild makes, run in Node: without the workers' files the calling thread answers,
 * with them there are threads. Other bundlers are tried by the bundlers' own tests.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, type Format } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../../src/', import.meta.url));
const WORKERS = {
  verifyWorker: join(src, 'falcon/verifyWorker.ts'),
  aggregateWorker: join(src, 'aggregate/aggregateWorker.ts'),
};

const APP = `
import { aggregate, createVerifyPool, falcon512, verifyAggregate } from '${src}index.ts';
async function run() {
  const { VERIFY_WORKER: verifyUrl, AGGREGATE_WORKER: aggregateUrl } = process.env;
  const { publicKey, secretKey } = falcon512.keygen();
  const items = Array.from({ length: 200 }, (_, i) => {
    const message = Uint8Array.of(i, 1);
    return { publicKey, message, signature: falcon512.sign(message, secretKey) };
  });
  const wrong = items.with(7, { ...items[7], message: Uint8Array.of(1, 2) });
  const report = {};
  const pool = createVerifyPool({ threads: 2, ...(verifyUrl && { workerUrl: verifyUrl }) });
  report.invalid = await pool.verifyBatch(wrong, {
    onStats: ({ threads }) => { report.verify = threads; },
  });
  await pool.close();
  const proof = await aggregate(items, {
    format: 'proof', threads: 2, ...(aggregateUrl && { workerUrl: aggregateUrl }),
    onStats: ({ threads }) => { report.aggregate = threads; },
  });
  report.proved = verifyAggregate(proof, items);
  return report;
}
run().then((report) => console.log(JSON.stringify(report)));
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'falconry-bundles-'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'app.js'), APP);
});
afterAll(() => rm(folder, { recursive: true }));

/** Bundles entries into a folder of their own. */
async function bundle(name: string, format: Format, entries: Record<string, string>) {
  const outdir = join(folder, name);
  await build({
    entryPoints: entries,
    outdir,
    outExtension: { '.js': format === 'esm' ? '.js' : '.cjs' },
    bundle: true,
    platform: format === 'iife' ? 'browser' : 'node',
    format,
    logLevel: 'error',
  });
  return outdir;
}

async function run(outdir: string, file: string, env: Record<string, string> = {}) {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(outdir, file)], {
    cwd: outdir,
    env: { ...process.env, ...env },
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as unknown;
}

const answered = { invalid: [{ index: 7, reason: 'signatureMismatch' }], proved: true };
const alone = { ...answered, verify: 0, aggregate: 1 };
const threaded = { ...answered, verify: 2, aggregate: 2 };
const app = (): Record<string, string> => ({ app: join(folder, 'app.js') });

const FORMATS: readonly Format[] = ['esm', 'cjs', 'iife'];

describe.each(FORMATS)('%s', (format) => {
  test('without the workers, and with them at an address of their own', async () => {
    const outdir = await bundle(format, format, app());
    const file = format === 'esm' ? 'app.js' : 'app.cjs';
    expect(await run(outdir, file)).toEqual(alone);
    await bundle(`${format}/workers`, 'esm', WORKERS);
    const env = {
      VERIFY_WORKER: './workers/verifyWorker.js',
      AGGREGATE_WORKER: join(outdir, 'workers/aggregateWorker.js'),
    };
    expect(await run(outdir, file, env)).toEqual(threaded);
  });
});

test('esm: the workers are found beside the bundle', async () => {
  const outdir = await bundle('beside', 'esm', { ...app(), ...WORKERS });
  expect(await run(outdir, 'app.js')).toEqual(threaded);
});

test('each worker brings what it needs, and no more', async () => {
  const outdir = await bundle('workers', 'esm', WORKERS);
  const verify = await readFile(join(outdir, 'verifyWorker.js'), 'utf8');
  const aggregate = await readFile(join(outdir, 'aggregateWorker.js'), 'utf8');
  expect(verify).not.toContain('labrador');
  expect(aggregate).toContain('labrador');
  // No worker leads to itself: Vite refuses those that do.
  expect(verify).not.toContain('new Worker(');
  expect(aggregate).not.toContain('aggregateWorker.js');
});

test('a worker that is imported for its effect is not thrown away', async () => {
  const json = await readFile(
    fileURLToPath(new URL('../../../package.json', import.meta.url)),
    'utf8',
  );
  const { exports, sideEffects } = JSON.parse(json) as {
    exports: Record<string, { default: string }>;
    sideEffects: string[];
  };
  for (const name of ['./verify-worker', './aggregate-worker']) {
    expect(sideEffects).toContain(exports[name]!.default);
  }
});
