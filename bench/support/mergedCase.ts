/**
 * One step of bench/merged.ts, in its own process, so that its memory can be measured:
 *
 *   node bench/support/mergedCase.ts <folder> <parts> make     writes parts of 5632 signatures
 *   node bench/support/mergedCase.ts <folder> <parts> merge    checks and merges them, two threads
 *   node bench/support/mergedCase.ts <folder> <parts> verify   verifies the proof, one thread
 *   node bench/support/mergedCase.ts <folder> <parts> verify2  verifies the proof, two threads
 *
 * Items are of a hundred keys, with derived salts.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  aggregateParts,
  MAX_PROOF_ITEMS,
  mergeParts,
  verifyAggregate,
  verifyAggregateAsync,
} from '../../src/aggregate/index.ts';
import { falcon512 } from '../../src/falcon/index.ts';

export interface MergedFigures {
  readonly bytes: number;
  /** elapsed time of the step, and of the merge of parts that have been checked */
  readonly ms: number;
  readonly mergeMs: number;
  /** the largest resident size of the process */
  readonly residentMb: number;
}

const KEYS = 100;
const EACH = MAX_PROOF_ITEMS.falcon512;
const [folder = '', parts = '0', step] = process.argv.slice(2);
const keys = Array.from({ length: KEYS }, (_, i) =>
  falcon512.keygen(new Uint8Array(48).fill(i + 1)),
);
const statement = (i: number) => ({
  publicKey: keys[i % KEYS]!.publicKey,
  message: new TextEncoder().encode(`message ${i}`),
});
const statementsOf = (part: number) =>
  Array.from({ length: EACH }, (_, i) => statement(EACH * part + i));
const numbers = Array.from({ length: Number(parts) }, (_, part) => part);
const fileOf = (part: number): string => join(folder, `part${part}`);
const proofFile = join(folder, `merged${parts}`);

async function make(): Promise<number> {
  let bytes = 0;
  for (const part of numbers) {
    if (existsSync(fileOf(part))) continue;
    const items = statementsOf(part).map((own, i) => {
      const { secretKey } = keys[(EACH * part + i) % KEYS]!;
      const signature = falcon512.sign(own.message, secretKey, { salt: 'derived' });
      return { ...own, signature };
    });
    for await (const made of aggregateParts(items, { threads: 2 })) {
      writeFileSync(fileOf(part), made);
      bytes += made.length;
    }
  }
  return bytes;
}

let checkedAt = 0;

async function merge(): Promise<number> {
  const proof = await mergeParts(
    (function* () {
      for (const part of numbers) {
        yield { part: readFileSync(fileOf(part)), statements: statementsOf(part) };
      }
    })(),
    {
      threads: 2,
      onProgress: ({ phase }) => {
        if (phase === 'verifying') checkedAt = performance.now();
      },
    },
  );
  writeFileSync(proofFile, proof);
  return proof.length;
}

async function verify(threads: number): Promise<number> {
  const proof = readFileSync(proofFile);
  const statements = numbers.flatMap(statementsOf);
  checkedAt = performance.now();
  const isValid =
    threads === 1
      ? verifyAggregate(proof, statements)
      : await verifyAggregateAsync(proof, statements, { threads });
  if (!isValid) throw new Error('the proof is refused');
  return proof.length;
}

const startMs = performance.now();
const steps = { make, merge, verify: () => verify(1), verify2: () => verify(2) };
const bytes = await steps[step as keyof typeof steps]();
const endMs = performance.now();
console.log(
  JSON.stringify({
    bytes,
    ms: endMs - startMs,
    mergeMs: endMs - checkedAt,
    residentMb: process.resourceUsage().maxRSS / 1e3,
  } satisfies MergedFigures),
);
