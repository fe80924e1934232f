/**
 * Instances of the module that stand ready for the next call, one for each part they can have. Proofs that follow each other use
 * the same memory, since fresh pages are dear: the first touch of one takes longer than all that is done in it. A small instance
 * stays always; a large one as long as someone holds the instances, and otherwise as long as the garbage collector leaves it,
 * so that a process that is done with large proofs gets its memory back.
 */
import { Labrador, type ModuleName } from '../wasm.ts';

/** `share`: columns of the prover. `rest`: transcripts, and everything of the verifier. */
export type Part = 'share' | 'rest';

/** One that has grown beyond this is large. */
const SMALL_BYTES = 64 * 1024 * 1024;

interface Ready {
  readonly weak: WeakRef<Labrador>;
  /** The same, while it is small or held. */
  strong: Labrador | undefined;
}

const ready = {
  share: new Map<ModuleName, Ready>(),
  rest: new Map<ModuleName, Ready>(),
} as const satisfies Record<Part, unknown>;

let holders = 0;

const isKept = (lab: Labrador): boolean => holders > 0 || lab.memoryBytes <= SMALL_BYTES;

/**
 * Keeps large instances, those that stand ready and those to come, until it is released.
 *
 * @returns releases them; only its first call counts
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

/** Makes what stands ready strong or weak, as the number of holders says. */
function strengthen(): void {
  for (const part of Object.values(ready)) {
    for (const each of part.values()) {
      const lab = each.weak.deref();
      each.strong = lab !== undefined && isKept(lab) ? lab : undefined;
    }
  }
}

/** An instance for one user at a time. */
export function takeInstance(module: ModuleName, part: Part): Labrador {
  const lab = ready[part].get(module)?.weak.deref() ?? new Labrador(module);
  ready[part].delete(module);
  lab.beginCount();
  return lab;
}

/** Keeps an instance whose work came to its end, with `mark` as at its beginning. */
export function keepInstance(module: ModuleName, part: Part, lab: Labrador): void {
  ready[part].set(module, { weak: new WeakRef(lab), strong: isKept(lab) ? lab : undefined });
}

/** @returns what `body` returns; undefined if the module traps, which costs the instance */
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
