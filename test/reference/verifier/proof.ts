/** Sections 2.1 and 13: a whole proof, header and sections, against the caller's list. */
import type { TableRow } from '../tableRow.ts';
import type { Checks } from './checks.ts';
import { commitmentOf, readHeader, saltOf } from './container.ts';
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

const MOST_ITEMS = 1722;

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
  const header = readHeader(bytes);
  if (typeof header === 'string') return refused(`header: ${header}`);
  if (Buffer.compare(header.tag, tableHash.subarray(0, header.tag.length)) !== 0) {
    return refused('another table');
  }
  if (header.sets.length !== statements.length) return refused('count of statements');
  const commitment = commitmentOf(statements);
  if (commitment === undefined || Buffer.compare(commitment, header.commitment) !== 0) {
    return refused('statement commitment');
  }
  const salts = header.salts.map((code, i) => saltOf(code, header.sets[i]!, statements[i]!));
  if (salts.includes(undefined)) return refused('a salt has a shorter coding');
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
