/**
 * Where the intrinsics are frozen, by hand or by SES, errors keep their codes, and pools work and
 * close.
 */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installHere, newFolder } from './project.ts';

const folder = newFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The library and the client as tools make them that compile class fields to assignments. */
const ASSIGNING = 'assigning.mjs';
const ASSIGNING_CLIENT = 'assigningClient.mjs';

beforeAll(async () => {
  installHere(folder, ['ses']);
  await assigning('index.ts', ASSIGNING);
  await assigning('client/index.ts', ASSIGNING_CLIENT);
});

async function assigning(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [new URL(`../../src/${entry}`, import.meta.url).pathname],
    outfile: join(folder, outfile),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
    logLevel: 'silent',
  });
}

const FREEZES = {
  'lockdown() of SES': "import 'ses'; lockdown();",
  'Error.prototype frozen': 'Object.freeze(Error.prototype);',
  'all classes and prototypes frozen': `
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      const value = globalThis[name];
      if (typeof value !== 'function' || !value.prototype) continue;
      Object.freeze(value.prototype);
      Object.freeze(value);
    }
    Object.freeze(Object.getPrototypeOf(Uint8Array.prototype));
    Object.freeze(Function.prototype);`,
};

const SCRIPT = `
const seen = {};
const tell = (what) => ({ name, code, message, status, invalid }) => {
  seen[what] = { name, code, status, hasMessage: message !== '', invalid };
};
const attempt = async (what, call) => {
  try { seen[what] = await call(); } catch (error) { tell(what)(error); }
};
const { publicKey, secretKey } = f.falcon512.keygen();
const items = [1, 2, 3].map((i) => {
  const message = Uint8Array.of(i);
  return { publicKey, message, signature: f.falcon512.sign(message, secretKey) };
});
const bad = [items[0], { ...items[1], message: publicKey }];
await attempt('open', () => f.falcon512.attached.open(new Uint8Array(9), publicKey));
await attempt('aggregate', () => f.aggregate(bad));
const pool = f.createAggregatePool({ threads: 2 });
await attempt('pool', () => pool.aggregate(bad));
const verifiers = f.createVerifyPool({ threads: 2 });
await attempt('valid', () => verifiers.verifyBatch(items));
const many = Array(300).fill(items).flat();
const running = [verifiers.verifyBatch(many), pool.findInvalid(many)];
for (const each of running) each.catch(() => {});
await Promise.all([verifiers.close(), pool.close()]);
await attempt('running', () => running[0]);
await attempt('runningToo', () => running[1]);
await attempt('late', () => pool.aggregate(items));
const made = new f.CodedError('NOT_FOUND', { message: 'none', cause: 1, index: 4 });
seen.made = [made.name, made.code, made.message, made.cause, made.index, String(made)];
console.log(JSON.stringify(seen));`;

const coded = (code: string, status: number, more = {}) => ({
  name: 'CodedError',
  code,
  status,
  hasMessage: true,
  ...more,
});
const EXPECTED = {
  open: coded('INVALID_SIGNATURES', 422),
  aggregate: coded('INVALID_SIGNATURES', 422, { invalid: expect.any(Array) }),
  pool: coded('INVALID_SIGNATURES', 422, { invalid: expect.any(Array) }),
  valid: [],
  running: coded('ABORTED', 499),
  runningToo: coded('ABORTED', 499),
  late: coded('ABORTED', 499),
  made: ['CodedError', 'NOT_FOUND', 'none', 1, 4, 'CodedError: none'],
};

async function run(script: string): Promise<string> {
  const path = join(folder, 'script.mjs');
  writeFileSync(path, script);
  return (await promisify(execFile)(process.execPath, [path], { cwd: folder })).stdout;
}

test.each(
  Object.keys(FREEZES).flatMap((name) => [
    [name, 'falconry'],
    [name, `./${ASSIGNING}`],
  ]),
)('%s: %s', async (name, library) => {
  const freeze = FREEZES[name as keyof typeof FREEZES];
  const said = await run(`${freeze} const f = await import('${library}'); ${SCRIPT}`);
  expect(JSON.parse(said)).toEqual(EXPECTED);
});

test.each(
  Object.keys(FREEZES).flatMap((name) => [
    [name, 'falconry/client'],
    [name, `./${ASSIGNING_CLIENT}`],
  ]),
)('%s: %s', async (name, library) => {
  const said = await run(`${FREEZES[name as keyof typeof FREEZES]}
    const { createClient } = await import('${library}');
    const fetch = async () => Response.json({ code: 'NOT_FOUND', detail: 'no' }, { status: 404 });
    const client = createClient({ baseUrl: 'http://localhost/', retries: false, fetch });
    await client.task('1').catch(({ name, code, status, detail, kind }) =>
      console.log([name, code, status, detail, kind].join()));`);
  expect(said).toBe('ClientError,NOT_FOUND,404,no,problem\n');
});
