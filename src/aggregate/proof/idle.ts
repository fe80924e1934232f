/** Instances of the module that stand ready for the verifier's next call. */
import { Labrador, type ModuleName } from '../wasm.ts';

const idle = new Map<ModuleName, Labrador>();
/** An instance that has grown beyond this is not kept. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** An instance for one user at a time. */
export function takeIdle(module: ModuleName): Labrador {
  const lab = idle.get(module) ?? new Labrador(module);
  idle.delete(module);
  return lab;
}

/** Keeps an instance whose work came to its end, all allocations given back. */
export function keepIdle(module: ModuleName, lab: Labrador): void {
  if (lab.memoryBytes <= KEPT_BYTES) idle.set(module, lab);
}

/** @returns what `body` returns; undefined if the module traps, which costs the instance */
export function onIdle<T>(module: ModuleName, body: (lab: Labrador) => T): T | undefined {
  const lab = takeIdle(module);
  try {
    const result = body(lab);
    keepIdle(module, lab);
    return result;
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return undefined;
    throw error;
  }
}
