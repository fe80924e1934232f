/**
 * Proofs of batches: bytes, times on one thread and on two, memory; for 2 signatures to as many
 * as fit, of both sets, each with its own key. Each case runs in its own process.
 *
 *   proof     without and with salts and header, against the bundle and the padded signatures
 *   prove     from the items to the bytes, including the verification of every signature
 *   verify    from bytes and statements to true, including hashing the statements
 *   ×2        the same with two threads that are already running
 *   two       the speedup of two threads that share nothing: the most that this machine allows
 *   memory    of all WebAssembly modules with one thread and with two, and the largest resident
 *             size of a process that makes one proof and nothing else
 *
 * `--native <path>` runs `<path> <count>` before and after ours in the same run. Its last line must
 * be JSON: `{"bytes", "prove_ms", "verify_ms"}`, and "setup_ms" if these times do not include
 * reading keys and hashing messages.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import { startBatch } from '../src/aggregate/batch.ts';
import { aggregateSync, MAX_PROOF_ITEMS } from '../src/aggregate/index.ts';
import { estimateProofBytes } from '../src/aggregate/proofFormat.ts';
import { falcon512, falcon1024 } from '../src/falcon/index.ts';
import { testRandom } from '../test/support/random.ts';
import type { BenchOptions } from './main.ts';
import type {
  BenchItem,
  CaseFigures,
  MemoryFigures,
  ProofFigures,
} from './support/aggregateCase.ts';
import { machine, ownVersions } from './support/machine.ts';

/** As many as the service takes by default; the largest proofs are compared with it. */
const FULL = 1722;
const COUNTS = [2, 10, 100, 500, 1000, FULL];
const QUICK_COUNTS = [2, 100, FULL];
const MB = 1e6;

const root = fileURLToPath(new URL('../', import.meta.url));

/** Memory of the modules in MB, with one thread or with two, whichever is more. */
function modulesOf({ memory }: Proof): number {
  return Math.max(...memory.map(({ modules }) => modules)) / MB;
}

interface Bar {
  readonly name: string;
  readonly must: number;
  readonly aim: number;
  readonly of: (proof: Proof) => number;
}
/** Limits and aims for 1722 signatures of Falcon-512. */
const BAR: readonly Bar[] = [
  { name: 'proof without salts, bytes', must: 54_000, aim: 52_700, of: (p: Proof) => p.bareBytes },
  { name: 'proof with salts, bytes', must: 123_000, aim: 121_700, of: (p: Proof) => p.bytes },
  { name: 'prove, s', must: 2.6, aim: 1.3, of: (p: Proof) => p.proveMs / 1000 },
  { name: 'prove, two threads, s', must: 1.5, aim: 0.7, of: (p: Proof) => p.proveTwoMs / 1000 },
  { name: 'verify, s', must: 1.5, aim: 0.6, of: (p: Proof) => p.verifyMs / 1000 },
  { name: 'verify, two threads, s', must: 0.9, aim: 0.35, of: (p: Proof) => p.verifyTwoMs / 1000 },
  { name: 'memory of the modules, MB', must: 400, aim: 250, of: modulesOf },
];
/** The largest proofs: bytes without salts that they must and should have. */
const LARGEST = [
  ['falcon512', 55_500, 55_228],
  ['falcon1024', 56_000, 55_822],
] as const;
/** Limits of the largest proofs; times are multiples of those of 1722 signatures. */
const barOfLargest = (full: Proof, must: number, aim: number): readonly Bar[] => [
  { name: 'proof without salts, bytes', must, aim, of: (p) => p.bareBytes },
  { name: 'prove, times that of 1722', must: 3, aim: 2.6, of: (p) => p.proveMs / full.proveMs },
  { name: 'verify, times that of 1722', must: 3, aim: 2.7, of: (p) => p.verifyMs / full.verifyMs },
];
/** The smallest batch whose proof is shorter than its bundle. */
const BREAK_EVEN = { name: 'smallest batch for a proof', must: 100, aim: 85 } as const;
type Proof = ProofFigures & { readonly memory: readonly [one: MemoryFigures, two: MemoryFigures] };
type Case = Omit<CaseFigures, 'proof'> & { readonly proof?: Proof };

