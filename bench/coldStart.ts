/**
 * Cold start: from the import to the end of the first verification, each time in a new process, of
 * the package as it is built. `--native <path>` names the `dist/` of another build to compare with.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compilePackage } from '../scripts/compilePackage.ts';
import { ROOT } from '../scripts/generated.ts';
import { falcon512 } from '../src/falcon/index.ts';
import { testRandom } from '../test/support/random.ts';
import type { BenchOptions } from './main.ts';
import { median } from './support/interleave.ts';
import { machine } from './support/machine.ts';

interface Entry {
  readonly name: string;
  readonly url: string;
}

interface Times {
  readonly importMs: number;
  readonly verifyMs: number;
}

/** Imports an entry, verifies one signature and prints how long both took. */
const PROGRAM = `
const [url, ...values] = process.argv.slice(1);
const bytes = values.map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
const start = performance.now();
const { falcon512 } = await import(url);
const imported = performance.now();
if (!falcon512.verify(...bytes)) throw new Error('the signature is invalid');
const verified = performance.now();
console.log(JSON.stringify({ importMs: imported - start, verifyMs: verified - imported }));
`;

export async function run({ quick, native }: BenchOptions): Promise<void> {
  const dist = join(ROOT, 'build/cold-start');
  compilePackage(dist);
  try {
    const figures = measure(entries(dist, native), quick ? 5 : 25);
    for (const [name, { importMs, verifyMs, allMs }] of Object.entries(figures)) {
      const parts = `import ${importMs.toFixed(1)} ms, verify ${verifyMs.toFixed(1)} ms`;
      console.log(`${name.padEnd(28)} ${allMs.toFixed(1).padStart(7)} ms   ${parts}`);
    }
    console.log(JSON.stringify({ bench: 'coldStart', quick, machine: machine(), figures }));
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
}

function entries(dist: string, other: string | undefined): Entry[] {
  const at = (name: string, folder: string, file: string): Entry[] => {
    const path = join(folder, file);
    return existsSync(path) ? [{ name, url: pathToFileURL(path).href }] : [];
  };
  return [
    ...at('falconry', dist, 'index.js'),
    ...at('falconry/falcon', dist, 'falcon/index.js'),
    ...at('falconry/verify', dist, 'falcon/verifyOnly.js'),
    ...(other === undefined ? [] : at('falconry, the other build', other, 'index.js')),
    { name: 'noble', url: import.meta.resolve('@noble/post-quantum/falcon.js') },
  ];
}

/** The entries take turns. @returns medians, in milliseconds */
function measure(list: readonly Entry[], rounds: number) {
  const random = testRandom('cold start');
  const { publicKey, secretKey } = falcon512.keygen(random.bytes(48));
  const message = random.bytes(32);
  const signature = falcon512.sign(message, secretKey);
  const values = [signature, message, publicKey].map((each) => Buffer.from(each).toString('hex'));
  const samples = new Map<string, Times[]>(list.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, url } of list) {
      const args = ['--input-type=module', '--eval', PROGRAM, '--', url, ...values];
      const printed = execFileSync(process.execPath, args, { encoding: 'utf8' });
      samples.get(name)!.push(JSON.parse(printed) as Times);
    }
  }
  return Object.fromEntries(
    [...samples].map(([name, times]) => [
      name,
      {
        importMs: median(times.map(({ importMs }) => importMs)),
        verifyMs: median(times.map(({ verifyMs }) => verifyMs)),
        allMs: median(times.map(({ importMs, verifyMs }) => importMs + verifyMs)),
      },
    ]),
  );
}
