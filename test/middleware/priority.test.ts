/** Threads that compute for long stand back behind the one that answers requests. */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from './support.ts';
import { makeTriples } from './triples.ts';

/** Niceness is the 19th field of a thread's `stat`; its name, the second, may hold anything. */
function nicenesses(): Set<number> {
  const folder = '/proc/self/task';
  const stats = readdirSync(folder).map((id) => readFileSync(`${folder}/${id}/stat`, 'utf8'));
  return new Set(stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])));
}

describe.skipIf(process.platform !== 'linux')('the threads of a service', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  it('that read large bodies and work on tasks are nicer than that of the requests', async () => {
    const own = getPriority();
    expect(nicenesses()).toEqual(new Set([own]));
    const data = makeTriples(100, 10);
    const made = await service.ask('POST', '/v1/svc/aggsign', { data });
    expect(made.status).toBe(202);
    const path = `/v1/svc/tasks/${made.json.process_id}`;
    const status = async () => (await service.ask('GET', path)).json.status;
    await expect.poll(status, { timeout: 60_000 }).toBe('completed');
    const nicer = [5, 10].map((more) => Math.min(19, own + more));
    expect(nicenesses()).toEqual(new Set([own, ...nicer]));
    expect(getPriority()).toBe(own);
  });
});
