/** The benchmark of the service, in its quick form: that it runs, and measures what it says. */
import { expect, it } from 'vitest';
import { start } from '../middleware/process.ts';

const bench = (...args: string[]) => start('bench/main.ts', args).ended;

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly requests: number;
}
function expectTimes({ p50Ms, p99Ms, p999Ms, requests }: Times): void {
  expect(requests).toBeGreaterThan(0);
  expect(p50Ms).toBeGreaterThan(0);
  expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
  expect(p999Ms).toBeGreaterThanOrEqual(p99Ms);
}

it('measures every part', async () => {
  // What follows the second `--` reaches the server.
  const args = ['service', '--quick', '--soak', '1s', '--', '--service-name', 'svc'];
  const { code, stdout, stderr } = await bench(...args);
  expect(code, stderr).toBe(0);
  const text = stdout.trimEnd();
  const { quick, endpoints, parsing, lists, soak, memory } = JSON.parse(
    text.slice(text.lastIndexOf('\n') + 1),
  );
  expect(quick).toBe(true);
  expect(endpoints.figures.length).toBe(15);
  expect(endpoints.batches).toBeGreaterThan(0);
  for (const { name, at } of endpoints.figures) {
    expect(Object.keys(at), name).toEqual(['1', '32', '256']);
    for (const figure of Object.values<Times & { ofPlain: number; perSecond: number }>(at)) {
      expectTimes(figure);
      expect(figure.perSecond).toBeGreaterThan(0);
      expect(figure.ofPlain).toBeGreaterThan(0);
    }
  }
  expect(parsing.length).toBe(4);
  for (const { task, plain, batches } of parsing) {
    expectTimes(task);
    expectTimes(plain);
    expect(batches).toBeGreaterThan(0);
  }
  expect(lists.figures.length).toBe(9);
  for (const figure of lists.figures) expectTimes(figure);
  expect(soak.tasks).toBeGreaterThan(0);
  expect(soak.requests).toBeGreaterThan(8 * soak.tasks);
  expect(soak.quarters.length).toBe(4);
  expect(memory.uploads.accepted).toBe(memory.clients);
  expect(memory.direct.accepted + memory.direct.refused).toBe(memory.clients);
  expect(memory.uploads.peakBytes).toBeGreaterThanOrEqual(memory.before);
  for (const part of ['256 connections', 'while batches are parsed', 'Lists of', 'Soak of']) {
    expect(stdout).toContain(part);
  }
});

it.each([[['nothing']], [['service', '--soak', 'long']], [['falcon', '--', '--threads']]])(
  'refuses %j',
  async (args) => {
    const { code, stderr } = await bench(...args);
    expect(code).toBe(2);
    expect(stderr).toContain('usage: npm run bench');
  },
);
