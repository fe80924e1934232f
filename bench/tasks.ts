/**
 * From claim to result of a task of 1722 signatures, for two trees alternately, each run in its own
 * process:
 *
 *   node bench/tasks.ts <folder> <other folder> [rounds] [threads]     folders of src or dist
 *
 * The first task of a process starts threads and allocates memory; the others reuse both.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { falcon512 } from '../src/falcon/index.ts';
import { formatTaskFile } from '../src/wire/triple.ts';

const COUNT = 1722;
const TASKS = 4;

const [one = '', other = '', rounds = '5', threads = '2'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'falconry-tasks-'));
const taskFile = join(folder, 'task.json');
const items = Array.from({ length: COUNT }, (_, i) => {
  const { publicKey, secretKey } = falcon512.keygen();
  const message = Uint8Array.of(i, i >> 8);
  return { publicKey, message, signature: falcon512.sign(message, secretKey) };
});
writeFileSync(taskFile, formatTaskFile(items));

interface Run {
  readonly times: readonly number[];
  readonly cpuMs: number;
}
const script = fileURLToPath(new URL('support/taskTimes.ts', import.meta.url));
function run(tree: string): Run {
  const args = [script, tree, threads, String(TASKS), taskFile];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Run;
}
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1]!;

const runs = new Map<string, Run[]>([
  [one, []],
  [other, []],
]);
for (let round = 0; round < Number(rounds); round++) {
  const order = round % 2 === 0 ? [one, other] : [other, one];
  for (const tree of order) runs.get(tree)!.push(run(tree));
}
rmSync(folder, { recursive: true });

const figures = [...runs].map(([tree, made]) => ({
  tree,
  first: median(made.map(({ times }) => times[0]!)),
  later: median(made.flatMap(({ times }) => times.slice(1))),
  best: Math.min(...made.flatMap(({ times }) => times)),
  cpu: median(made.map(({ cpuMs }) => cpuMs)),
}));
for (const { tree, first, later, best, cpu } of figures) {
  const ms = (value: number): string => `${value.toFixed(0)} ms`;
  console.log(`${tree}: first ${ms(first)}, later ${ms(later)}, best ${ms(best)}, CPU ${ms(cpu)}`);
}
const [a, b] = figures as [(typeof figures)[0], (typeof figures)[0]];
const ratio = (name: 'first' | 'later' | 'best' | 'cpu'): string => (b[name] / a[name]).toFixed(3);
console.log(
  `first ${ratio('first')}, later ${ratio('later')}, best ${ratio('best')}, CPU ${ratio('cpu')}`,
);