interface NativeFigures {
  readonly bytes: number;
  readonly prove_ms: number;
  readonly verify_ms: number;
  readonly setup_ms?: number;
}

export async function run({ quick, native }: BenchOptions): Promise<void> {
  const host = machine();
  console.log(`${host.cpu}, ${host.cores} cores, load ${host.load}`);
  console.log(`Node ${host.node}, V8 ${host.v8}\n`);
  const counts = quick ? QUICK_COUNTS : COUNTS;
  const figures: Record<string, Case[]> = {};
  const ratios: ReturnType<typeof compare>[] = [];
  for (const falcon of [falcon512, falcon1024]) {
    const most = MAX_PROOF_ITEMS[falcon.name];
    const file = itemsFile(falcon, most);
    const measured: Case[] = [];
    console.log(`${falcon.name}\n${HEADING}`);
    for (const count of [...counts, most]) {
      const withNative = native !== undefined && falcon === falcon512 && count <= FULL;
      const before = withNative ? runNative(native, count) : undefined;
      const ours = runCase(file, count, quick ? 1 : 3);
      console.log(row(ours));
      if (before !== undefined && ours.proof !== undefined) {
        ratios.push(compare(ours.proof, count, [before, runNative(native!, count)]));
      }
      measured.push(ours);
    }
    console.log('');
    figures[falcon.name] = measured;
  }
  const verdicts = judgeAll(figures, breakEven());
  if (host.load > host.cores / 2) {
    console.log(`Other work was running (load ${host.load}): run it again on a quiet machine.`);
  }
  const facts = { quick, machine: host, versions: ownVersions(), figures, verdicts, ratios };
  console.log(JSON.stringify({ bench: 'aggregate', ...facts }));
}

