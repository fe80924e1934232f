/** Provers that choose a value late, and transcripts that absorb it too late. */
import { expect } from 'vitest';
import { concat } from '../../../src/shared/bytes.ts';
import type { SignedItem } from '../../reference/items.ts';
import type { Constraint, Faults } from '../../reference/prover/trace.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import type { AbsorbAs } from '../../reference/verifier/transcript.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { expectAccepted, expectRefused, forged, lacking, Seen } from './attack.ts';

/** A message of the transcript. */
interface Step {
  readonly level: number;
  readonly label: string;
}

/** What comes late: all but the first bytes of a message, in front of a later one. */
export interface Delay {
  readonly from: Step;
  readonly until: Step;
  /** bytes that are absorbed in time; if negative, so many at the end are not */
  readonly inTime: number;
}

/** The late transcript of one proof. */
function delaying({ from, until, inTime }: Delay): AbsorbAs {
  let level = -1;
  let waiting: Uint8Array = new Uint8Array(0);
  return ({ label, data }) => {
    if (label === 'retry') level += 1;
    const isAt = (step: Step): boolean => step.level === level && step.label === label;
    if (isAt(from)) {
      const end = inTime < 0 ? data.length + inTime : inTime;
      waiting = data.slice(end);
      return { label, data: data.subarray(0, end) };
    }
    return { label, data: isAt(until) ? concat(waiting, data) : data };
  };
}

export interface LateAttack {
  readonly row: TableRow;
  readonly items?: readonly SignedItem[];
  readonly delay: Delay;
  /**
   * @param known a run with the same challenges up to where the choice is absorbed; none in that
   *   run
   */
  readonly faults: (seen: Seen, known: Seen | undefined) => Faults;
  /** what the verifier has to lack besides, and where */
  readonly off?: readonly Constraint[];
  readonly at?: number;
}

/**
 * Refused by both verifiers, which take everything in in time; accepted by the slow one if it takes
 * the choice in late.
 */
export function expectStoppedByOrder({ row, items, delay, faults, off = [], at }: LateAttack) {
  const proof = (isLate: boolean, isWeak: boolean) => {
    const more = (): Faults => ({
      ...(isWeak && { omit: new Set(off), ...(at !== undefined && { omitAt: at }) }),
      ...(isLate && { absorb: delaying(delay) }),
    });
    const known = new Seen();
    const shared = { row, ...(items && { items }) };
    forged({ ...shared, faults: (seen) => faults(seen, undefined) }, more(), known);
    return forged({ ...shared, faults: (seen) => faults(seen, known) }, more());
  };
  expect(expectRefused(proof(false, false))).toMatch(/^seal/);
  const weaker = lacking(off, at);
  const late = proof(true, true);
  expectAccepted(late, { ...weaker, absorbAs: delaying(delay) });
  if (off.length === 0) return;
  // what it lacks besides is not enough by itself
  expect(verifyReferenceSection({ ...proof(false, true), ...weaker }).ok).toBe(false);
}
