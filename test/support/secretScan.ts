/** Looks for secrets in memory, in every form in which the module may hold them. */
import { insideExpanded } from '../../src/falcon/keys.ts';
import type { FalconParams } from '../../src/falcon/params.ts';
import type { ExpandedSecretKey } from '../../src/falcon/types.ts';

/** 16 bytes of a secret, and of which. */
export type Piece = [what: string, bytes: Uint8Array];

/** Pieces of every secret, in the representations that are known outside the module. */
export function secretPieces({
  params,
  seed,
  secretKey,
  samplerSeed,
  expanded,
}: {
  params: FalconParams;
  seed: Uint8Array;
  secretKey: Uint8Array;
  samplerSeed: Uint8Array;
  expanded: ExpandedSecretKey;
}): Piece[] {
  const pieces: Piece[] = [];
  const add = (what: string, bytes: Uint8Array, step: number) => {
    for (let at = 0; at + 16 <= bytes.length; at += step) {
      pieces.push([what, bytes.subarray(at, at + 16)]);
    }
  };
  add('seed', seed, 16);
  add('sampler seed', samplerSeed, 16);
  add('secret key', secretKey.subarray(1), 64);
  const n = 1 << params.logn;
  const bits = params.logn === 9 ? 6 : 5;
  const small = (from: number, width: number) =>
    Array.from({ length: n }, (_, i) => {
      let value = 0;
      for (let k = 0; k < width; k++) {
        const at = from + i * width + k;
        value = (value << 1) | ((secretKey[1 + (at >> 3)]! >> (7 - (at & 7))) & 1);
      }
      return value >= 1 << (width - 1) ? value - (1 << width) : value;
    });
  for (const [what, poly] of [
    ['f', small(0, bits)],
    ['g', small(n * bits, bits)],
    ['F', small(2 * n * bits, 8)],
  ] as const) {
    for (const form of [Int8Array, Int16Array, Int32Array, Float64Array]) {
      const bytes = new Uint8Array(form.from(poly as number[]).buffer);
      add(`${what} as ${form.name}`, bytes, Math.max(64, bytes.length >> 4));
    }
  }
  const inner = insideExpanded(expanded)!.expanded;
  // behind the basis and the tree come the prepared public key, 4n bytes, and four sponges, of
  // which the last one is public
  add('expanded key', inner.subarray(0, inner.length - 4 * n - 1024), 1024);
  add('sponges', inner.subarray(inner.length - 1024, inner.length - 256), 64);
  return pieces;
}

/** Which of the pieces are anywhere in memory, at whatever alignment. */
export function foundSecrets(memory: Uint8Array, pieces: readonly Piece[]): string[] {
  const word = (bytes: Uint8Array, at: number) =>
    (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  // Pieces by the first of their words that is not zero: most of memory is zeros.
  const byWord = new Map<number, { what: string; piece: Uint8Array; offset: number }[]>();
  for (const [what, piece] of pieces) {
    const offset = [0, 4, 8, 12].find((at) => word(piece, at) !== 0);
    if (offset === undefined) continue;
    const key = word(piece, offset);
    byWord.set(key, [...(byWord.get(key) ?? []), { what, piece, offset }]);
  }
  const names: string[] = [];
  let last = 0;
  for (let at = 3; at < memory.length; at++) {
    last = ((last >>> 8) | (memory[at]! << 24)) >>> 0;
    if (last === 0) continue;
    for (const { what, piece, offset } of byWord.get(last) ?? []) {
      const from = at - 3 - offset;
      if (from >= 0 && piece.every((byte, i) => memory[from + i] === byte)) names.push(what);
    }
  }
  return names;
}
