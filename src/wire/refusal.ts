/** Explains why an invalid aggregate could not be judged by this version. */
import { inspectAggregate } from '../aggregate/index.ts';
import { isCodedError } from '../shared/errors.ts';

/**
 * Values of the `cause` that `inspectAggregate` sets for aggregates of other versions, as opposed
 * to damaged ones or other bytes.
 */
const FOREIGN: readonly unknown[] = ['format', 'version', 'table', 'profile', 'saltCoding'];

/**
 * Describes the refusal, for callers that accept only the profile `round3`.
 *
 * @param aggregate bytes that did not verify
 * @returns undefined if the aggregate is supported and invalid, or if it is no aggregate at all
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
