/** Why an aggregate that is not valid could not even be judged, in words. */
import { inspectAggregate } from '../aggregate/index.ts';
import { isCodedError } from '../errors.ts';

/**
 * What tells the aggregates of other versions apart from bytes that are none, or are damaged: the
 * `cause` that `inspectAggregate` gives.
 */
const FOREIGN: readonly unknown[] = ['format', 'version', 'table', 'profile', 'saltCoding'];

/**
 * @param aggregate bytes that did not verify
 * @returns undefined if they are judged here and not valid, or no aggregate at all
 */
export function refusalOf(aggregate: Uint8Array): string | undefined {
  try {
    inspectAggregate(aggregate);
    return undefined;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return FOREIGN.includes(error.cause) ? error.message : undefined;
  }
}
