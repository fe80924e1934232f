/** What the sender of webhooks tells of its work. */

/**
 * How a try at a delivery ended: with an answer of success; without one, to be tried again; or
 * without one for the last time.
 */
export type DeliveryOutcome = 'sent' | 'failed' | 'given_up';

/** A try at a delivery that has ended. */
export interface DeliveryEvent {
  readonly taskId: number;
  /** The number of the try, from 1. */
  readonly attempt: number;
  readonly outcome: DeliveryOutcome;
}
