/**
 * The proof, format 2, as a whole aggregate: the container's header, then one section for the items
 * of each parameter set that occurs, Falcon-512 first, and nothing after that.
 *
 *   header ‖ section of the Falcon-512 items ‖ section of the Falcon-1024 items
 *
 * A section proves its items in the order in which they stand in the list, and starts its
 * transcript with the whole header. See docs/protocol.md, section 2.1.
 */
import { concat } from '../bytes.ts';
import type { ParameterSet } from '../falcon/index.ts';
import type { VerifiedBatch } from './batch.ts';
import { encodeHeader, kindOf, type ParsedHeader, SALT_BYTES, setOfKind } from './container.ts';
import {
  MAX_SECTION_ITEMS,
  type ProveProgress,
  proofSize,
  proveSection,
  verifySection,
} from './proof/index.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';

export const PROOF_VERSION = 1;

/** The sections in their order. */
const SECTIONS: readonly ParameterSet[] = Object.freeze(['falcon512', 'falcon1024']);

export interface ProofHooks {
  readonly signal?: AbortSignal | undefined;
  /** Items that are as good as done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Whether some section would hold more items than a proof can have. */
export function isTooLongForProof(statements: readonly Statement[]): boolean {
  return SECTIONS.some((set) => positionsOf(statements, set).length > MAX_SECTION_ITEMS);
}

/** About how many bytes the proof of such a batch has, header and salts included. */
export function estimateProofBytes(statements: readonly Statement[]): number {
  const header = proofHeader({ statements, salts: new Uint8Array(SALT_BYTES * statements.length) });
  return SECTIONS.reduce((sum, set) => {
    const { length } = positionsOf(statements, set);
    return length === 0 ? sum : sum + (proofSize(set, length) ?? Number.POSITIVE_INFINITY);
  }, header.length);
}

/**
 * The proof of a batch, whose sections are not too long.
 *
 * @returns undefined if the prover gives up, which honest signatures practically never see
 */
export async function encodeProof(
  { items, signatures }: VerifiedBatch,
  { signal, onProgress }: ProofHooks = {},
): Promise<Uint8Array | undefined> {
  const total = items.length;
  const header = proofHeader({
    statements: items,
    salts: concat(...signatures.map(({ salt }) => salt)),
    statement: statementDigest(items),
  });
  const parts = [header];
  let before = 0;
  for (const set of SECTIONS) {
    const members = positionsOf(items, set).map((i) => items[i]!);
    if (members.length === 0) continue;
    const start = before;
    const section = await proveSection(set, header, members, {
      ...(signal && { signal }),
      ...(onProgress && {
        onProgress: (step: ProveProgress) =>
          onProgress(start + Math.floor((members.length * step.done) / step.total), total),
      }),
    });
    if (section === undefined) return undefined;
    parts.push(section);
    before += members.length;
  }
  return concat(...parts);
}

/** Whether the body behind a header of format proof proves these statements; count and sets agree. */
export function verifyProof(
  bytes: Uint8Array,
  header: ParsedHeader,
  statements: readonly Statement[],
): boolean {
  if (header.format !== 'proof' || header.version !== PROOF_VERSION) return false;
  if (isTooLongForProof(statements)) return false;
  const { kinds, salts, bodyAt } = header;
  const head = bytes.subarray(0, bodyAt);
  let at = bodyAt;
  for (const set of SECTIONS) {
    const positions = Array.from(kinds.keys()).filter((i) => setOfKind(kinds[i]!) === set);
    if (positions.length === 0) continue;
    const members = positions.map((i) => statements[i]!);
    const own = concat(
      ...positions.map((i) => salts.subarray(SALT_BYTES * i, SALT_BYTES * (i + 1))),
    );
    const section = verifySection(set, head, members, own, bytes, at);
    if (section === undefined) return false;
    at = section.end;
  }
  return at === bytes.length;
}

function positionsOf(statements: readonly Statement[], set: ParameterSet): number[] {
  return Array.from(statements.keys()).filter(
    (i) => setOfPublicKey(statements[i]!.publicKey) === set,
  );
}

function proofHeader(of: {
  readonly statements: readonly Statement[];
  readonly salts: Uint8Array;
  readonly statement?: Uint8Array;
}): Uint8Array {
  const sets = of.statements.map(({ publicKey }) => setOfPublicKey(publicKey) ?? 'falcon512');
  return encodeHeader({
    format: 'proof',
    version: PROOF_VERSION,
    statement: of.statement ?? new Uint8Array(32),
    // A proof keeps no forms: the first kind of each set stands for it.
    kinds: Uint8Array.from(sets, (set) => kindOf(set, 'compressed')),
    salts: of.salts,
  });
}
