/**
 * Instances of the module that stand ready for the next call: a small one always, a large one as long as the garbage collector leaves it.
 * Large proofs that follow each other use the same memory, and a process that is done with them gets it back.
 */
import { Labrador, type ModuleName } from '../wasm.ts';

/** One that has grown beyond this is large. */
const SMALL_BYTES = 64 * 1024 * 1024;

const small = new Map<ModuleName, Labrador>();
const large = new Map<ModuleName, WeakRef<Labrador>>();

/** An instance for one user at a time; of those that stand ready, preferably one of the wanted size. */
export function takeInstance(module: ModuleName, wanted: 'small' | 'large'): Labrador {
  const takeSmall = (): Labrador | undefined => {
    const lab = small.get(module);
    small.delete(module);
    return lab;
  };
  const takeLarge = (): Labrador | undefined => {
    const lab = large.get(module)?.deref();
    large.delete(module);
    return lab;
  };
  const ready = wanted === 'small' ? takeSmall() : takeLarge();
  const lab = ready ?? new Labrador(module);
  lab.beginCount();
  return lab;
}

/** Keeps an instance whose work came to its end, with `mark` as at its beginning. */
export function keepInstance(module: ModuleName, lab: Labrador): void {
  if (lab.memoryBytes <= SMALL_BYTES) small.set(module, lab);
  else large.set(module, new WeakRef(lab));
}

/** @returns what `body` returns; undefined if the module traps, which costs the instance */
export function onInstance<T>(module: ModuleName, body: (lab: Labrador) => T): T | undefined {
  const lab = takeInstance(module, 'small');
  try {
    const result = body(lab);
    keepInstance(module, lab);
    return result;
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return undefined;
    throw error;
  }
}
