/** Proofs over toy rows for the verifier of the library, and where their fields stand. */
import { expect } from 'vitest';
import type { TableRow } from '../../../src/aggregate/parameters/rows.ts';
import {
  type CodedRun,
  runsOfG,
  runsOfLast,
  runsOfY,
} from '../../../src/aggregate/proof/gaussianFields.ts';
import {
  type FoldResult,
  openSection,
  type SectionToVerify,
} from '../../../src/aggregate/proof/index.ts';
import { encodeGaussian } from '../../../src/aggregate/proof/prover/gaussian.ts';
import { quarterBytes } from '../../../src/aggregate/proof/quarters.ts';
import { type FoldJob, runFold } from '../../../src/aggregate/proof/verifier/folds.ts';
import type { OpenSection, OtherTable } from '../../../src/aggregate/proof/verifier/verify.ts';
import { Labrador } from '../../../src/aggregate/wasm.ts';
import { headerOf, signedItems } from '../../reference/items.ts';
import { saltsOf } from '../proof/sections.ts';
import { observed, TABLE_HASH } from './observed.ts';

/** A proof, and all that its verifier is told. */
export interface Section extends SectionToVerify {
  readonly table: OtherTable;
}

/** A proof over a row, of as many items as it holds, or of `count`. */
export async function sectionOf(row: TableRow, count: number = row[1]): Promise<Section> {
  const items = signedItems('falcon512', count);
  const { bytes } = await observed(row, items);
  return {
    set: 'falcon512',
    header: headerOf(items, TABLE_HASH),
    statements: items,
    salts: saltsOf(items),
    bytes,
    at: 0,
    table: { row, hash: TABLE_HASH },
  };
}

/** Its fields; undefined if form or norms are wrong. */
export const openedOf = (
  { set, statements, bytes, table }: Section,
  changes: { bytes?: Uint8Array; row?: TableRow } = {},
): OpenSection | undefined =>
  openSection(set, statements.length, changes.bytes ?? bytes, 0, {
    ...table,
    ...(changes.row && { row: changes.row }),
  });

const lab = new Labrador();

/** The result of a part. */
export function folded(job: FoldJob): FoldResult {
  const parts = runFold(lab, job);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

export const flipped = (bytes: Uint8Array, bit: number): Uint8Array => {
  const copy = bytes.slice();
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
};

/** A row in which a level has other numbers at some places. */
export const withLevel = (
  row: TableRow,
  level: number,
  numbers: Record<number, unknown>,
): TableRow => [
  row[0],
  row[1],
  row[2].map((list, i) => (i === level ? Object.assign([...list], numbers) : list)),
];

export interface Field {
  readonly name: string;
  readonly level: number;
  readonly at: number;
  readonly length: number;
}

/** Where each field stands. */
export function fieldsOf(section: Section): Field[] {
  const { parameters, section: parsed } = openedOf(section)!;
  const { levels, tail } = parameters;
  const fields: Field[] = [];
  let end = 0;
  let level = 0;
  const fixed = (name: string, length: number): void => {
    fields.push({ name, level, at: end, length });
    end += length;
  };
  const coded = (name: string, values: ArrayLike<number>, runs: readonly CodedRun[]): void =>
    fixed(name, encodeGaussian(values, runs)!.length);
  const block = (name: string, y: Int32Array, code: number): void => {
    coded(name, y.subarray(0, 272), runsOfY(code));
    fixed(`sums of ${name}`, 8);
  };
  for (const { codeY, w: hiding, k } of levels) {
    const { first, y, yOfX, w, b, second } = parsed.levels[level]!;
    const message = hiding === 0 ? 'u' : 'p';
    fixed('retry', 1);
    for (const bytes of first) fixed(message, bytes.length);
    fixed('counter', 1);
    block('y', y, codeY);
    if (yOfX !== undefined) block('y of x', yOfX, levels[level - 1]!.codeX);
    if (w.length > 0) fixed('w', 4 * w.length);
    const ofLifts = hiding === 0 ? b.length : quarterBytes(k);
    fixed(hiding === 0 ? 'b' : 'p', ofLifts);
    if (b.length > ofLifts) fixed('b_32', b.length - ofLifts);
    fixed(message, second.length);
    level += 1;
  }
  const { t, g, y, yOfX, b, h, z, e } = parsed.tail;
  fixed('retry', 1);
  fixed('t', t.length);
  coded('g', g, runsOfG(tail));
  fixed('seal', 32);
  fixed('counter', 1);
  block('y', y, tail.codeY);
  if (yOfX !== undefined) block('y of x', yOfX, levels.at(-1)!.codeX);
  fixed('b', b.length);
  fixed('h', h.length);
  fixed('seal', 32);
  coded('ze', [...z, ...e], runsOfLast(tail));
  expect(end).toBe(section.bytes.length);
  return fields;
}