/** Signatures, each with its own key: created once, the same in every run. */
function itemsFile(falcon: typeof falcon512, count: number): string {
  const folder = `${root}build/bench`;
  const file = `${folder}/${falcon.name}.items`;
  const isMade =
    existsSync(file) && (deserialize(readFileSync(file)) as BenchItem[]).length >= count;
  if (isMade) return file;
  console.log(`making ${count} keys and signatures of ${falcon.name}, once`);
  const random = testRandom(`bench aggregate ${falcon.name}`);
  const items = Array.from({ length: count }, (): BenchItem => {
    const { publicKey, secretKey } = falcon.keygen(random.bytes(48));
    const message = random.bytes(32);
    const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
    return { publicKey, message, signature: falcon.sign(message, secretKey, { testSeed }) };
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, serialize(items));
  return file;
}

/** The estimate that `auto` uses, compared with the entropy of the signatures. */
function breakEven(): number {
  const file = itemsFile(falcon512, 2 * BREAK_EVEN.must);
  const items = deserialize(readFileSync(file)) as BenchItem[];
  for (let count = 1; count <= 2 * BREAK_EVEN.must; count++) {
    const batch = items.slice(0, count);
    const verified = startBatch();
    verified.add(batch);
    const estimate = estimateProofBytes(verified.finish());
    if (estimate < aggregateSync(batch).length) return count;
  }
  return Number.POSITIVE_INFINITY;
}

function runCase(file: string, count: number, rounds: number): Case {
  const script = `${root}bench/support/aggregateCase.ts`;
  const ask = <T>(...what: string[]): T => {
    const args = [script, file, String(count), ...what];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as T;
  };
  const { proof, ...sizes } = ask<CaseFigures>('times', String(rounds));
  if (proof === undefined) return sizes;
  const memory = [ask<MemoryFigures>('memory', '1'), ask<MemoryFigures>('memory', '2')] as const;
  return { ...sizes, proof: { ...proof, memory } };
}

function runNative(path: string, count: number): NativeFigures {
  const output = execFileSync(path, [String(count)], { encoding: 'utf8' });
  return JSON.parse(output.trim().split('\n').at(-1)!) as NativeFigures;
}

/**
 * Ratios of our figures to the better of the two native runs: below 1 is better than native.
 * Verifying includes the set-up of both.
 */
function compare(ours: Proof, count: number, theirs: readonly NativeFigures[]) {
  const best = (of: (figures: NativeFigures) => number) => Math.min(...theirs.map(of));
  const ratio = {
    count,
    bytes: ours.bareBytes / best((each) => each.bytes),
    prove: ours.proveMs / best((each) => each.prove_ms),
    verify: ours.verifyMs / best((each) => each.verify_ms + (each.setup_ms ?? 0)),
  };
  const { bytes, prove, verify } = ratio;
  const shown = [bytes, prove, verify].map((value) => value.toFixed(2));
  const nativeBytes = best((each) => each.bytes).toLocaleString('en');
  const nativeMs = [
    best((each) => each.prove_ms),
    best((each) => each.verify_ms + (each.setup_ms ?? 0)),
  ].map((value) => `${value.toFixed(0)} ms`);
  const native = [`${nativeBytes} bytes`, ...nativeMs].join(', ');
  console.log(
    `     to native (${native}): bytes ${shown[0]}, prove ${shown[1]}, verify ${shown[2]}`,
  );
  return { ...ratio, native: theirs };
}

const COLUMNS = [
  ['N', 5],
  ['proof', 9],
  ['with salts', 11],
  ['bundle', 11],
  ['padded', 11],
  ['of bundle', 10],
  ['of padded', 10],
  ['prove', 10],
  ['×2', 10],
  ['verify', 10],
  ['×2', 10],
  ['two', 6],
  ['modules', 9],
  ['×2', 8],
  ['process', 9],
  ['×2', 8],
] as const;
const HEADING = COLUMNS.map(([name, width]) => name.padStart(width)).join('');

function row({ count, bundleBytes, paddedBytes, proof }: Case): string {
  const number = (value: number) => value.toLocaleString('en');
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(3)} s`;
  const megabytes = (bytes: number) => `${(bytes / MB).toFixed(0)} MB`;
  const sizes = [number(bundleBytes), number(paddedBytes)];
  const cells =
    proof === undefined
      ? [number(count), 'none', '', ...sizes]
      : [
          number(count),
          number(proof.bareBytes),
          number(proof.bytes),
          ...sizes,
          percent(proof.bytes / bundleBytes),
          percent(proof.bytes / paddedBytes),
          seconds(proof.proveMs),
          seconds(proof.proveTwoMs),
          seconds(proof.verifyMs),
          seconds(proof.verifyTwoMs),
          proof.twoAtOnce.toFixed(2),
          ...proof.memory.map(({ modules }) => megabytes(modules)),
          ...proof.memory.map(({ resident }) => megabytes(resident)),
        ];
  return cells.map((cell, column) => cell.padStart(COLUMNS[column]![1])).join('');
}

/** Verdicts on 1722 signatures of Falcon-512, and on the largest proofs of both sets. */
function judgeAll(figures: Readonly<Record<string, readonly Case[]>>, smallest: number) {
  const full = (set: string) => figures[set]!.find(({ count }) => count === FULL)!.proof!;
  const rowsOf = (bar: readonly Bar[], proof: Proof) =>
    bar.map(({ of, ...row }) => ({ ...row, figure: of(proof) }));
  const largest = ([set, must, aim]: (typeof LARGEST)[number]) => {
    const { count, proof } = figures[set]!.at(-1)!;
    return judge(`${set}, ${count} signatures`, rowsOf(barOfLargest(full(set), must, aim), proof!));
  };
  const rows = [...rowsOf(BAR, full('falcon512')), { ...BREAK_EVEN, figure: smallest }];
  return [...judge(`falcon512, ${FULL} signatures`, rows), ...LARGEST.flatMap(largest)];
}

type Row = Omit<Bar, 'of'> & { readonly figure: number };

function judge(title: string, rows: readonly Row[]) {
  const marks = { aim: '✓ aim reached', must: '✓ bar reached', missed: '✗ MISSED' };
  console.log(title.padEnd(40), '  figure      must       aim');
  return rows.map(({ name, must, aim, figure }) => {
    const verdict = figure <= aim ? 'aim' : figure <= must ? 'must' : 'missed';
    const cells = [figure, must, aim].map((value) => String(Number(value.toPrecision(5))));
    console.log(name.padEnd(38), cells.map((c) => c.padStart(9)).join(' '), ` ${marks[verdict]}`);
    return { name, figure, must, aim, verdict };
  });
}
