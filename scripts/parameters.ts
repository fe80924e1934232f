/**
 * Creates and checks scripts/parameters/table.json, the only table of shapes, ranks and bounds; the
 * build generates src/aggregate/parameters/table.gen.ts from it.
 *
 *   node scripts/parameters.ts                 checks the committed table: every inequality
 *   node scripts/parameters.ts --check         the same, and prints sizes and errors
 *   node scripts/parameters.ts --search [w]    searches anew with beam width w and writes the
 *                                              table; a row that is in the table already is
 *                                              replaced only by a smaller one
 *   --fresh                                    with --search: ignore the existing rows
 *   --refine [steps]                           improves the existing rows by annealing, from
 *                                              their own choices and from those of their neighbours
 *   --runs 3, --seed 1                         with --refine: how often, and the generator's seed
 *   --only 512,1024:104                        with either: these sets or rows only
 *   --out file                                 with either: writes the rows there as JSON, not the
 *                                              table; --merge file,file puts such rows into it
 *
 * The search works with doubles and estimates; the check works with integers, on the committed
 * numbers alone, and is what the proof rests on.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readRow, type TableRow } from '../src/aggregate/parameters/rows.ts';
import { BUCKETS, bucketOf } from './parameters/buckets.ts';
import {
  bindingMargins,
  checkConstants,
  checkRow,
  errorBits,
  errorTerms,
} from './parameters/check.ts';
import { rowOf, tableText } from './parameters/emit.ts';
import { bitsOf } from './parameters/fixedPoint.ts';
import { projectionTail } from './parameters/projectionTail.ts';
import { measured, refine } from './parameters/refine.ts';
import { type Chain, search } from './parameters/search.ts';

const FILE = new URL('./parameters/table.json', import.meta.url);

/** mean bytes of an item in a bundle, without its salt: the coded s2 */
const BUNDLE = { 512: 603, 1024: 1206 } as const;
const SHOWN = [2, 10, 50, 100, 110, 128, 200, 500, 1000, 1722];

const print = (text: string) => process.stdout.write(`${text}\n`);

const readTable = (): readonly TableRow[] =>
  existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : [];

const nameOf = (row: TableRow): string => `${row[0]}:${row[1]}`;

