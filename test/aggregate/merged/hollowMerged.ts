/**
 * Merged proofs that are right in form alone: right headers, all numbers zero. Every check of their
 * bytes, counts, headers and norms passes; the first seal of the tail does not.
 */
import type { SignedItem } from '../../reference/items.ts';
import { mergedShapesOf } from '../../reference/merged/parseRow.ts';
import { headerOfPart } from '../../reference/merged/prover.ts';
import { gaussianField } from '../../reference/prover/gaussian.ts';
import { hashOfRow } from '../../reference/table.ts';
import type { MergedRow } from '../../reference/tableRow.ts';
import type { Ordinary } from '../../reference/verifier/shapes.ts';

/** Fields by their names, in their order. */
export type Fields = ReadonlyMap<string, Uint8Array>;

const START = [0x46, 0x4c, 0x52, 0x59, 4, 1];
const zeros = (count: number): Uint8Array => new Uint8Array(count);

/** y' with its code, U, V; all of it zero but the numbers given. */
export function projectionField(t: number, numbers: readonly number[] = [], U = 0, V = 0) {
  const values = Array.from({ length: 272 }, (_, i) => BigInt(numbers[i] ?? 0));
  const sums = Buffer.alloc(8);
  sums.writeInt32LE(U, 0);
  sums.writeInt32LE(V, 4);
  return Uint8Array.from([...gaussianField([{ values, t }]), ...sums]);
}

const codes = (indexes: readonly number[]): Uint8Array =>
  gaussianField(indexes.map((t) => ({ values: new Array<bigint>(64).fill(0n), t })));

/** The fields of level 0 or of an ordinary level, with these projections. */
function levelFields(
  { level, w, k, kappa1, cut }: Ordinary,
  where: string,
  projections: readonly (readonly [string, Uint8Array])[],
): [string, Uint8Array][] {
  const outer = zeros(w > 0 ? 88 * k : 8 * kappa1 * (44 - cut));
  const lifts = level === 0 ? 1040 : 682;
  const firsts = level === 0 ? ['uA', 'uB'] : ['u1'];
  const fields: (readonly [string, Uint8Array])[] = [
    ['retry', zeros(1)],
    ...firsts.map((name) => [name, outer] as const),
    ['counter', zeros(1)],
    ...projections,
    ...(level === 0 ? [['w', zeros(40)] as const] : []),
    ['b', zeros(w > 0 ? 88 * k : lifts)],
    ...(level === 0 && w > 0 ? [['b32', zeros(17)] as const] : []),
    ['u2', outer],
  ];
  return fields.map(([name, bytes]) => [`${where} ${name}`, bytes]);
}

/** Names are `start`, `hash`, `P`, `header 1`, `part 1 uA`, `attempt`, `level 1 y 1`, and so on. */
export function hollowMerged(row: MergedRow, parts: readonly (readonly SignedItem[])[]): Fields {
  const { zero, bounds, levels, tail } = mergedShapesOf(row);
  const [first, ...others] = levels;
  const blocks = parts.flatMap((_, i) => [
    [`y ${i + 1}`, projectionField(bounds.tP)] as const,
    ...(zero.w > 0 ? [[`yx ${i + 1}`, projectionField(bounds.tXP)] as const] : []),
  ]);
  const behind = (before: Ordinary) =>
    before.w > 0 ? [['yx', projectionField(before.tX)] as const] : [];
  const ofTail: (readonly [string, Uint8Array])[] = [
    ['retry', zeros(1)],
    ['t', zeros(8 * (tail.r - 1) * tail.kappa * (44 - tail.cut))],
    ['g', codes(tail.tG)],
    ['sealT', zeros(32)],
    ['counter', zeros(1)],
    ['y', projectionField(tail.tY)],
    ...behind(levels.at(-1)!),
    ['b', zeros(682)],
    ['h', zeros(352 * (tail.pairs.length - 2))],
    ['sealH', zeros(32)],
    ['ze', codes([...tail.tZ, ...new Array<number>(tail.kappa).fill(tail.tE)])],
  ];
  return new Map([
    ['start', Uint8Array.from(START)],
    ['hash', hashOfRow(row[0])],
    ['P', Uint8Array.of(parts.length & 255, parts.length >> 8)],
    ...parts.map((items, i) => [`header ${i + 1}`, headerOfPart(items, row[0])] as const),
    ...parts.flatMap((_, i) =>
      levelFields(zero, `part ${i + 1}`, [['y', projectionField(zero.tY)]]),
    ),
    ['attempt', zeros(1)],
    ...levelFields(first, 'level 1', blocks),
    ...others.flatMap((level, i) =>
      levelFields(level, `level ${level.level}`, [
        ['y', projectionField(level.tY)],
        ...behind(levels[i]!),
      ]),
    ),
    ...ofTail.map(([name, bytes]) => [`tail ${name}`, bytes] as const),
  ]);
}

/** All bytes, some fields being others. */
export function bytesOf(fields: Fields, changes: Record<string, ArrayLike<number>> = {}) {
  for (const name of Object.keys(changes)) {
    if (!fields.has(name)) throw new Error(`no field ${name}`);
  }
  return Uint8Array.from(
    [...fields].flatMap(([name, bytes]) => [...Array.from(changes[name] ?? bytes)]),
  );
}
