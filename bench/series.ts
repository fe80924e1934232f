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
/**
 * So much more may be alive in the verifier of a long list than of a short one. What is resident
 * depends on when the engine collects.
 */
const GROWTH_MB = 20;
/** WebAssembly memory of a verifier of any list. */
const WASM_MB = 25;

const SCRIPT = fileURLToPath(new URL('support/seriesCase.ts', import.meta.url));

export async function run({ quick, serve }: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-series-'));
  const file = join(folder, 'series');
  const figures = (count: string, what: string): SeriesFigures => {
    const args = ['--expose-gc', SCRIPT, file, count, what];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  };
  const counts = serve.length > 0 ? serve : quick ? COUNTS.slice(0, 1) : COUNTS;
  try {
    const cases = counts.map((count) => {
      const [make, verify] = [figures(count, 'make'), figures(count, 'verify')];
      console.log(
        `${count} signatures: ${make.bytes} bytes, ${(make.bytes / Number(count)).toFixed(2)} each`,
      );
      for (const [name, { cpuMs, beforeMb, residentMb, liveMb, wasmMb }] of Object.entries({
        make,
        verify,
      })) {
        const each = (cpuMs / Number(count)).toFixed(3);
        console.log(
          `  ${name}: ${(cpuMs / 1000).toFixed(2)} s of CPU, ${each} ms each; ` +
            `${residentMb.toFixed(0)} MB resident (${beforeMb.toFixed(0)} before)` +
            (name === 'verify'
              ? `, ${liveMb.toFixed(1)} MB alive, ${wasmMb.toFixed(1)} MB of a module`
              : ''),
        );
      }
      return { count: Number(count), make, verify };
    });
    const [first] = cases;
    const flat = cases.every(
      ({ verify }) => verify.wasmMb <= WASM_MB && verify.liveMb <= first!.verify.liveMb + GROWTH_MB,
    );
    if (!flat) process.exitCode = 1;
    console.log(JSON.stringify({ machine: machine(), flat, cases }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
