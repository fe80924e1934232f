/** The verifier on proofs with hidden messages and cut inner commitments. */
import { beforeAll, describe, expect, test } from 'vitest';
import { readRow, type TableRow } from '../../../src/aggregate/parameters/rows.ts';
import { verifySection, verifySectionIn } from '../../../src/aggregate/proof/index.ts';
import type { FoldJob } from '../../../src/aggregate/proof/verifier/folds.ts';
import * as ROWS from '../../reference/hiddenRows.ts';
import { hashOfRow } from '../../reference/table.ts';
import {
  type Field,
  fieldsOf,
  flipped,
  folded,
  openedOf,
  type Section,
  sectionOf,
  withLevel,
} from './judged.ts';

const Q = 2n ** 44n - 117n;

describe.each(Object.entries(ROWS))('%s', (_, row) => {
  let section: Section;
  let fields: Field[];
  beforeAll(async () => {
    section = await sectionOf(row);
    fields = fieldsOf(section);
  });
  const end = (changes: Partial<Section> = {}) => verifySection({ ...section, ...changes });
  /** The bytes with a value of 44 bits in place of another one of a field. */
  const withWord = ({ at }: Field, index: number, value: bigint): Uint8Array => {
    const bytes = section.bytes.slice();
    for (let i = 0n; i < 44n; i++) {
      const bit = 8 * at + 44 * index + Number(i);
      const mask = 1 << (bit & 7);
      bytes[bit >> 3] = (bytes[bit >> 3]! & ~mask) | (((value >> i) & 1n) === 1n ? mask : 0);
    }
    return bytes;
  };
  const isRead = (bytes: Uint8Array): boolean => openedOf(section, { bytes }) !== undefined;

  test('accepted, whether all places have items or not', async () => {
    expect(end()).toBe(section.bytes.length);
    if (row[1] === 1) return;
    const fewer = await sectionOf(row, 1);
    expect(verifySection(fewer)).toBe(fewer.bytes.length);
  });

  test('refused under another hash of the row, header, salt or message', () => {
    const { header, salts, statements } = section;
    expect(end({ other: { row, hash: flipped(hashOfRow(row), 9) } })).toBeUndefined();
    expect(end({ header: flipped(header, 60) })).toBeUndefined();
    expect(end({ salts: flipped(salts, 5) })).toBeUndefined();
    const { publicKey, message } = statements[0]!;
    const other = statements.with(0, { publicKey, message: Uint8Array.of(...message, 1) });
    expect(end({ statements: other })).toBeUndefined();
  });

  test('refused with one bit turned in any field, and cut off behind it', () => {
    const accepted: string[] = [];
    for (const { name, level, at, length } of fields) {
      for (const [i, byte] of [at, at + (length >> 1), at + length - 1].entries()) {
        const bytes = flipped(section.bytes, 8 * byte + ((byte + 3 * i) % 8));
        if (end({ bytes }) !== undefined) accepted.push(`level ${level}: ${name} at ${byte}`);
      }
      expect(end({ bytes: section.bytes.subarray(0, at) })).toBeUndefined();
    }
    expect(accepted).toEqual([]);
  });

  test('a value of p or b_32 from q on is refused', () => {
    const words = fields.filter(({ name }) => name === 'p' || name === 'b_32');
    expect(words.length).toBeGreaterThan(0);
    for (const field of words) {
      const count = Math.floor((8 * field.length) / 44);
      expect(count).toBe(field.name === 'p' ? 16 * (row[2][field.level]![14] as number) : 3);
      for (const index of [0, 1, count - 1]) {
        expect(isRead(withWord(field, index, Q - 1n))).toBe(true);
        expect(isRead(withWord(field, index, Q))).toBe(false);
        expect(isRead(withWord(field, index, 2n ** 44n - 1n))).toBe(false);
      }
    }
  });

  test('bits behind b_32 are refused, which is sent by a hidden level 0 alone', () => {
    const b32 = fields.filter(({ name }) => name === 'b_32');
    expect(b32.map(({ level }) => level)).toEqual((row[2][0]![13] as number) > 0 ? [0] : []);
    for (const { at, length } of b32) {
      expect(length).toBe(17);
      for (const bit of [4, 5, 6, 7]) {
        expect(isRead(flipped(section.bytes, 8 * (at + 16) + bit))).toBe(false);
      }
    }
  });

  test('y of x: short as the row says, exactly; of its sums nothing is asked', () => {
    const { levels, tail } = openedOf(section)!.section;
    let blocks = 0;
    for (const [i, { yOfX }] of [...levels, tail].entries()) {
      if (yOfX === undefined) continue;
      blocks += 1;
      const odd = (yOfX[272]! + yOfX[273]!) & 1;
      const sum = yOfX.slice(0, 272).reduce((all, y) => all + (2 * y - odd) ** 2, 0);
      const least = Math.ceil(sum / 288);
      const isShort = (xSq: number) =>
        openedOf(section, { row: withLevel(row, i - 1, { 15: xSq }) }) !== undefined;
      expect(isShort(least)).toBe(true);
      expect(isShort(least - 1)).toBe(false);
      const { at } = fields.find(({ name, level }) => name === 'sums of y of x' && level === i)!;
      const bytes = section.bytes.slice();
      const view = new DataView(bytes.buffer);
      view.setInt32(at, -(2 ** 31), true);
      view.setInt32(at + 4, odd === 0 ? 2 ** 31 - 2 : 2 ** 31 - 1, true);
      expect(isRead(bytes)).toBe(true);
      expect(end({ bytes })).toBeUndefined();
    }
    const hidden = row[2].slice(0, -1).filter((level) => (level[13] as number) > 0);
    expect(blocks).toBe(hidden.length);
  });
});

test('the places of x may be divided among threads', async () => {
  const long = withLevel(ROWS.HIDDEN_TWICE, 0, { 8: 2, 15: 40_000 });
  const wide = withLevel(long, 1, { 0: 300 });
  const codes = new Array<number>(5).fill(128);
  const row: TableRow = withLevel(wide, 2, { 0: 300, 7: [[300, 63]], 8: codes });
  const section = await sectionOf(row);
  const { lengthX } = readRow(row).levels[0]!;
  const starts: number[] = [];
  const end = await verifySectionIn(section, 12, async (jobs: readonly FoldJob[]) => {
    for (const job of jobs) {
      if (job.kind === 'rows' && job.number === 1) starts.push(job.columns.from);
    }
    return structuredClone(jobs).map(folded);
  });
  expect(end).toBe(section.bytes.length);
  expect(starts.some((from) => from > 0 && from < lengthX)).toBe(true);
  expect(verifySection(section)).toBe(section.bytes.length);
});
