/** Proofs over toy rows for the verifier of the library, and where their fields stand. */
import { expect } from 'vitest';
import type { TableRow } from '../../../src/aggregate/parameters/rows.ts';
import {
  type FoldResult,
  openSection,
  type SectionToVerify,
} from '../../../src/aggregate/proof/index.ts';
import { type FoldJob, runFold } from '../../../src/aggregate/proof/verifier/folds.ts';
import type { OpenSection, OtherRow } from '../../../src/aggregate/proof/verifier/verify.ts';
import { Labrador } from '../../../src/aggregate/wasm.ts';
import { headerOf, signedItems } from '../../reference/items.ts';
import { hashOfRow } from '../../reference/table.ts';
import { type FieldPlace, finished, placesIn, saltsOf } from '../proof/sections.ts';
import { observed } from './observed.ts';

/** A proof, and all that its verifier is told. */
export interface Section extends SectionToVerify {
  readonly other: Required<OtherRow>;
}

/** A proof over a row, of as many items as it holds, or of `count`. */
export async function sectionOf(row: TableRow, count: number = row[1]): Promise<Section> {
  const items = signedItems('falcon512', count);
  const { bytes } = await observed(row, items);
  return {
    set: 'falcon512',
    header: headerOf(items, [hashOfRow(row)]),
    statements: items,
    salts: saltsOf(items),
    bytes,
    at: 0,
    other: { row, hash: hashOfRow(row) },
  };
}

/** Its fields; undefined if form or norms are wrong. */
export const openedOf = (
  { set, statements, bytes, other }: Section,
  changes: { bytes?: Uint8Array; row?: TableRow } = {},
): OpenSection | undefined =>
  openSection(set, statements.length, changes.bytes ?? bytes, 0, {
    ...other,
    ...(changes.row && { row: changes.row }),
  });

const lab = new Labrador();

/** The result of a part. */
export const folded = (job: FoldJob): FoldResult => finished(runFold(lab, job));

export const flipped = (bytes: Uint8Array, bit: number): Uint8Array =>
  bytes.with(bit >> 3, bytes[bit >> 3]! ^ (1 << (bit & 7)));

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

export type Field = FieldPlace & { readonly level: number };

/** Names of fields that others have, too. */
const COMMON: Readonly<Record<string, string>> = {
  ...{ u2: 'u', p2: 'p', 'p of b': 'p', b32: 'b_32', 'seal of t': 'seal', 'seal of h': 'seal' },
  ...{ sums: 'sums of y', 'sums of x': 'sums of y of x' },
};

/** Where each field stands. */
export function fieldsOf(section: Section): Field[] {
  const { parameters, section: parsed } = openedOf(section)!;
  const fields = placesIn(parameters, parsed);
  const { at, length } = fields.at(-1)!;
  expect(at + length).toBe(section.bytes.length);
  return fields.map((field) => ({ ...field, name: COMMON[field.name] ?? field.name }));
}
