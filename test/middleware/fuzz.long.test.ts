/**
 * Random requests to every endpoint, made from the OpenAPI document, as `npm run fuzz` sends them:
 * whatever comes, the answer is one that the document has for the operation, never a 500, and the
 * service lives on.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCampaign } from '../../scripts/fuzz/campaign.ts';
import { curlOf } from '../../scripts/fuzz/reproduce.ts';
import { type ForkedTarget, startTarget } from '../../scripts/fuzz/server.ts';
import { fact } from '../support/facts.ts';
import { NIGHTLY } from '../support/run.ts';

const REQUESTS = NIGHTLY ? 100_000 : 3000;
/**
 * More than this above what a warm service takes is not bounded by anything. A part that is to be
 * merged takes the room of 5632 signatures, however few it has.
 */
const MAX_GROWTH_BYTES = 1000 * 2 ** 20;
/** Nor may the heap keep more than this, whatever was sent. */
const MAX_KEPT_BYTES = 24 * 2 ** 20;

let target: ForkedTarget;
beforeAll(async () => {
  target = await startTarget();
});
afterAll(() => target.stop());

it('every endpoint, as the document has it', { timeout: 1_800_000 }, async (context) => {
  const seed = Math.floor(Math.random() * 1e9);
  const warm = await target.memory();
  const outcome = await runCampaign(target, { requests: REQUESTS, seed });
  const { fault, sent, tally, peakBytes, heapBytes, markBytes, endBytes } = outcome;
  const repeat = fault?.plan ? curlOf(fault.plan, target.port) : `seed ${seed}`;
  expect(fault?.reasons ?? [], repeat).toEqual([]);
  expect(sent).toBe(REQUESTS);
  expect(peakBytes - warm.residentBytes).toBeLessThan(MAX_GROWTH_BYTES);
  expect(heapBytes[1] - heapBytes[0]).toBeLessThan(MAX_KEPT_BYTES);
  if (NIGHTLY) expect(endBytes / markBytes).toBeLessThan(1.2);

  const statuses = new Map<string, number>();
  for (const [status, count] of [...tally.values()].flatMap((row) => [...row])) {
    statuses.set(status, (statuses.get(status) ?? 0) + count);
  }
  for (const status of [200, 201, 202, 302, 400, 401, 403, 404, 405, 409, 413, 415, 422]) {
    expect(statuses.has(String(status)), `no ${status} among the answers`).toBe(true);
  }
  const reached = [...tally].filter(([, row]) => [...row.keys()].some((status) => status < '4'));
  expect(reached.length).toBe(tally.size);
  expect(tally.size).toBeGreaterThan(14);
  const counts = [...statuses].sort().map(([status, count]) => `${count} × ${status}`);
  const mib = (bytes: number) => Math.round(bytes / 2 ** 20);
  fact(
    context,
    'hostile requests',
    `${sent} made from the OpenAPI document, over sockets, to ${tally.size} operations, with ` +
      `success to each: ${counts.join(', ')}`,
  );
  fact(
    context,
    'hostile requests',
    `memory of the service: ${mib(markBytes)} MiB halfway, ${mib(endBytes)} MiB at the end, ` +
      `${mib(peakBytes)} MiB at most`,
  );
});
