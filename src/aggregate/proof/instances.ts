/**
 * A pool of idle module instances, one for each role. Consecutive proofs reuse the same memory,
 * because fresh pages are expensive: the first access to a page takes longer than all the work on
 * it. A small instance is kept permanently. A large one is kept while any holder exists, and
 * otherwise until it is garbage-collected, so that a process that has finished its large proofs
 * gets its memory back.
 */
import { Labrador, type ModuleName } from '../wasm.ts';

/**
 * `columns`: a column prover. `rest`: the transcript's part of the prover, and the entire verifier.
 */
export type Role = 'columns' | 'rest';

/** An instance above this size is large. */
const LARGE_BYTES = 64 * 1024 * 1024;

interface Ready {
  readonly weak: WeakRef<Labrador>;
  /** a strong reference to the same instance, while it is small or held */
  strong: Labrador | undefined;
}

const ready = {
  columns: new Map<ModuleName, Ready>(),
  rest: new Map<ModuleName, Ready>(),
} as const satisfies Record<Role, unknown>;

let holders = 0;

const isKept = (lab: Labrador): boolean => holders > 0 || lab.memoryBytes <= LARGE_BYTES;

/**
 * Keeps large instances, present and future, until they are released.
 *
 * @returns a function that releases them; only its first call counts
 */
export function holdInstances(): () => void {
  holders++;
  strengthen();
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    holders--;
    strengthen();
  };
}

/** Makes the references to idle instances strong or weak, depending on `isKept`. */
function strengthen(): void {
  for (const role of Object.values(ready)) {
    for (const each of role.values()) {
      const lab = each.weak.deref();
      each.strong = lab !== undefined && isKept(lab) ? lab : undefined;
    }
  }
}

/** An instance for one user at a time. */
export function takeInstance(module: ModuleName, role: Role): Labrador {
  const lab = ready[role].get(module)?.weak.deref() ?? new Labrador(module);
  ready[role].delete(module);
  lab.beginCount();
  return lab;
}

/** Returns an instance to the pool. Its work must be done and its allocations freed. */
export function keepInstance(module: ModuleName, role: Role, lab: Labrador): void {
  ready[role].set(module, { weak: new WeakRef(lab), strong: isKept(lab) ? lab : undefined });
}

/**
 * @returns the result of `body`; undefined if the module traps, after which the instance is not
 *   reused
 */
export function onInstance<T>(module: ModuleName, body: (lab: Labrador) => T): T | undefined {
  const lab = takeInstance(module, 'rest');
  try {
    const result = body(lab);
    keepInstance(module, 'rest', lab);
    return result;
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return undefined;
    throw error;
  }
}
