/**
 * Merged proofs over 2, 8 and 18 parts of 5632 signatures of Falcon-512 with derived salts: bytes,
 * time to merge parts that have been checked and time to check them, on two threads, memory of the
 * merging process, time to verify. Each step runs in its own process.
 *
 *   npm run bench -- merged           2, 8 and 18 parts
 *   npm run bench -- merged 2         other counts
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAX_PROOF_ITEMS } from '../src/aggregate/index.ts';
import type { BenchOptions } from './main.ts';
import { machine } from './support/machine.ts';
import type { MergedFigures } from './support/mergedCase.ts';

const COUNTS = ['2', '8', '18'];
/** Bytes, by the number of parts. */
const MOST_BYTES: Readonly<Record<string, number>> = { 2: 62_500, 8: 90_000, 18: 133_000 };
const MOST_MERGE_MS = 8000;
const MOST_VERIFY_MS = 0.2;
const MOST_MB = 2048 * 1.048576;

const SCRIPT = fileURLToPath(new URL('support/mergedCase.ts', import.meta.url));

export async function run({ quick, serve }: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-merged-'));
  const figures = (count: string, step: string): MergedFigures => {
    const args = [SCRIPT, folder, count, step];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  };
  const counts = serve.length > 0 ? serve : quick ? COUNTS.slice(0, 1) : COUNTS;
  try {
    const cases = counts.map((count) => {
      figures(count, 'make');
      const [merge, one, two] = ['merge', 'verify', 'verify2'].map((step) => figures(count, step));
      const signatures = Number(count) * MAX_PROOF_ITEMS.falcon512;
      const each = one!.mergeMs / signatures;
      const { bytes, mergeMs, ms, residentMb } = merge!;
      console.log(
        `${count} parts, ${signatures} signatures: ${bytes} bytes, ` +
          `${(bytes / signatures).toFixed(2)} each\n` +
          `  merge: ${(mergeMs / 1000).toFixed(1)} s of checked parts, ` +
          `${((ms - mergeMs) / 1000).toFixed(1)} s to check them, ` +
          `${residentMb.toFixed(0)} MB resident\n` +
          `  verify: ${(one!.mergeMs / 1000).toFixed(1)} s, ${each.toFixed(3)} ms each, ` +
          `${one!.residentMb.toFixed(0)} MB resident; ` +
          `${(two!.mergeMs / 1000).toFixed(1)} s on two threads`,
      );
      const isWithin =
        bytes <= (MOST_BYTES[count] ?? Number.POSITIVE_INFINITY) &&
        mergeMs <= MOST_MERGE_MS &&
        residentMb <= MOST_MB &&
        each <= MOST_VERIFY_MS;
      return { parts: Number(count), isWithin, merge, verify: one, verifyTwo: two };
    });
    if (!cases.every(({ isWithin }) => isWithin)) process.exitCode = 1;
    console.log(JSON.stringify({ machine: machine(), cases }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
