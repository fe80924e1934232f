/** Why an aggregate that is not valid could not even be judged, in words. */
import { inspectAggregate } from '../aggregate/index.ts';
import { isCodedError } from '../shared/errors.ts';

/**
 * What tells the aggregates of other versions apart from bytes that are none, or are damaged: the
 * `cause` that `inspectAggregate` gives.
 */
const FOREIGN: readonly unknown[] = ['format', 'version', 'table', 'profile', 'saltCoding'];

/**
 * For callers who accept the profile `round3` alone.
 *
 * @param aggregate bytes that did not verify
 * @returns undefined if they are judged here and not valid, or no aggregate at all
 */
export function refusalOf(aggregate: Uint8Array): string | undefined {
  try {
    const { profile } = inspectAggregate(aggregate);
    if (profile === 'round3') return undefined;
    return `The aggregate is of the profile ${profile}, and only round3 is accepted here`;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return FOREIGN.includes(error.cause) ? error.message : undefined;
  }
}
