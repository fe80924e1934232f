/** What the watch over services has seen in this test file. Loads nothing else. */

interface State {
  /** Key → how often since the last look. */
  counts: Map<string, number>;
  faults: string[];
  /** Every key of this test file. */
  readonly ever: Set<string>;
  readonly pending: Set<Promise<unknown>>;
}

// One for all copies of this module in a process.
const STATE = Symbol.for('falconry.contract');
const holder = globalThis as unknown as Record<symbol, State | undefined>;
holder[STATE] ??= { counts: new Map(), faults: [], ever: new Set(), pending: new Set() };
export const state: State = holder[STATE];

/** What was seen since the last call, after everything under way has been read. */
export async function takeSeen(): Promise<{ counts: Record<string, number>; faults: string[] }> {
  const patience = new Promise((resolve) => setTimeout(resolve, 2000).unref());
  await Promise.race([Promise.all(state.pending), patience]);
  const { counts, faults } = state;
  state.counts = new Map();
  state.faults = [];
  return { counts: Object.fromEntries(counts), faults };
}

/** Every `operationId status` that this test file has seen so far. */
export async function seenSoFar(): Promise<ReadonlySet<string>> {
  await Promise.all(state.pending);
  return state.ever;
}
