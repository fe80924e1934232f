/**
 * Creates and checks vectors/table.json, the only table of shapes, ranks and bounds; the build
 * generates src/aggregate/parameters/table.gen.ts from it.
 *
 *   node scripts/parameters.ts                 checks the committed table: every inequality
 *   node scripts/parameters.ts --check         the same, and prints sizes, strengths and errors
 *   node scripts/parameters.ts --search [w]    searches anew with beam width w and writes the
 *                                              table; a row that is in the table already is
 *                                              replaced only by a cheaper one
 *   --fresh                                    with --search: ignore the existing rows
 *   --refine [steps]                           improves the existing rows by annealing, from
 *                                              their own choices and from those of their neighbours
 *   --runs 3, --seed 1                         with --refine: how often, and the generator's seed
 *   --shorter                                  with --refine: levels may hide messages and cut
 *                                              inner commitments (docs/decisions/0058); reads and
 *                                              writes parameters/shorter.json. Alone: prints it
 *   --only 512,1024:104                        with either: these sets or rows only
 *   --out file                                 with either: writes the rows there as JSON, not the
 *                                              table; --merge file,file puts such rows into it
 *
 * Rows are written one by one, as they are found. The search works with doubles and estimates; the
 * check works with integers, on the committed numbers alone, and is what the proof rests on.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { TableRow } from '../src/aggregate/parameters/rows.ts';
import { PARAMETERS } from './generate/parameterTable.ts';
import { BUCKETS } from './parameters/buckets.ts';
import { checkConstants, checkMixed, checkRow } from './parameters/check.ts';
import { rowOf, tableText } from './parameters/emit.ts';
import { measured, refine } from './parameters/refine.ts';
import { report, shorterReport, summary } from './parameters/report.ts';
import { type Chain, search } from './parameters/search.ts';
import { isShorter } from './parameters/shorter.ts';
import {
  acceptedCandidates,
  foldedKeyWords,
  keyColumns,
  LEAST_ACCEPTED,
  SAMPLES,
} from './parameters/streams.ts';

const FILE = new URL(`../${PARAMETERS}`, import.meta.url);
/** Rows with shorter commitments, which nothing uses yet. */
const SHORTER = new URL('parameters/shorter.json', import.meta.url);

const print = (text: string) => process.stdout.write(`${text}\n`);

const readRows = (file: URL | string): TableRow[] =>
  existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];

const nameOf = (row: TableRow): string => `${row[0]}:${row[1]}`;

/** Rows by their names, those of `better` before those of `known` where they are cheaper. */
function merged(known: readonly TableRow[], better: readonly TableRow[]): TableRow[] {
  const rows = new Map(known.map((row) => [nameOf(row), row]));
  for (const row of better) {
    const wrong = checkRow(row);
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    const before = rows.get(nameOf(row));
    if (before === undefined || measured(row).cost < measured(before).cost) {
      rows.set(nameOf(row), row);
    }
  }
  return [...rows.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

type Find = (set: 512 | 1024, bucket: number, known: readonly TableRow[]) => Chain | undefined;

/**
 * Searches the wanted buckets, from the largest, which is the dearest; neighbours learn from it.
 */
function searchAll(
  known: readonly TableRow[],
  only: string | undefined,
  write: (table: readonly TableRow[]) => void,
  find: Find,
): void {
  const wanted = only?.split(',');
  let table = [...known];
  for (const set of [512, 1024] as const) {
    for (const bucket of [...BUCKETS].reverse()) {
      const name = `${set}:${bucket}`;
      if (wanted && !wanted.includes(name) && !wanted.includes(`${set}`)) continue;
      const chain = find(set, bucket, table);
      if (chain === undefined) throw new Error(`no chain for ${name}`);
      const row = rowOf(set, bucket, chain);
      const wrong = checkRow(row);
      if (wrong.length > 0) {
        print(wrong.join('\n'));
        continue;
      }
      table = merged(table, [row]);
      write(table);
      print(`${name}: ${measured(table.find((one) => nameOf(one) === name)!).bytes} bytes`);
    }
  }
}

const depthFor = (bucket: number): number => (bucket <= 16 ? 4 : bucket <= 64 ? 5 : 6);

/** The rows whose choices may suit a bucket: those nearest to it, of both sets. */
function neighbours(known: readonly TableRow[], bucket: number): TableRow[] {
  const distance = (row: TableRow): number => Math.abs(Math.log(row[1] / bucket));
  return [...known].sort((a, b) => distance(a) - distance(b)).slice(0, 16);
}

/** @returns whether every inequality holds for the table as it stands in its file */
function check(table: readonly TableRow[], isLong: boolean): boolean {
  const wrong = checkConstants();
  if (readFileSync(FILE, 'utf8') !== tableText(table))
    wrong.push(`${PARAMETERS} is not as written`);
  const names = table.map(nameOf).join();
  const wanted = [512, 1024].flatMap((set) => BUCKETS.map((bucket) => `${set}:${bucket}`)).join();
  if (names !== wanted) wrong.push('the rows are not those of the buckets, in order');
  wrong.push(...table.flatMap((row) => checkRow(row)), ...checkMixed(table));
  if (foldedKeyWords(keyColumns(table)) > 0)
    wrong.push('a word of the commitment keys is not below q');
  const accepted = acceptedCandidates() / SAMPLES;
  if (accepted < LEAST_ACCEPTED)
    wrong.push('fewer candidates for challenges pass than are counted on');
  for (const line of wrong) print(`WRONG  ${line}`);
  const hash = createHash('sha256').update(JSON.stringify(table)).digest('hex');
  print(`${table.length} rows, SHA-256 ${hash}`);
  for (const line of summary(table)) print(line);
  if (isLong && wrong.length === 0) for (const line of report(table)) print(line);
  print(`${(performance.now() / 1000).toFixed(1)} s`);
  return wrong.length === 0;
}

const args = process.argv.slice(2);
const optionOf = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const committed = readRows(FILE);
const only = optionOf('--only');
const out = optionOf('--out');
const shorter = args.includes('--shorter');
// rows found before are the first to start from
const known = args.includes('--fresh')
  ? []
  : shorter
    ? merged(committed, readRows(SHORTER))
    : committed;
const write = (table: readonly TableRow[]): void => {
  const rows = shorter ? table.filter(isShorter) : table;
  writeFileSync(out ?? (shorter ? SHORTER : FILE), tableText(rows));
};

if (args.includes('--search')) {
  const width = Number(optionOf('--search') ?? 12);
  searchAll(known, only, write, (set, bucket) => search(set, bucket, width, depthFor(bucket)));
} else if (args.includes('--refine')) {
  const steps = Number(optionOf('--refine') ?? 20_000);
  const runs = Number(optionOf('--runs') ?? 3);
  const seed = Number(optionOf('--seed') ?? 1);
  searchAll(known, only, write, (set, bucket, rows) =>
    refine(set, bucket, neighbours(rows, bucket), { steps, runs, seed, shorter }),
  );
} else if (args.includes('--merge')) {
  const files = optionOf('--merge')!.split(',');
  write(files.reduce((table, file) => merged(table, readRows(file)), known));
} else if (shorter) {
  for (const line of shorterReport(readRows(SHORTER), committed)) print(line);
} else if (!check(committed, args.includes('--check'))) {
  process.exitCode = 1;
}
