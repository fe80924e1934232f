/**
 * Sections 2.1 and 13: a whole proof, header and sections, against the caller's list.
 */
import { createHash } from 'node:crypto';
import type { TableRow } from '../tableRow.ts';
import type { Checks } from './checks.ts';
import type { Trace } from './transcript.ts';
import { type Statement, type Verdict, verifyReferenceSection } from './verify.ts';

export interface ProofInput {
  readonly table: readonly TableRow[];
  readonly tableHash: Uint8Array;
  readonly statements: readonly Statement[];
  readonly bytes: Uint8Array;
  readonly checks?: Partial<Checks>;
  readonly trace?: Trace;
}

export interface Header {
  readonly commitment: Uint8Array;
  /** degree of every item */
  readonly sets: readonly (512 | 1024)[];
  readonly salts: readonly Uint8Array[];
  readonly length: number;
}

const FIXED_BYTES = 40;
const SALT_BYTES = 40;
const MOST_ITEMS = 1722;
const SET_OF_KIND: Readonly<Record<number, 512 | 1024>> = { 0: 512, 3: 1024 };
const PUBLIC_KEY_BYTES: Readonly<Record<number, number>> = { 897: 9, 1793: 10 };

/** @returns undefined unless the bytes begin with the one header of what it says */
export function headerOf(bytes: Uint8Array): Header | undefined {
  const start = Buffer.from(bytes.subarray(0, FIXED_BYTES));
  if (start.length < FIXED_BYTES || start.toString('latin1', 0, 6) !== 'FLRY\x02\x01') {
    return undefined;
  }
  const count = start.readUInt16BE(38);
  const sets: (512 | 1024)[] = [];
  let at = FIXED_BYTES;
  for (let before = -1; sets.length < count; at += 2) {
    if (at + 2 > bytes.length) return undefined;
    const kind = bytes[at]! >> 5;
    const run = 256 * (bytes[at]! & 31) + bytes[at + 1]! + 1;
    const set = SET_OF_KIND[kind];
    if (set === undefined || kind === before || run > count - sets.length) return undefined;
    for (let i = 0; i < run; i++) sets.push(set);
    before = kind;
  }
  const length = at + SALT_BYTES * count;
  if (count < 1 || length > bytes.length) return undefined;
  const salts = sets.map((_, i) => bytes.subarray(at + SALT_BYTES * i, at + SALT_BYTES * (i + 1)));
  return { commitment: bytes.subarray(6, 38), sets, salts, length };
}

/** The statement commitment of the bundle's format. @returns undefined for keys of other lengths */
export function commitmentOf(statements: readonly Statement[]): Uint8Array | undefined {
  const hash = createHash('shake256', { outputLength: 32 });
  hash.update('falconry statement v1').update(u32(statements.length));
  for (const { publicKey, message } of statements) {
    const logn = PUBLIC_KEY_BYTES[publicKey.length];
    if (logn === undefined) return undefined;
    hash.update(Uint8Array.of(logn)).update(publicKey).update(u32(message.length)).update(message);
  }
  return hash.digest();
}

function u32(x: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(x);
  return bytes;
}

/** The row of the smallest bucket that holds the items. */
export function rowFor(
  table: readonly TableRow[],
  set: number,
  count: number,
): TableRow | undefined {
  return table
    .filter((row) => row[0] === set && row[1] >= count)
    .reduce<TableRow | undefined>(
      (best, row) => (best && best[1] <= row[1] ? best : row),
      undefined,
    );
}

export function verifyReferenceProof(input: ProofInput): Verdict {
  const { table, tableHash, statements, bytes, checks, trace } = input;
  const refused = (why: string): Verdict => ({ ok: false, why });
  const header = headerOf(bytes);
  if (header === undefined) return refused('header');
  if (header.sets.length !== statements.length) return refused('count of statements');
  const commitment = commitmentOf(statements);
  if (commitment === undefined || Buffer.compare(commitment, header.commitment) !== 0) {
    return refused('statement commitment');
  }
  let at = header.length;
  for (const set of [512, 1024] as const) {
    const members = [...header.sets.keys()].filter((i) => header.sets[i] === set);
    if (members.length === 0) continue;
    const row = rowFor(table, set, members.length);
    if (row === undefined || members.length > MOST_ITEMS) return refused('too many items');
    const verdict = verifyReferenceSection({
      set,
      row,
      tableHash,
      header: bytes.subarray(0, header.length),
      statements: members.map((i) => statements[i]!),
      salts: members.map((i) => header.salts[i]!),
      bytes: bytes.subarray(at),
      ...(checks && { checks }),
      ...(trace && { trace }),
    });
    if (!verdict.ok) return refused(`Falcon-${set}: ${verdict.why}`);
    at += verdict.length;
  }
  return at === bytes.length ? { ok: true, length: at } : refused('bytes left over');
}
