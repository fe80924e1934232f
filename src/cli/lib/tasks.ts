/** Shared by commands on tasks and task files: limits, threads, ids, lists of tasks. */
import { availableParallelism } from 'node:os';
import { MAX_AGGREGATE_ITEMS } from '../../aggregate/index.ts';
import { integer } from '../../shared/optionRows.ts';
import { UsageError, valued } from './command.ts';
import type { Invocation } from './define.ts';
import { MAX_INPUT_BYTES } from './io.ts';
import { readNumber } from './settingText.ts';
import { printable } from './text.ts';

/** Wider than the limits of the service: the command runs on the user's own machine. */
export const FILE_LIMITS = Object.freeze({
  maxSignatures: MAX_AGGREGATE_ITEMS,
  maxMessageBytes: MAX_INPUT_BYTES,
  maxFileBytes: MAX_INPUT_BYTES,
});

const THREADS_ROW = integer('threads of one aggregate', { min: 1, max: 64 });
export const THREADS = valued('threads', 'n', 'threads to use, 1 to 64 [one per processor]');

/** `--threads`; one per processor if it is absent. */
export const readThreads = (
  text = String(Math.min(THREADS_ROW.max, availableParallelism())),
): number => readNumber('--threads', THREADS_ROW, text);

/** @throws UsageError for a word that is not the id of a task. Other servers use large numbers. */
export function checkTaskIds(words: readonly string[]): void {
  const wrong = words.find((word) => !/^\d{1,30}$/.test(word));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is not the id of a task`);
}

export const LIMIT = valued('limit', 'n', 'list at most n tasks; 0: all', { fallback: '100' });
const LIMIT_ROW = integer('tasks to list', { max: 1e9 });

/** The most tasks to list; no limit for 0. */
export function readLimit({ option }: Pick<Invocation, 'option'>): number {
  return readNumber('--limit', LIMIT_ROW, option('limit')!) || Number.POSITIVE_INFINITY;
}

/** Formats rows of a table with columns of these widths; a negative width aligns to the right. */
export function tableRow(...widths: readonly number[]): (...cells: readonly string[]) => string {
  const pad = (cell: string, width: number) =>
    width < 0 ? cell.padStart(-width) : cell.padEnd(width);
  return (...cells) =>
    cells
      .map((cell, i) => printable(pad(cell, widths[i]!)))
      .join('  ')
      .trimEnd();
}

/** Prints at most so many tasks as they come: a table, or an array in JSON. */
export async function printTasks<T>(
  tasks: AsyncIterable<T>,
  most: number,
  { head, line, facts }: { head: string; line(task: T): string; facts(task: T): unknown },
  { io, json, note }: Pick<Invocation, 'io' | 'json' | 'note'>,
): Promise<void> {
  let count = 0;
  let more = false;
  for await (const task of tasks) {
    more = count >= most;
    if (more) break;
    if (json) io.stdout.write(`${count === 0 ? '[' : ',\n '}${JSON.stringify(facts(task))}`);
    else io.stdout.write(count === 0 ? `${head}\n${line(task)}\n` : `${line(task)}\n`);
    count++;
  }
  if (json) io.stdout.write(count === 0 ? '[]\n' : ']\n');
  else if (count === 0) note('no tasks\n');
  if (more) note('there are more tasks; --limit 0 lists all\n');
}
