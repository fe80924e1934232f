/**
 * How long a sender is waited for. Waiting uses the patience up, and every byte restores some of
 * it: `1 / minBytesPerSecond` seconds, up to `pauseMs`. So a sender may pause for `pauseMs`, must
 * keep up the lowest speed over any longer time, and is done with a body of n bytes within
 * `pauseMs` and `n / minBytesPerSecond` seconds (within twice that, if every wait is a long one).
 */

export interface Speed {
  /** Longest pause, and the longest time that a sender may be behind. */
  readonly pauseMs: number;
  /** 0: no lowest speed; every piece restores all patience. */
  readonly minBytesPerSecond: number;
}

export class Patience {
  readonly #speed: Speed;
  #leftMs: number;

  constructor(speed: Speed) {
    this.#speed = speed;
    this.#leftMs = speed.pauseMs;
  }

  /** The time for which the next piece is waited for; negative if the sender is given up. */
  get leftMs(): number {
    return this.#leftMs;
  }

  /**
   * A piece of `bytes` arrived after `waitedMs`. One wait costs at most half of all patience: if it
   * took longer, this process may have been busy with something else.
   */
  received(bytes: number, waitedMs: number): void {
    const { pauseMs, minBytesPerSecond } = this.#speed;
    const gainedMs = bytes === 0 ? 0 : (1000 * bytes) / minBytesPerSecond;
    const spentMs = Math.min(waitedMs, pauseMs / 2);
    this.#leftMs = Math.min(pauseMs, this.#leftMs - spentMs + gainedMs);
  }
}
