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
 *                                              their own choices and from those of their
 *                                              neighbours; hides messages, cuts inner commitments
 *   --runs 3, --seed 1                         with --refine: how often, and the generator's seed
 *   --only 512,1024:104                        with either: these sets or rows only
 *   --merge file,file                          puts the rows of other files into the table, those
 *                                              that are cheaper
 *   --out file                                 with any of these: writes the table there
 *
 * Rows are written one by one, as they are found. The search works with doubles and estimates; the
 * check works with integers, on the committed numbers alone, and is what the proof rests on.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { TableRow } from '../src/aggregate/parameters/rows.ts';
import { PARAMETERS } from './generate/parameterTable.ts';
import { BUCKETS } from './parameters/buckets.ts';
import { checkRow } from './parameters/check.ts';
import { checkTable, nameOf } from './parameters/checkTable.ts';
import { rowOf, tableText } from './parameters/emit.ts';
import { merged } from './parameters/merge.ts';
import { measured, refine } from './parameters/refine.ts';
import { report, summary } from './parameters/report.ts';
import { type Chain, search } from './parameters/search.ts';

const FILE = new URL(`../${PARAMETERS}`, import.meta.url);

const print = (text: string) => process.stdout.write(`${text}\n`);

const readRows = (file: URL | string): TableRow[] => JSON.parse(readFileSync(file, 'utf8'));

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
    for (const bucket of [...BUCKETS[set]].reverse()) {
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
  const wrong = checkTable(table, readFileSync(FILE, 'utf8'));
  for (const line of wrong) print(`WRONG  ${line}`);
  const hash = createHash('sha256').update(JSON.stringify(table)).digest('hex');
  print(`${table.length} rows, SHA-256 ${hash}`);
  if (wrong.length === 0) {
    for (const line of summary(table)) print(line);
    if (isLong) for (const line of report(table)) print(line);
  }
  print(`${(performance.now() / 1000).toFixed(1)} s`);
  return wrong.length === 0;
}

/** The known rows with the cheaper ones of some files. */
function mergeFiles(known: readonly TableRow[], files: readonly string[]): TableRow[] {
  const table = files.reduce(
    (rows: readonly TableRow[], file) => merged(rows, readRows(file)),
    known,
  );
  const bytesOf = (row: TableRow | undefined) => (row === undefined ? 'none' : measured(row).bytes);
  for (const row of table) {
    const before = known.find((one) => nameOf(one) === nameOf(row));
    if (before !== row) print(`${nameOf(row)}: ${bytesOf(before)} -> ${bytesOf(row)} bytes`);
  }
  return [...table];
}

const args = process.argv.slice(2);
const optionOf = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const committed = existsSync(FILE) ? readRows(FILE) : [];
const only = optionOf('--only');
const out = optionOf('--out');
// rows found before are the first to start from
const known = args.includes('--fresh') ? [] : committed;
const write = (table: readonly TableRow[]): void => writeFileSync(out ?? FILE, tableText(table));

if (args.includes('--search')) {
  const width = Number(optionOf('--search') ?? 12);
  searchAll(known, only, write, (set, bucket) => search(set, bucket, width, depthFor(bucket)));
} else if (args.includes('--refine')) {
  const steps = Number(optionOf('--refine') ?? 20_000);
  const runs = Number(optionOf('--runs') ?? 3);
  const seed = Number(optionOf('--seed') ?? 1);
  searchAll(known, only, write, (set, bucket, rows) =>
    refine(set, bucket, neighbours(rows, bucket), { steps, runs, seed }),
  );
} else if (args.includes('--merge')) {
  write(mergeFiles(known, optionOf('--merge')!.split(',')));
} else if (!check(committed, args.includes('--check'))) {
  process.exitCode = 1;
}
