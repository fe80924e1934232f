/** The test build of signing, with the regions as views. */
import type { ModuleName } from '../../src/falcon/index.ts';
import { compileEntry } from './assembly.ts';
import { reals } from './reals.ts';

export async function signingModule(
  module: ModuleName = reals.module,
  patch?: Parameters<typeof compileEntry>[2],
) {
  const { exports, at } = await compileEntry('signing', module, patch);
  const memory = exports.memory.buffer;
  return {
    exports,
    at,
    bytes: (region: string, length: number) => new Uint8Array(memory, at(region), length),
    doubles: (region: string, length: number) => new Float64Array(memory, at(region), length),
    /** Everything the module can remember. */
    all: () => new Uint8Array(memory),
  };
}

/** True when two lists of doubles are the same, bit for bit, but for the sign of a zero. */
export function sameDoubles(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