/** The rows by name, taking those of `better` instead of those of `known` if they are cheaper. */
function merged(known: readonly TableRow[], better: readonly TableRow[]): TableRow[] {
  const rows = new Map(known.map((row) => [nameOf(row), row]));
  for (const row of better) {
    const wrong = checkRow(row);
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    const before = rows.get(nameOf(row));
    if (before === undefined || measured(row).cost < measured(before).cost)
      rows.set(nameOf(row), row);
  }
  return [...rows.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

/** New rows for the wanted buckets. */
function searched(
  known: readonly TableRow[],
  only: string | undefined,
  find: (set: 512 | 1024, bucket: number, known: readonly TableRow[]) => Chain | undefined,
): TableRow[] {
  const wanted = only?.split(',');
  let table = [...known];
  for (const set of [512, 1024] as const) {
    // start with the largest: its row gets the longest search, and its neighbours learn from it
    for (const bucket of [...BUCKETS].reverse()) {
      const name = `${set}:${bucket}`;
      if (wanted && !wanted.includes(name) && !wanted.includes(`${set}`)) continue;
      const chain = find(set, bucket, table);
      if (!chain) throw new Error(`no chain for ${name}`);
      const row = rowOf(set, bucket, chain);
      const wrong = checkRow(row);
      if (wrong.length > 0) {
        print(wrong.join('\n'));
        continue;
      }
      table = merged(table, [row]);
      print(`${name}: ${measured(row).bytes} bytes`);
    }
  }
  return table;
}

const depthFor = (bucket: number): number => (bucket <= 16 ? 4 : bucket <= 64 ? 5 : 6);

/** The rows whose choices may suit a bucket: the nearest ones, of both sets. */
function neighbours(known: readonly TableRow[], bucket: number): TableRow[] {
  const distance = (row: TableRow): number => Math.abs(Math.log(row[1] / bucket));
  return [...known].sort((a, b) => distance(a) - distance(b)).slice(0, 16);
}

function check(table: readonly TableRow[], verbose: boolean): boolean {
  const wrong = checkConstants();
  const hash = createHash('sha256').update(JSON.stringify(table)).digest('hex');
  if (readFileSync(FILE, 'utf8') !== tableText(table)) wrong.push('table.json is not as written');
  const names = table.map((row) => `${row[0]}:${row[1]}`).join();
  const wanted = [512, 1024].flatMap((set) => BUCKETS.map((bucket) => `${set}:${bucket}`)).join();
  if (names !== wanted) wrong.push('the rows are not those of the buckets, in order');
  let least = Number.POSITIVE_INFINITY;
  let error = Number.POSITIVE_INFINITY;
  for (const row of table) {
    wrong.push(...checkRow(row));
    least = Math.min(least, bindingMargins(readRow(row)));
    error = Math.min(error, errorBits(readRow(row)));
  }
  for (const line of wrong) print(`WRONG  ${line}`);
  print(`${table.length} rows, SHA-256 ${hash}`);
  print(`least margin of a norm: ${least.toFixed(2)} bits; largest error: 2^-${error.toFixed(2)}`);
  if (verbose && wrong.length === 0) report(table);
  return wrong.length === 0;
}

function report(table: readonly TableRow[]): void {
  const rowAt = (set: number, count: number): TableRow =>
    table.find((row) => row[0] === set && row[1] === bucketOf(count))!;
  const at = (set: number, count: number) => readRow(rowAt(set, count));
  const bytesAt = (set: number, count: number): number => measured(rowAt(set, count)).bytes;
  for (const set of [512, 1024] as const) {
    print(`\nFalcon-${set}: estimated bytes of a section, with salts, bundle; levels; error`);
    for (const count of SHOWN) {
      const parameters = at(set, count);
      const bytes = bytesAt(set, count);
      const cells = [count, bucketOf(count), bytes, bytes + 40 * count];
      cells.push((BUNDLE[set] + 40) * count, parameters.levels.length + 1);
      const text = cells.map((cell) => String(cell).padStart(9)).join('');
      print(`${text}   2^-${errorBits(parameters).toFixed(2)}`);
    }
    let count = 1;
    while (bytesAt(set, count) >= BUNDLE[set] * count) count++;
    print(`smallest count at which the proof is smaller than the bundle: ${count}`);
    const large = at(set, 1722);
    for (const [name, term] of Object.entries(errorTerms(large))) {
      if (term > 0n) print(`  error, ${name}: 2^-${bitsOf(term, 1n << 256n).toFixed(2)}`);
    }
    for (const level of [...large.levels, large.tail]) {
      print(`  ${JSON.stringify({ ...level, riceG: undefined })}`);
    }
  }
  const { bits, even, uneven, share } = projectionTail();
  print(`\nprojection of a level, proved for every vector: 2^-${bits.toFixed(2)}`);
  print(`  phi ${even.toFixed(5)}, ${uneven.toFixed(5)} with a share of ${share.toFixed(3)}`);
}

const args = process.argv.slice(2);
const optionOf = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const committed = readTable();
const only = optionOf('--only');
const out = optionOf('--out');
const write = (table: readonly TableRow[]): void => {
  if (out === undefined) writeFileSync(FILE, tableText(table));
  else writeFileSync(out, JSON.stringify(table));
};
if (args.includes('--search')) {
  const width = Number(optionOf('--search') ?? 12);
  const known = args.includes('--fresh') ? [] : committed;
  write(searched(known, only, (set, bucket) => search(set, bucket, width, depthFor(bucket))));
} else if (args.includes('--refine')) {
  const steps = Number(optionOf('--refine') ?? 20_000);
  const runs = Number(optionOf('--runs') ?? 3);
  const seed = Number(optionOf('--seed') ?? 1);
  const find = (set: 512 | 1024, bucket: number, known: readonly TableRow[]) =>
    refine(set, bucket, neighbours(known, bucket), { steps, runs, seed });
  write(searched(committed, only, find));
} else if (args.includes('--merge')) {
  const files = optionOf('--merge')!.split(',');
  const read = (file: string): TableRow[] => JSON.parse(readFileSync(file, 'utf8'));
  const known = args.includes('--fresh') ? [] : committed;
  write(files.reduce((table, file) => merged(table, read(file)), [...known]));
} else if (!check(committed, args.includes('--check'))) {
  process.exitCode = 1;
}
