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
import { CodedError, isCodedError } from '../errors.ts';
import type { ParameterSet } from '../falcon/index.ts';
import type { VerifiedBatch } from './batch.ts';
import { encodeHeader, kindOf, type ParsedHeader, SALT_BYTES, setOfKind } from './container.ts';
import {
  endOfSection,
  type FoldJob,
  type FoldResult,
  MAX_SECTION_ITEMS,
  type ProveOptions,
  type ProveProgress,
  proofSize,
  proveSection,
  type SectionItem,
  verifySection,
  verifySectionIn,
} from './proof/index.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';
import type { Crew } from './threads/crew.ts';

export const PROOF_VERSION = 1;

/** The sections in their order. */
const SECTIONS: readonly ParameterSet[] = Object.freeze(['falcon512', 'falcon1024']);

export interface ProofHooks {
  readonly signal?: AbortSignal | undefined;
  /** Items that are as good as done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Threads to prove with. */
  readonly crew?: Crew | undefined;
  /** Told once: threads that took part, peak bytes of their modules' memories. */
  readonly onStats?: ((stats: ProofStats) => void) | undefined;
}

export interface ProofStats {
  readonly threads: number;
  readonly memoryBytes: number;
}

/** A section of fewer items is proved before another thread has started. */
const LEAST_ITEMS = 16;

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
  { signal, onProgress, crew, onStats }: ProofHooks = {},
): Promise<Uint8Array | undefined> {
  const total = items.length;
  let shown = 0;
  let stats: ProofStats = { threads: 1, memoryBytes: 0 };
  const show = (done: number): void => {
    // what is begun again counts when it has come as far
    shown = Math.max(shown, done);
    onProgress?.(shown, total);
  };
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
    const section = await proveIn(crew, set, header, members, {
      ...(signal && { signal }),
      onProgress: (step: ProveProgress) =>
        show(start + Math.floor((members.length * step.done) / step.total)),
      onMemory: (memoryBytes, threads) => {
        stats = {
          threads: Math.max(stats.threads, threads),
          memoryBytes: Math.max(stats.memoryBytes, memoryBytes),
        };
      },
    });
    if (section === undefined) return undefined;
    parts.push(section);
    before += members.length;
  }
  onStats?.(stats);
  return concat(...parts);
}

/** A section by all threads of the crew; by this one alone if another is lost. */
async function proveIn(
  crew: Crew | undefined,
  set: ParameterSet,
  header: Uint8Array,
  items: readonly SectionItem[],
  options: ProveOptions,
): Promise<Uint8Array | undefined> {
  if (crew === undefined || crew.threads === 1 || items.length < LEAST_ITEMS) {
    return proveSection(set, header, items, options);
  }
  const session = crew.session();
  const { signal } = options;
  const stop = (): void => session.release(new CodedError('ABORTED', { cause: signal?.reason }));
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await proveSection(set, header, items, { ...options, helpers: session.helpers });
  } catch (error) {
    if (!isCodedError(error) || error.code !== 'THREAD_LOST' || crew.isClosed) throw error;
    return await proveSection(set, header, items, options);
  } finally {
    signal?.removeEventListener('abort', stop);
    session.release();
  }
}

/** Whether the body behind a header of format proof proves these statements; count and sets agree. */
export function verifyProof(
  bytes: Uint8Array,
  header: ParsedHeader,
  statements: readonly Statement[],
): boolean {
  const sections = sectionsOf(bytes, header, statements);
  if (sections === undefined) return false;
  return sections.every(({ set, head, members, salts, at, end }) => {
    return verifySection(set, head, members, salts, bytes, at)?.end === end;
  });
}

/**
 * The same, with the parts of the work done as `spread` does them.
 *
 * @param parts about how many
 */
export async function verifyProofIn(
  bytes: Uint8Array,
  header: ParsedHeader,
  statements: readonly Statement[],
  parts: number,
  spread: (jobs: readonly FoldJob[], items: number) => Promise<readonly FoldResult[]>,
): Promise<boolean> {
  const sections = sectionsOf(bytes, header, statements);
  if (sections === undefined) return false;
  for (const { set, head, members, salts, at, end } of sections) {
    const spreadAll = (jobs: readonly FoldJob[]) => spread(jobs, members.length);
    const judged = await verifySectionIn(parts, spreadAll, set, head, members, salts, bytes, at);
    if (judged?.end !== end) return false;
  }
  return true;
}

interface SectionToJudge {
  readonly set: ParameterSet;
  readonly head: Uint8Array;
  readonly members: readonly Statement[];
  readonly salts: Uint8Array;
  /** where it begins and ends */
  readonly at: number;
  readonly end: number;
}

/** The sections that the bytes hold, with no byte left; undefined if their form is wrong anywhere, before anything is proved. */
function sectionsOf(
  bytes: Uint8Array,
  { format, version, kinds, salts, bodyAt }: ParsedHeader,
  statements: readonly Statement[],
): SectionToJudge[] | undefined {
  if (format !== 'proof' || version !== PROOF_VERSION || isTooLongForProof(statements)) {
    return undefined;
  }
  const head = bytes.subarray(0, bodyAt);
  const sections: SectionToJudge[] = [];
  let at = bodyAt;
  for (const set of SECTIONS) {
    const positions = Array.from(kinds.keys()).filter((i) => setOfKind(kinds[i]!) === set);
    if (positions.length === 0) continue;
    const end = endOfSection(set, positions.length, bytes, at);
    if (end === undefined) return undefined;
    const members = positions.map((i) => statements[i]!);
    const own = positions.map((i) => salts.subarray(SALT_BYTES * i, SALT_BYTES * (i + 1)));
    sections.push({ set, head, members, salts: concat(...own), at, end });
    at = end;
  }
  return at === bytes.length ? sections : undefined;
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
