/**
 * How long a sender is waited for. Waiting uses the patience up, and every byte restores some of
 * it: `1 / minBytesPerSecond` seconds, up to `pauseMs`. So a sender may pause for `pauseMs`, must
 * keep up the lowest speed over any longer time, and is done with a body of n bytes within
 * `pauseMs` and `n / minBytesPerSecond` seconds.
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

  /** The time for which the next piece may still be waited for. */
  get leftMs(): number {
    return Math.max(0, this.#leftMs);
  }

  /** A piece of `bytes` arrived after `waitedMs`. */
  received(bytes: number, waitedMs: number): void {
    const { pauseMs, minBytesPerSecond } = this.#speed;
    const gainedMs = bytes === 0 ? 0 : (1000 * bytes) / minBytesPerSecond;
    this.#leftMs = Math.min(pauseMs, this.#leftMs - waitedMs + gainedMs);
  }
}
