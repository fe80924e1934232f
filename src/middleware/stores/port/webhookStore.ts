/** The port for webhooks, and for what is to be sent to them. */
import type { TaskState } from '../../../wire/taskStates.ts';

/** The owner of the webhook of the operator, who hears of all tasks. Clients have 1 or more. */
export const OPERATOR = 0;

export interface Webhook {
  /** A client; 0 for the operator. */
  readonly owner: number;
  readonly url: string;
  readonly createdAt: string;
  /** Since when no delivery has arrived; null after one that has. */
  readonly failingSince: string | null;
  /** Since when nothing is sent any more; null while it is in use. */
  readonly disabledAt: string | null;
  /** Why the last delivery failed; null after one that arrived. */
  readonly lastError: string | null;
  /** Deliveries that wait. */
  readonly waiting: number;
  /** Deliveries given up. */
  readonly dropped: number;
}

export interface Delivery {
  readonly owner: number;
  readonly taskId: number;
  readonly clientId: number;
  readonly state: Extract<TaskState, 'completed' | 'failed'>;
  readonly count: number;
  readonly submittedAt: string;
  readonly finishedAt: string;
  /** Of a failed task. */
  readonly errorCode: string | null;
  /** The number of this try, from 1. */
  readonly attempt: number;
}

export interface ClaimedDelivery extends Delivery {
  readonly url: string;
  readonly secret: string;
}

export type Settlement =
  | { readonly arrived: true }
  | {
      readonly arrived: false;
      readonly error: string;
      /** The next try is not before this is over; null: it is given up. */
      readonly retryMs: number | null;
      /** Nothing else is sent to this webhook before this is over. */
      readonly pauseMs: number;
      /** A webhook at which nothing has arrived for this long is disabled. */
      readonly disableMs: number;
    };

/**
 * The part of a store that keeps webhooks, and what is to be sent to them. A store without all of
 * these verbs sends nothing. A host that writes them runs `webhookStoreContract` of
 * `falconry/testing` over them.
 *
 * What must hold:
 * 1. A task that is completed or failed is queued for every webhook that is to hear of it, in the
 *    transaction that ends the task. So none is lost, whatever ends the process.
 * 2. `claimDelivery` gives a delivery to one caller of all processes, under a lease. If nothing is
 *    heard of it, it is given out again: a receiver hears of a task at least once.
 * 3. A delivery is named by its webhook and its task, and an attempt settles it only while it holds
 *    it.
 */
export interface WebhookStore {
  /** Adds the webhook or replaces it, enabled; what waits is sent to the new address. */
  putWebhook(webhook: {
    readonly owner: number;
    readonly url: string;
    readonly secret: string;
  }): Promise<void>;
  /** Removes it, and what waits for it. @returns false if there is none */
  removeWebhook(owner: number): Promise<boolean>;
  /** In order of their owners; never with their secrets. */
  listWebhooks(): Promise<readonly Webhook[]>;
  /**
   * A delivery that is due, of a webhook that does not pause, the one that has waited longest; null
   * if there is none. Each claim counts its `attempt` up.
   */
  claimDelivery(leaseMs: number): Promise<ClaimedDelivery | null>;
  /**
   * Says how an attempt ended. One that arrived ends the delivery, and the webhook is failing no
   * more. After one that did not, the webhook pauses, and the delivery is due again after
   * `retryMs`, or is counted as dropped. If nothing has arrived for `disableMs`, the webhook is
   * disabled: what waits for it is dropped, and nothing new is queued until it is set again.
   *
   * @returns whether this attempt still held the delivery
   */
  settleDelivery(
    delivery: Pick<Delivery, 'owner' | 'taskId' | 'attempt'>,
    outcome: Settlement,
  ): Promise<boolean>;
}

const VERBS = [
  'putWebhook',
  'removeWebhook',
  'listWebhooks',
  'claimDelivery',
  'settleDelivery',
] as const satisfies readonly (keyof WebhookStore)[];

/** Whether a store keeps webhooks: it has all of the verbs, since some of them send nothing. */
export function keepsWebhooks<T extends object>(store: T): store is T & WebhookStore {
  const given = store as Partial<WebhookStore>;
  return VERBS.every((verb) => typeof given[verb] === 'function');
}
