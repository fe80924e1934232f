/**
 * The limits of each client: its own quota where the store has one, else those of the service. A
 * change of a quota is seen within two seconds.
 */
import type { QuotaStore } from '../stores/port/serviceStore.ts';

/** A token bucket: the sustained rate, and how many requests may come at once after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** What one client may use. */
interface OwnLimits {
  readonly openTasks: number;
  readonly storedBytes: number;
  readonly rate: Rate;
}

/** The limits of clients without a quota, as the options have them. */
interface CommonLimits {
  readonly openTasks: number;
  readonly storedBytes: number;
  readonly requestsPerSecond: number;
  readonly burst: number;
}

const KEPT_MS = 2000;
const MAX_KEPT = 10_000;

interface Kept {
  readonly limits: Promise<OwnLimits>;
  readonly sinceMs: number;
}

export class ClientLimits {
  readonly #quotas: Pick<QuotaStore, 'quota'> | undefined;
  readonly #common: OwnLimits;
  readonly #kept = new Map<number, Kept>();

  constructor(quotas: Pick<QuotaStore, 'quota'> | undefined, limits: CommonLimits) {
    const { openTasks, storedBytes, requestsPerSecond: perSecond, burst } = limits;
    this.#quotas = quotas;
    this.#common = { openTasks, storedBytes, rate: { perSecond, burst } };
  }

  /** @throws CodedError (as the rejection) of the store */
  of(clientId: number): Promise<OwnLimits> {
    if (!this.#quotas) return Promise.resolve(this.#common);
    const known = this.#kept.get(clientId);
    if (known && Date.now() - known.sinceMs < KEPT_MS && Date.now() >= known.sinceMs) {
      return known.limits;
    }
    this.#kept.delete(clientId);
    if (this.#kept.size >= MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    const entry = { limits: this.#read(clientId), sinceMs: Date.now() };
    this.#kept.set(clientId, entry);
    entry.limits.catch(() => {
      if (this.#kept.get(clientId) === entry) this.#kept.delete(clientId);
    });
    return entry.limits;
  }

  async #read(clientId: number): Promise<OwnLimits> {
    const quota = await this.#quotas!.quota(clientId);
    if (quota === null) return this.#common;
    const { rate, ...common } = this.#common;
    const { openTasks = common.openTasks, storedBytes = common.storedBytes } = quota;
    const { requestsPerSecond: perSecond = rate.perSecond } = quota;
    // A burst of as many seconds as for the others.
    const burst = Math.max(1, Math.round((rate.burst * perSecond) / rate.perSecond));
    return { openTasks, storedBytes, rate: { perSecond, burst } };
  }
}
