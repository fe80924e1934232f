/** Threads that compute for long stand back behind the one that answers requests. */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, expect } from 'vitest';
import { serviceTest } from './support.ts';
import { makeTriples } from './triples.ts';

/** Niceness is the 19th field of a thread's `stat`; its name, the second, may hold anything. */
function nicenesses(): Set<number> {
  const folder = '/proc/self/task';
  const stats = readdirSync(folder).map((id) => readFileSync(`${folder}/${id}/stat`, 'utf8'));
  return new Set(stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])));
}

const { it, http: service } = serviceTest();
describe.skipIf(process.platform !== 'linux')('the threads of a service', () => {
  it('that read large bodies and work on tasks are nicer than that of the requests', async () => {
    const own = getPriority();
    expect(nicenesses()).toEqual(new Set([own]));
    const data = makeTriples(25);
    const made = await service.ask('POST', '/v1/svc/aggsign', { data });
    expect(made.status).toBe(202);
    const reading = nicenesses();
    expect(await service.ended(made.json.process_id)).toMatchObject({ status: 'completed' });
    const nicer = [5, 10].map((more) => Math.min(19, own + more));
    expect(new Set([...reading, ...nicenesses()])).toEqual(new Set([own, ...nicer]));
    expect(getPriority()).toBe(own);
  });
});
