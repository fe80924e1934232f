/** Lists of tasks, of a store or a service: a table for people, or an array in JSON. */
import { integer } from '../../shared/optionRows.ts';
import type { Option } from './command.ts';
import type { Invocation } from './define.ts';
import { readNumber } from './settingText.ts';

/** The option of every command that lists tasks. */
export const LIMIT_OPTION: Option = {
  name: 'limit',
  value: 'n',
  about: 'list at most n tasks; 0: all',
  fallback: '100',
};

const LIMIT = integer('tasks to list', { max: 1e9 });

/** The most tasks to list; no limit for 0. */
export function readLimit({ option }: Pick<Invocation, 'option'>): number {
  return readNumber('--limit', LIMIT, option('limit')!) || Number.POSITIVE_INFINITY;
}

/** How a task is shown. */
export interface TaskColumns<T> {
  readonly head: string;
  line(task: T): string;
  /** In JSON. */
  facts(task: T): unknown;
}

/** Prints the tasks as they come, so many at the most. */
export async function printTasks<T>(
  tasks: AsyncIterable<T>,
  most: number,
  { head, line, facts }: TaskColumns<T>,
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
