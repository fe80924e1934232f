/**
 * Makes and checks src/aggregate/parameters/table.ts, the one table of shapes, ranks and bounds.
 *
 *   node scripts/parameters.ts                 checks the committed table: every inequality
 *   node scripts/parameters.ts --check         the same, and prints sizes and errors
 *   node scripts/parameters.ts --search [w]    searches anew with beam width w and writes the
 *                                              table; a row that is in the table already is
 *                                              replaced only by a smaller one
 *   --fresh                                    with --search: forget the rows that are there
 *   --only 512:1722,1024:104                   with --search: these rows only
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
import { rowOf, sectionBytes, tableSource } from './parameters/emit.ts';
import { bitsOf } from './parameters/fixedPoint.ts';
import { ALL_FEATURES, search } from './parameters/search.ts';

const FILE = new URL('../src/aggregate/parameters/table.ts', import.meta.url);

/** bytes of an item in a bundle without its salt: mean of the coded s2 */
const BUNDLE = { 512: 603, 1024: 1206 } as const;
const SHOWN = [2, 10, 50, 100, 110, 128, 200, 500, 1000, 1722];

const print = (text: string) => process.stdout.write(`${text}\n`);

async function readTable(): Promise<{ table: readonly TableRow[]; hash: string }> {
  if (!existsSync(FILE)) return { table: [], hash: '' };
  const { TABLE, TABLE_SHA256 } = await import(FILE.href);
  return { table: TABLE, hash: TABLE_SHA256 };
}

function searchRows(known: readonly TableRow[], width: number, only?: string): TableRow[] {
  const rows = new Map(known.map((row) => [`${row[0]}:${row[1]}`, row]));
  const wanted = only?.split(',');
  for (const set of [512, 1024] as const) {
    for (const bucket of BUCKETS) {
      const name = `${set}:${bucket}`;
      if (wanted && !wanted.includes(name)) continue;
      const depth = bucket <= 16 ? 4 : bucket <= 64 ? 5 : 6;
      const chain = search(set, bucket, ALL_FEATURES, width, depth);
      if (!chain) throw new Error(`no chain for ${name}`);
      const row = rowOf(set, bucket, chain);
      const wrong = checkRow(row);
      if (wrong.length > 0) {
        print(wrong.join('\n'));
        continue;
      }
      const before = rows.get(name);
      const better = !before || sectionBytes(readRow(row)) < sectionBytes(readRow(before));
      if (better) rows.set(name, row);
      print(`${name}: ${sectionBytes(readRow(row))} bytes${better ? '' : ', not smaller'}`);
    }
  }
  return [...rows.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

function check(table: readonly TableRow[], hash: string, verbose: boolean): boolean {
  const wrong = checkConstants();
  const expected = createHash('sha256').update(JSON.stringify(table)).digest('hex');
  if (hash !== expected) wrong.push('TABLE_SHA256 is not the hash of the table');
  if (readFileSync(FILE, 'utf8') !== tableSource(table)) wrong.push('table.ts is not as written');
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
  print(`${table.length} rows, SHA-256 ${expected}`);
  print(`least margin of a norm: ${least.toFixed(2)} bits; largest error: 2^-${error.toFixed(2)}`);
  if (verbose && wrong.length === 0) report(table);
  return wrong.length === 0;
}

function report(table: readonly TableRow[]): void {
  const at = (set: number, count: number) =>
    readRow(table.find((row) => row[0] === set && row[1] === bucketOf(count))!);
  for (const set of [512, 1024] as const) {
    print(`\nFalcon-${set}: estimated bytes of a section, with salts, bundle; levels; error`);
    for (const count of SHOWN) {
      const parameters = at(set, count);
      const bytes = sectionBytes(parameters);
      const cells = [count, bucketOf(count), bytes, bytes + 40 * count];
      cells.push((BUNDLE[set] + 40) * count, parameters.levels.length + 1);
      const text = cells.map((cell) => String(cell).padStart(9)).join('');
      print(`${text}   2^-${errorBits(parameters).toFixed(2)}`);
    }
    let count = 1;
    while (sectionBytes(at(set, count)) >= BUNDLE[set] * count) count++;
    print(`smallest count at which the proof is smaller than the bundle: ${count}`);
    const large = at(set, 1722);
    for (const [name, term] of Object.entries(errorTerms(large))) {
      if (term > 0n) print(`  error, ${name}: 2^-${bitsOf(term, 1n << 256n).toFixed(2)}`);
    }
    for (const level of [...large.levels, large.tail]) {
      print(`  ${JSON.stringify({ ...level, riceG: undefined })}`);
    }
  }
}

const args = process.argv.slice(2);
const optionOf = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const committed = await readTable();
if (args.includes('--search')) {
  const width = Number(optionOf('--search') ?? 12);
  const known = args.includes('--fresh') ? [] : committed.table;
  const table = searchRows(known, width, optionOf('--only'));
  writeFileSync(FILE, tableSource(table));
} else if (!check(committed.table, committed.hash, args.includes('--check'))) {
  process.exitCode = 1;
}
