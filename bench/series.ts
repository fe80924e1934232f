/**
 * Series: bytes, CPU times and memory of the writer and the verifier of streams, on one thread, for
 * lists of Falcon-512 with derived salts. Each case runs in its own process.
 *
 *   npm run bench -- series                     10,000 and 100,000 signatures
 *   npm run bench -- series 1000000             other counts
 *
 * The verifier's memory must not grow with the list: it is compared with that of the shortest.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchOptions } from './main.ts';
import { machine } from './support/machine.ts';
import type { SeriesFigures } from './support/seriesCase.ts';

const COUNTS = ['10000', '100000'];
/** The verifier may need so much more for a long list than for a short one. */
const GROWTH_MB = 20;
/** V8 gives the young objects of a process more room the longer it runs, whatever is alive. */
const ENGINE = ['--max-semi-space-size=2'];
/** WebAssembly memory of a verifier of any list. */
const WASM_MB = 40;

const SCRIPT = fileURLToPath(new URL('support/seriesCase.ts', import.meta.url));

export async function run({ quick, serve }: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-series-'));
  const file = join(folder, 'series');
  const figures = (count: string, what: string): SeriesFigures => {
    const args = [...ENGINE, SCRIPT, file, count, what];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  };
  const counts = serve.length > 0 ? serve : quick ? COUNTS.slice(0, 1) : COUNTS;
  try {
    const cases = counts.map((count) => {
      const [make, verify] = [figures(count, 'make'), figures(count, 'verify')];
      console.log(
        `${count} signatures: ${make.bytes} bytes, ${(make.bytes / Number(count)).toFixed(2)} each`,
      );
      for (const [name, { cpuMs, beforeMb, residentMb, wasmMb }] of Object.entries({
        make,
        verify,
      })) {
        const each = (cpuMs / Number(count)).toFixed(3);
        console.log(
          `  ${name}: ${(cpuMs / 1000).toFixed(2)} s of CPU, ${each} ms each; ` +
            `${residentMb.toFixed(0)} MB resident (${beforeMb.toFixed(0)} before)` +
            `${name === 'verify' ? `, ${wasmMb.toFixed(1)} MB of WebAssembly memory` : ''}`,
        );
      }
      return { count: Number(count), make, verify };
    });
    const [first] = cases;
    const flat = cases.every(
      ({ verify }) =>
        verify.wasmMb <= WASM_MB && verify.residentMb <= first!.verify.residentMb + GROWTH_MB,
    );
    if (!flat) process.exitCode = 1;
    console.log(JSON.stringify({ machine: machine(), flat, cases }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
