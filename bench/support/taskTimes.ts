/**
 * Milliseconds from the claim to the result of tasks of 1722 signatures, in a service of its own.
 * `bench/tasks.ts` runs it on two trees alternately; the service comes from the given folder.
 *
 *   node bench/support/taskTimes.ts <folder of src or dist> <threads> <tasks> <task file>
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FalconService, ServiceEvent, ServiceOptions } from '../../src/middleware/index.ts';

const [folder = '', threads = '1', tasks = '3', taskFile = ''] = process.argv.slice(2);
const extension = folder.endsWith('dist') ? 'js' : 'ts';
const module = pathToFileURL(join(folder, `middleware/index.${extension}`)).href;
const { falconService } = (await import(module)) as {
  falconService(options: ServiceOptions): FalconService;
};

const dataDirectory = await mkdtemp(join(tmpdir(), 'falconry-tasks-'));
const claimed = new Map<number, number>();
let ended: (ms: number) => void = () => undefined;
const service = falconService({
  dataDirectory,
  threads: Number(threads),
  signing: false,
  onEvent(event: ServiceEvent) {
    if (event.type !== 'task') return;
    const { taskId: id, state } = event;
    if (state === 'verifying' && !claimed.has(id)) claimed.set(id, performance.now());
    if (state === 'failed') throw new Error('the task failed');
    if (state === 'completed') ended(performance.now() - claimed.get(id)!);
  },
});
await service.start();
const { key } = await service.apiKeys.create({ name: 'tasks' });
const headers = { authorization: key, 'content-type': 'application/json' };
const body = `{"data":${await readFile(taskFile, 'utf8')}}`;
const times: number[] = [];
for (let i = 0; i < Number(tasks); i++) {
  const time = new Promise<number>((resolve) => {
    ended = resolve;
  });
  const answer = await service.app.request('/v1/svc/aggsign', { method: 'POST', headers, body });
  if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
  times.push(await time);
}
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ times, cpuMs: (user + system) / 1000 }));
await service.stop();
await rm(dataDirectory, { recursive: true });
