/**
 * The time of a store: it only goes forward, whatever happens to the clock on the wall.
 *
 *   now = ahead + steady clock of the process        ahead: fixed at the start, so that now is the
 *                                                    wall clock's time or the last one kept, if
 *                                                    that is later
 *
 * The table keeps the time now and then, along with other writes. Whoever reads a later one there
 * than its own takes it over, so that several processes on one file agree.
 */

export interface Clocks {
  /** Milliseconds that only pass: nobody can set this clock. */
  readonly steadyMs: () => number;
  /** Unix time in milliseconds, which may be set forward or back at any moment. */
  readonly wallMs: () => number;
}

/** The kept time is at most this much behind, as long as there are writes. */
const KEEP_EVERY_MS = 1000;

export class StoreClock {
  readonly wallMs: () => number;
  readonly #steadyMs: () => number;
  #aheadMs: number;

  /** @param keptMs the last time kept, or 0 */
  constructor({ steadyMs, wallMs }: Clocks, keptMs: number) {
    this.wallMs = wallMs;
    this.#steadyMs = steadyMs;
    this.#aheadMs = Math.max(wallMs(), keptMs) - steadyMs();
  }

  /** The time of the store, in whole milliseconds. */
  nowMs(): number {
    return Math.floor(this.#steadyMs() + this.#aheadMs);
  }

  /**
   * Takes over a later time.
   *
   * @returns the time that is to be kept now, or null if the kept one is recent enough
   */
  meet(keptMs: number): number | null {
    const nowMs = this.nowMs();
    if (keptMs > nowMs) this.#aheadMs += keptMs - nowMs;
    return nowMs - keptMs >= KEEP_EVERY_MS ? nowMs : null;
  }

  /**
   * A time of the store as Unix time, to be told and compared with the wall clock. The difference
   * of the two is rounded to seconds, so that the same time is told each time.
   */
  onWallMs(ms: number): number {
    return ms + 1000 * Math.round((this.wallMs() - this.nowMs()) / 1000);
  }
}
