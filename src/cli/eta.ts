/** How long work will still take, from the rate that is measured while it goes on. */

/** What was done and how long it took counts for less by e for every so much that it is ago. */
const MEMORY_MS = 8000;
/** Nothing is foretold before this much of the work has been seen. */
const SETTLED_MS = 3000;

export interface Eta {
  /** Notes how much is done at this time. */
  note(done: number, nowMs: number): void;
  /** @returns the time until `total` is done; undefined if it cannot be told */
  leftMs(total: number, nowMs: number): number | undefined;
}

/**
 * An estimate of work that starts with `done` at `nowMs`: a resumed upload does not begin at 0.
 *
 * At first the rate is the plain average; later it follows changes of speed within a few seconds.
 * While nothing is done it sinks, so that the time left grows.
 */
export function createEta(done: number, nowMs: number): Eta {
  const startMs = nowMs;
  let seen = { done, nowMs, amount: 0, spanMs: 0 };
  const at = (value: number, ms: number): typeof seen => {
    const stepMs = Math.max(0, ms - seen.nowMs);
    const kept = Math.exp(-stepMs / MEMORY_MS);
    const amount = kept * seen.amount + Math.max(0, value - seen.done);
    return { done: value, nowMs: ms, amount, spanMs: kept * seen.spanMs + stepMs };
  };
  return {
    note(value, ms) {
      seen = at(value, ms);
    },
    leftMs(total, ms) {
      if (ms - startMs < SETTLED_MS || seen.done >= total) return undefined;
      const { amount, spanMs } = at(seen.done, ms);
      return amount > 0 ? ((total - seen.done) * spanMs) / amount : undefined;
    },
  };
}

/** `about 2 min left`: no more exact than it can be known. */
export function leftText(ms: number): string {
  const s = ms / 1000;
  if (s < 10) return 'a few seconds left';
  if (s < 57.5) return `about ${5 * Math.round(s / 5)} s left`;
  const min = s / 60;
  if (min < 59.5) return `about ${Math.max(1, Math.round(min))} min left`;
  const h = min / 60;
  return h < 47.5 ? `about ${Math.round(h)} h left` : `about ${Math.round(h / 24)} days left`;
}
