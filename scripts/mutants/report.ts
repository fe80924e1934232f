/** What a mutation run says: survivors with their lines, numbers per file, progress. */
import { type Mutant, mutated } from './enumerate.ts';
import type { Outcome } from './trial.ts';

/** The lines that a mutant changes, before and after. */
export function difference(text: string, mutant: Mutant): string {
  const from = text.lastIndexOf('\n', mutant.start - 1) + 1;
  const rest = text.indexOf('\n', mutant.end);
  const to = rest < 0 ? text.length : rest;
  const after = mutated(text, mutant);
  const lines = (sign: string, part: string): string =>
    part
      .split('\n')
      .map((line) => `  ${sign} ${line}`)
      .join('\n');
  const grown = after.length - text.length;
  return `${lines('-', text.slice(from, to))}\n${lines('+', after.slice(from, to + grown))}`;
}

/** A survivor, with where it is. */
export const survivor = (text: string, mutant: Mutant): string =>
  `survived: ${mutant.id}\n  ${mutant.file}:${mutant.line}\n${difference(text, mutant)}`;

/** One line per file, and a last one for all. */
export function table(outcomes: readonly Outcome[]): string {
  const counts = new Map<string, number[]>();
  const columns = ['mutants', 'killed', 'equivalent', 'survived'] as const;
  const column = { killed: 1, same: 2, survived: 3 } as const;
  for (const outcome of outcomes) {
    for (const name of [outcome.mutant.file, 'all']) {
      const row = counts.get(name) ?? [0, 0, 0, 0];
      row[0]!++;
      row[column[outcome.state]]!++;
      counts.set(name, row);
    }
  }
  const all = counts.get('all');
  counts.delete('all');
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  if (all !== undefined) rows.push(['all', all]);
  const width = Math.max(4, ...rows.map(([name]) => name.length));
  const line = (name: string, cells: readonly (string | number)[]): string =>
    `${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(12)).join('')}`;
  return [line('file', columns), ...rows.map(([name, row]) => line(name, row))].join('\n');
}

/** A line on a terminal that is drawn anew; nothing elsewhere. */
export class Progress {
  readonly #total: number;
  readonly #start = performance.now();
  #killed = 0;
  #survived = 0;

  constructor(total: number) {
    this.#total = total;
  }

  count({ state }: Outcome): void {
    if (state === 'survived') this.#survived++;
    else this.#killed++;
    const done = this.#killed + this.#survived;
    const minutes = (performance.now() - this.#start) / 60_000;
    const left = Math.ceil((minutes / done) * (this.#total - done));
    const figures = `${done} of ${this.#total}, ${this.#survived} survived, ${left} min left`;
    this.#draw(`mutants: ${figures}`);
  }

  clear(): void {
    this.#draw('');
  }

  #draw(line: string): void {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${line}`);
  }
}
