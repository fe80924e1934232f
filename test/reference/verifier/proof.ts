/** Sections 2.1 and 13: a whole proof, header and sections, against the caller's list. */
import { createHash } from 'node:crypto';
import type { TableRow } from '../tableRow.ts';
import type { Checks } from './checks.ts';
import { commitmentOf, readHeader, saltOf } from './container.ts';
import type { Trace } from './transcript.ts';
import { MOST_ITEMS, type Statement, type Verdict, verifyReferenceSection } from './verify.ts';

export interface ProofInput {
  readonly table: readonly TableRow[];
  readonly statements: readonly Statement[];
  readonly bytes: Uint8Array;
  readonly checks?: Partial<Checks>;
  readonly trace?: Trace;
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

const shake256 = (data: string | Uint8Array, outputLength: number): Uint8Array =>
  createHash('shake256', { outputLength }).update(data).digest();

export function verifyReferenceProof(input: ProofInput): Verdict {
  const { table, statements, bytes, checks, trace } = input;
  const refused = (why: string): Verdict => ({ ok: false, why });
  const header = readHeader(bytes);
  if (typeof header === 'string') return refused(`header: ${header}`);
  const sections = ([512, 1024] as const)
    .map((set) => ({ set, members: [...header.sets.keys()].filter((i) => header.sets[i] === set) }))
    .filter(({ members }) => members.length > 0);
  const rows = sections.map(({ set, members }) => rowFor(table, set, members.length));
  if (
    rows.includes(undefined) ||
    sections.some(({ set, members }) => members.length > MOST_ITEMS[set])
  ) {
    return refused('too many items');
  }
  const hashes = rows.map((row) => shake256(JSON.stringify(row), 32));
  const tag = shake256(Buffer.concat(hashes), header.tag.length);
  if (Buffer.compare(header.tag, tag) !== 0) return refused('another table');
  if (header.sets.length !== statements.length) return refused('count of statements');
  const commitment = commitmentOf(statements);
  if (commitment === undefined || Buffer.compare(commitment, header.commitment) !== 0) {
    return refused('statement commitment');
  }
  const salts = header.salts.map((code, i) => saltOf(code, header.sets[i]!, statements[i]!));
  if (salts.includes(undefined)) return refused('a salt has a shorter coding');
  let at = header.length;
  for (const [number, { set, members }] of sections.entries()) {
    const verdict = verifyReferenceSection({
      set,
      row: rows[number]!,
      rowHash: hashes[number]!,
      header: bytes.subarray(0, header.length),
      statements: members.map((i) => statements[i]!),
      salts: members.map((i) => salts[i]!),
      bytes: bytes.subarray(at),
      ...(checks && { checks }),
      ...(trace && { trace }),
    });
    if (!verdict.ok) return refused(`Falcon-${set}: ${verdict.why}`);
    at += verdict.length;
  }
  return at === bytes.length ? { ok: true, length: at } : refused('bytes left over');
}
