/**
 * A campaign: random requests in rounds, each answer held to the document, until one is not as it
 * says. A round depends on the seed alone, and the next one has the next seed, so that a fault is
 * met again by a campaign of one round.
 */
import fc from 'fast-check';
import { sendRaw } from '../../test/middleware/rawHttp.ts';
import type { Contract, Seen } from '../../test/support/contract/contract.ts';
import { type RequestPlan, requestPlans } from '../../test/support/contract/requests.ts';
import { contractAt, noteAnswer } from '../../test/support/contract/watch.ts';
import {
  filledIn,
  MAY_GO_UNANSWERED,
  overTheLine,
  pathOf,
} from '../../test/support/contract/wire.ts';
import { reduced } from './reproduce.ts';
import type { Target } from './server.ts';
import { SAMPLES, World } from './world.ts';

export const ROUND = 500;
/** At once, each on a connection of its own. */
const CONNECTIONS = 16;
/** Memory is compared with what it was after so many requests, or after half of fewer. */
const MARK = 10_000;

export interface CampaignOptions {
  readonly requests: number;
  readonly seed: number;
  /** Ends after this time, however many requests that were. */
  readonly minutes?: number;
  onProgress?(sent: number, residentBytes: number): void;
}

export interface Fault {
  /** Of the round. */
  readonly seed: number;
  /** The smallest request that still has the fault, or the request as it was. */
  readonly plan: RequestPlan | null;
  /** Whether the fault came again when the request was sent again. */
  readonly again: boolean;
  readonly reasons: readonly string[];
}

export interface Outcome {
  readonly sent: number;
  /** Operation → status → how often; `-` is no answer. */
  readonly tally: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly fault: Fault | null;
  /** Resident bytes after a garbage collection, at the mark and at the end; and the most ever. */
  readonly markBytes: number;
  readonly endBytes: number;
  readonly peakBytes: number;
  /** The heap likewise, at the mark and at the end. */
  readonly heapBytes: readonly [number, number];
}

export async function runCampaign(target: Target, options: CampaignOptions): Promise<Outcome> {
  const contract = await contractAt(`http://127.0.0.1:${target.port}`);
  const world = new World(target);
  const plans = requestPlans(contract, SAMPLES);
  const tally = new Map<string, Map<string, number>>();
  const { requests, minutes = Number.POSITIVE_INFINITY } = options;
  const endMs = performance.now() + 60_000 * minutes;
  const mark = Math.min(MARK, requests / 2);
  let memory = await target.memory();
  let marked = memory;
  let fault: Fault | null = null;
  let sent = 0;
  for (let seed = options.seed; sent < requests && performance.now() < endMs; seed++) {
    try {
      await world.refresh();
    } catch (error) {
      fault = { seed: seed - 1, plan: null, again: false, reasons: [messageOf(error)] };
      break;
    }
    const round = fc.sample(plans, { seed, numRuns: Math.min(ROUND, requests - sent) });
    const found = await sendRound({ target, contract, world, tally }, round);
    if (found !== null) {
      fault = { seed, ...found };
      break;
    }
    const before = sent;
    sent += round.length;
    const looks = before < mark !== sent < mark || sent % (4 * ROUND) === 0 || sent >= requests;
    if (looks) {
      memory = await target.memory();
      if (before < mark) marked = memory;
      options.onProgress?.(sent, memory.residentBytes);
    }
  }
  if (fault === null) {
    try {
      await world.finishTask();
      memory = await target.memory();
    } catch (error) {
      fault = { seed: options.seed, plan: null, again: false, reasons: [messageOf(error)] };
    }
  }
  const heapBytes = [marked.heapBytes, memory.heapBytes] as const;
  const { residentBytes: endBytes, peakBytes } = memory;
  return { sent, tally, fault, markBytes: marked.residentBytes, endBytes, peakBytes, heapBytes };
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? `${error.message}${error.cause ? `: ${error.cause}` : ''}` : `${error}`;

interface Field {
  readonly target: Target;
  readonly contract: Contract;
  readonly world: World;
  readonly tally: Map<string, Map<string, number>>;
}

/** Sends all, so many at once. @returns the first fault, with the smallest request that has it */
async function sendRound(
  field: Field,
  round: readonly RequestPlan[],
): Promise<Omit<Fault, 'seed'> | null> {
  let first: { plan: RequestPlan; reasons: readonly string[] } | null = null;
  let next = 0;
  const one = async (): Promise<void> => {
    while (first === null && next < round.length) {
      const plan = round[next++]!;
      const reasons = await faultsOf(field, plan);
      if (reasons.length > 0) first ??= { plan, reasons };
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  // Assigned by the loops above, which the compiler does not see.
  const found = first as { plan: RequestPlan; reasons: readonly string[] } | null;
  if (found === null) return null;
  const { plan, reasons } = found;
  const small = await reduced(plan, async (each) => (await faultsOf(field, each)).length > 0);
  return small === null ? { plan, reasons, again: false } : { plan: small, reasons, again: true };
}

/** Sends a request. @returns everything in which the answer is not what the document says */
async function faultsOf(field: Field, plan: RequestPlan): Promise<readonly string[]> {
  const { target, contract, world, tally } = field;
  const sent = filledIn(plan, (real) => world.valueOf(real));
  const count = (status: number | '-'): void => {
    const ofOperation = tally.get(plan.operation) ?? new Map<string, number>();
    tally.set(plan.operation, ofOperation);
    ofOperation.set(String(status), (ofOperation.get(String(status)) ?? 0) + 1);
  };
  let answer: Awaited<ReturnType<typeof sendRaw>>;
  try {
    answer = await sendRaw(target.port, overTheLine(sent, target.port));
  } catch (error) {
    return [messageOf(error)];
  }
  if (answer === null) {
    count('-');
    if (!target.alive()) return ['the service has ended'];
    return MAY_GO_UNANSWERED.has(plan.transport) ? [] : ['no answer'];
  }
  const { status, headers, text } = answer;
  count(status);
  if (status === 500) return [`500: ${text}`];
  const events = headers.get('content-type') === 'text/event-stream';
  const { method } = sent;
  const path = pathOf(sent.target);
  const seen: Seen = { method, path, status, headers, body: events ? null : text, raw: true };
  const { faults } = contract.judge(seen);
  if (faults.length === 0) noteAnswer(contract, seen);
  return faults.map((fault) => `${status}: ${fault}`);
}
