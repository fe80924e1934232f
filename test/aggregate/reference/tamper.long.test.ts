/**
 * Proofs of the slow prover before the slow verifier: the honest ones pass with the same transcript
 * on both sides; with any field, byte, length or part of the statement changed they are refused.
 */
import { describe, expect, test } from 'vitest';
import { HIDDEN_BETWEEN, HIDDEN_TWICE } from '../../reference/hiddenRows.ts';
import { headerOf, type SignedItem, signedItem, signedItems } from '../../reference/items.ts';
import type { TraceEvent } from '../../reference/prover/trace.ts';
import { hashOfRow, tableRow } from '../../reference/table.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { TOY_ROWS } from '../../reference/toyRows.ts';
import { verifyReferenceProof } from '../../reference/verifier/proof.ts';
import { type SectionInput, verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { NIGHTLY } from '../../support/run.ts';
import { expectSameTranscript, toyProof } from './toyProofs.ts';
import { TOY_1024, TOY1, TOY2 } from './toyRows.ts';

const LONG = { timeout: 3_600_000 };

interface Field {
  readonly name: string;
  readonly at: number;
  readonly length: number;
}

/** A proof with the places of its fields, and the prover's transcript. */
function made(row: TableRow, count: number) {
  const events: TraceEvent[] = [];
  const set = `falcon${row[0]}` as 'falcon512';
  const items = Array.from({ length: count }, (_, number) => signedItem(set, number));
  const input = toyProof(row, { items, trace: (event) => events.push(event) });
  const fields: Field[] = [];
  for (const event of events) {
    if (event.kind !== 'field') continue;
    const last = fields.at(-1);
    const at = last === undefined ? 0 : last.at + last.length;
    fields.push({ name: `${event.level} ${event.name}`, at, length: event.bytes.length });
  }
  return { input, fields, events };
}

const proofs = new Map<string, ReturnType<typeof made>>();
const cases: readonly (readonly [string, TableRow, number])[] = [
  ['one item, level 0 and tail', TOY1, 1],
  ['two items, three levels, no cut at the first', TOY2, 2],
  ['one item in a bucket of two', TOY2, 1],
  ['one item of Falcon-1024', TOY_1024, 1],
  ['two hidden levels, one behind the other', HIDDEN_TWICE, 2],
  ['a hidden level between open ones, one item in a bucket of two', HIDDEN_BETWEEN, 1],
];
const rows: typeof cases = [
  ...cases,
  ...(['falcon512', 'falcon1024'] as const).flatMap((set) =>
    (NIGHTLY ? [1, 2, 3, 9] : [2]).map(
      (count) => [`${count} of ${set}`, tableRow(set, count), count] as const,
    ),
  ),
  ...Object.entries(TOY_ROWS).flatMap(([name, row]) =>
    [...new Set([NIGHTLY ? Math.max(1, row[1] - 1) : row[1], row[1]])].map(
      (count) => [`${count} by the row: ${name}`, row, count] as const,
    ),
  ),
];
function proofOf(name: string) {
  const [, row, count] = rows.find(([other]) => other === name)!;
  const known = proofs.get(name) ?? made(row, count);
  proofs.set(name, known);
  return known;
}

const spoil = (input: SectionInput, at: number, mask: number): SectionInput => {
  const bytes = input.bytes.slice();
  bytes[at]! ^= mask;
  return { ...input, bytes };
};

test.each(rows)('the same transcript on both sides: %s', LONG, (name) => {
  const { input, events } = proofOf(name);
  expectSameTranscript(input, events);
});

describe.each(cases)('%s', (name) => {
  test('the honest proof is made without a failure', LONG, () => {
    expect(proofOf(name).events.some((event) => event.kind === 'failure')).toBe(false);
  });

  test('bytes after the section are left to the caller', LONG, () => {
    const { input } = proofOf(name);
    const longer = { ...input, bytes: Uint8Array.from([...input.bytes, 1, 2, 3]) };
    expect(verifyReferenceSection(longer)).toEqual({ ok: true, length: input.bytes.length });
  });

  test('fields changed (nightly: all, in their first, middle and last byte)', LONG, () => {
    const { input, fields } = proofOf(name);
    expect(fields.at(-1)!.at + fields.at(-1)!.length).toBe(input.bytes.length);
    expect(fields.length).toBeGreaterThan(18);
    const step = NIGHTLY || name === cases[0]![0] ? 1 : 8;
    for (let i = 0; i < fields.length; i += step) {
      const { at, length } = fields[i]!;
      const places = NIGHTLY ? [at, at + (length >> 1), at + length - 1] : [at + (length >> 1)];
      for (const place of new Set(places)) {
        const verdict = verifyReferenceSection(spoil(input, place, 1 << (place % 8)));
        expect(verdict.ok, `${fields[i]!.name} at ${place}`).toBe(false);
      }
    }
  });

  test('cut off anywhere', () => {
    const { input, fields } = proofOf(name);
    const { length } = input.bytes;
    for (const end of [0, 1, length - 1, ...fields.map(({ at }) => at)]) {
      const verdict = verifyReferenceSection({ ...input, bytes: input.bytes.subarray(0, end) });
      expect(verdict).toEqual({ ok: false, why: 'end of the bytes' });
    }
  });
});

// every byte before the fast verifier: ../proof/flips.ts
test('flipped bytes all over the proof (ten; nightly, every eighth)', LONG, () => {
  const { input } = proofOf(cases[0]![0]);
  const { length } = input.bytes;
  const step = NIGHTLY ? 8 : Math.ceil(length / 10);
  for (let at = length % step; at < length; at += step) {
    const verdict = verifyReferenceSection(spoil(input, at, 1 << ((at / step) % 8)));
    expect(verdict.ok, `byte ${at}`).toBe(false);
  }
});

describe('another statement', () => {
  const two = cases[1]![0];
  const refused = (changes: Partial<SectionInput>, name = two) =>
    expect(verifyReferenceSection({ ...proofOf(name).input, ...changes }).ok).toBe(false);

  test('a message, key or salt of another item; the order; the count', LONG, () => {
    const { input } = proofOf(two);
    const [first, second] = [input.statements[0]!, input.statements[1]!];
    const other = signedItem('falcon512', 9);
    refused({ statements: [first, { ...second, message: other.message }] });
    refused({ statements: [{ ...first, message: Uint8Array.of(1, 2, 3) }, second] });
    refused({ statements: [second, first] });
    refused({ salts: [input.salts[1]!, input.salts[0]!] });
    refused({ statements: [{ ...first, publicKey: other.publicKey }, second] });
    refused({ statements: [second, first], salts: [input.salts[1]!, input.salts[0]!] });
    refused({ salts: [input.salts[0]!, other.signature.slice(1, 41)] });
    refused({ statements: [first], salts: [input.salts[0]!] });
    refused({ statements: [first, first], salts: [input.salts[0]!, input.salts[0]!] });
    const one = proofOf(cases[2]![0]).input;
    const more = {
      statements: [...one.statements, second],
      salts: [...one.salts, input.salts[1]!],
    };
    refused(more, cases[2]![0]);
    refused({ statements: [first, second, other], salts: [...input.salts, input.salts[0]!] });
  });

  test('a bit of the header; the hash of the row; another row', LONG, () => {
    const { input } = proofOf(two);
    for (const at of [0, 5, 6, 7, 39, 41, 60, input.header.length - 1]) {
      const header = input.header.slice();
      header[at]! ^= 4;
      refused({ header });
    }
    refused({ rowHash: input.rowHash.map((x) => x ^ 1) });
    const [set, bucket, levels] = TOY2;
    // the same shapes under looser bounds: only the hash of the row tells them apart
    const looser = levels.map((level, i) =>
      i === 1 ? level.map((x, at) => (at === 11 ? (x as number) + 1 : x)) : level,
    );
    const row: TableRow = [set, bucket, looser];
    expect(verifyReferenceSection({ ...input, row }).ok).toBe(true);
    refused({ row, rowHash: hashOfRow(row) });
    refused({ row: [set, 3, levels] });
    const narrower = levels.map((level, i) =>
      i === 2 ? level.map((x, at) => (at === 4 ? 1000 : x)) : level,
    );
    refused({ row: [set, bucket, narrower] });
  });
});

describe('a whole proof of both sets', () => {
  const table = [TOY2, TOY1, TOY_1024];
  const [a, c] = signedItems('falcon512', 2) as [SignedItem, SignedItem];
  const items = [a, signedItem('falcon1024', 0), c];
  const header = headerOf(items, [TOY2, TOY_1024].map(hashOfRow));
  const sections = ([512, 1024] as const).map((set) => {
    const members = items.filter((item) => item.set === `falcon${set}`);
    return toyProof(set === 512 ? TOY2 : TOY_1024, { items: members, header }).bytes;
  });
  const bytes = Uint8Array.from(Buffer.concat([header, ...sections]));
  const input = { table, statements: items, bytes };
  const judged = (changes: Partial<typeof input>) => verifyReferenceProof({ ...input, ...changes });

  test('accepted', LONG, () => {
    expect(judged({})).toEqual({ ok: true, length: bytes.length });
  });

  test('bytes left over, a section missing, sections in the other order', LONG, () => {
    expect(judged({ bytes: Uint8Array.from([...bytes, 0]) }).ok).toBe(false);
    const rest = bytes.length - sections[1]!.length;
    expect(judged({ bytes: bytes.subarray(0, rest) }).ok).toBe(false);
    const swapped = Buffer.concat([header, sections[1]!, sections[0]!]);
    expect(judged({ bytes: Uint8Array.from(swapped) }).ok).toBe(false);
  });

  test('another list of statements', () => {
    const why = { ok: false, why: 'statement commitment' };
    const [a, b, c] = items as [(typeof items)[0], (typeof items)[0], (typeof items)[0]];
    expect(judged({ statements: [c, b, a] })).toEqual(why);
    expect(judged({ statements: [a, b, { ...c, message: Uint8Array.of(1) }] })).toEqual(why);
    expect(judged({ statements: [a, b] }).ok).toBe(false);
    const key = { ...c, publicKey: c.publicKey.subarray(1) };
    expect(judged({ statements: [a, b, key] })).toEqual(why);
  });

  test('the header by its rules', LONG, () => {
    const changed = (at: number, value: number) => {
      const other = bytes.slice();
      other[at] = value;
      return judged({ bytes: other }).ok;
    };
    expect(changed(0, bytes[0]!)).toBe(true);
    for (const [at, value] of [
      [0, 0x66],
      [4, 1],
      [4, 3],
      [5, 1],
      [5, 2],
      [5, 4],
      [6, bytes[6]! ^ 1],
      [38, 1],
      [39, 2],
      [39, 4],
      [40, bytes[40]! ^ 1], // another table
      [44, 0x20], // a padded signature: no kind of a proof
      [46, 0x00], // the set of the neighbour, not one run
      [45, 1],
      [50, 1], // profiles
      [51, 1],
      [52, 0x20], // constant salts
      [52, 0x60], // no coding
      [53, 3],
      [54, bytes[54]! ^ 1], // a salt
    ] as const) {
      expect(changed(at, value), `${at}`).toBe(false);
    }
    for (const end of [0, 39, 43, 45, 51, 53, header.length - 1]) {
      const why = end < 44 ? 'magic, format or version' : 'end of the bytes';
      const verdict = judged({ bytes: bytes.subarray(0, end) });
      expect(verdict).toEqual({ ok: false, why: `header: ${why}` });
    }
  });
});
