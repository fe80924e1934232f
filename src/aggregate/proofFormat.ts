/**
 * The proof, format 2, as a complete aggregate (docs/protocol.md, 2.1): the container's header,
 * then one section for the items of each parameter set that occurs, Falcon-512 first.
 *
 *   header ‖ section of the Falcon-512 items ‖ section of the Falcon-1024 items
 *
 * A section proves its items in the order of the list. Its transcript starts with the entire
 * header.
 */

import type { ParameterSet } from '../falcon/index.ts';
import { SALT_BYTES } from '../falcon/salts.ts';
import { concat, concatAll } from '../shared/bytes.ts';
import { CodedError, isCodedError } from '../shared/errors.ts';
import type { HostSignal } from '../shared/hostTypes.ts';
import type { VerifiedBatch } from './batch.ts';
import { encodeHeader, kindOf, setOfKind } from './container.ts';
import type { Claim } from './openAggregate.ts';
import {
  type FoldJob,
  type FoldResult,
  MAX_SECTION_ITEMS,
  type OpenedBytes,
  openSection,
  type ProveOptions,
  type ProveProgress,
  proofSize,
  proveSection,
  SectionsInBlocks,
  type SectionToVerify,
  type StatedItem,
  verifySection,
  verifySectionIn,
} from './proof/index.ts';
import type { Element } from './series.ts';
import { type Statement, setOfPublicKey } from './statement.ts';
import { type AggregateThreads, openSession } from './threads.ts';

/** The parameter sets, in the order of their sections. */
const SECTIONS: readonly ParameterSet[] = Object.freeze(['falcon512', 'falcon1024']);

export interface ProofHooks {
  readonly signal?: HostSignal | undefined;
  /** Called with the approximate number of finished items. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Threads to prove with. */
  readonly pool?: AggregateThreads | undefined;
  /** Called once, with the number of threads used and the peak bytes of their modules' memories. */
  readonly onStats?: ((stats: ProofStats) => void) | undefined;
}

export interface ProofStats {
  readonly threads: number;
  readonly memoryBytes: number;
}

/** Returns whether any section would have too many items. */
export function isTooLongForProof(statements: readonly Statement[]): boolean {
  return SECTIONS.some((set) => positionsOf(statements, set).length > MAX_SECTION_ITEMS[set]);
}

/** Returns the approximate size of the proof of a batch in bytes, including header and salts. */
export function estimateProofBytes(batch: VerifiedBatch): number {
  return SECTIONS.reduce((sum, set) => {
    const { length } = positionsOf(batch.items, set);
    return length === 0 ? sum : sum + (proofSize(set, length) ?? Number.POSITIVE_INFINITY);
  }, proofHeader(batch).length);
}

/**
 * Proves a batch whose sections are not too long.
 *
 * @returns undefined if no attempt succeeds, which practically never happens
 */
export async function encodeProof(
  batch: VerifiedBatch,
  { signal, onProgress, pool, onStats }: ProofHooks = {},
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const { items, profile } = batch;
  const total = items.length;
  let shown = 0;
  let stats: ProofStats = { threads: 1, memoryBytes: 0 };
  const show = (done: number): void => {
    // Repeated work is not reported until it passes the earlier maximum.
    shown = Math.max(shown, done);
    onProgress?.(shown, total);
  };
  const header = proofHeader(batch);
  const parts = [header];
  let before = 0;
  for (const set of SECTIONS) {
    const members = positionsOf(items, set).map((i) => items[i]!);
    if (members.length === 0) continue;
    const start = before;
    const count = pool?.helpersFor(members, 'prove') ?? 0;
    const options: ProveOptions = {
      profile,
      ...(signal && { signal }),
      onProgress: (step: ProveProgress) =>
        show(start + Math.floor((members.length * step.done) / step.total)),
      onMemory: (memoryBytes, threads) => {
        stats = {
          threads: Math.max(stats.threads, threads),
          memoryBytes: Math.max(stats.memoryBytes, memoryBytes),
        };
      },
    };
    const section = await proveIn(pool, count, options, (own) =>
      proveSection(set, header, members, own),
    );
    if (section === undefined) return undefined;
    parts.push(section);
    before += members.length;
  }
  onStats?.(stats);
  return concat(...parts);
}

/**
 * Proves with threads of the pool; if one is lost, with this thread alone.
 *
 * @param count maximum number of threads besides this one
 */
export async function proveIn<T>(
  pool: AggregateThreads | undefined,
  count: number,
  options: ProveOptions,
  prove: (options: ProveOptions) => Promise<T>,
): Promise<T> {
  if (pool === undefined || count === 0) return prove(options);
  const session = openSession(pool, count);
  const { signal } = options;
  const stop = (): void => session.release(new CodedError('ABORTED', { cause: signal?.reason }));
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await prove({ ...options, helpers: session.helpers });
  } catch (error) {
    if (!isCodedError(error) || error.code !== 'THREAD_LOST' || pool.isClosed) throw error;
    return await prove(options);
  } finally {
    signal?.removeEventListener('abort', stop);
    session.release();
  }
}

/** Returns whether the body after the header proves the statements. */
export function verifyProof(claim: Claim): boolean {
  const sections = sectionsOf(claim);
  if (sections === undefined) return false;
  return sections.every((section) => verifySection(section) === section.end);
}

/**
 * Like `verifyProof`, with the work distributed by `spread`.
 *
 * @param parts approximate number of parts
 */
export async function verifyProofIn(
  claim: Claim,
  parts: number,
  spread: (jobs: readonly FoldJob[], items: number) => Promise<readonly FoldResult[]>,
): Promise<boolean> {
  const sections = sectionsOf(claim);
  if (sections === undefined) return false;
  for (const section of sections) {
    const spreadAll = (jobs: readonly FoldJob[]) => spread(jobs, section.statements.length);
    if ((await verifySectionIn(section, parts, spreadAll)) !== section.end) return false;
  }
  return true;
}

/** A section of a proof, and the positions of its items in the list. */
interface PlacedSection extends OpenedBytes {
  readonly positions: readonly number[];
  readonly end: number;
}

/**
 * Splits the body into its sections, which must fill it exactly; undefined if any is malformed.
 * Verifies nothing yet.
 */
function placedSections({ bytes, header: parsed }: Element): PlacedSection[] | undefined {
  const { format, kinds, profile, bodyAt } = parsed;
  if (format !== 'proof') return undefined;
  const header = bytes.subarray(0, bodyAt);
  const sections: PlacedSection[] = [];
  let at = bodyAt;
  for (const set of SECTIONS) {
    const positions = Array.from(kinds.keys()).filter((i) => setOfKind(kinds[i]!) === set);
    if (positions.length === 0) continue;
    const opened = openSection(set, positions.length, bytes, at);
    if (opened === undefined) return undefined;
    const { end } = opened.section;
    sections.push({ set, profile, header, bytes, at, opened, positions, end });
    at = end;
  }
  return at === bytes.length ? sections : undefined;
}

function sectionsOf(claim: Claim): (SectionToVerify & PlacedSection)[] | undefined {
  const { statements, salts } = claim;
  return placedSections(claim)?.map((section) => {
    const { positions } = section;
    const own = positions.map((i) => salts.subarray(SALT_BYTES * i, SALT_BYTES * (i + 1)));
    return {
      ...section,
      statements: positions.map((i) => statements[i]!),
      salts: concatAll(own),
    };
  });
}

/** The body of a proof whose items arrive in blocks, in the order of the list. */
export interface ProofInBlocks {
  /** Takes the next items; yields the progress. @returns false if they are refused */
  add(items: readonly StatedItem[]): Generator<number, boolean>;
  /** Returns whether all items are proved. */
  conclude(): boolean;
  close(): void;
}

/** @returns undefined if the body is malformed */
export function openProof(element: Element): ProofInBlocks | undefined {
  const placed = placedSections(element);
  const opened =
    placed &&
    SectionsInBlocks.open(
      placed,
      placed.map((s) => s.positions.length),
    );
  if (opened === undefined) return undefined;
  return {
    *add(items) {
      for (const [number, { set }] of placed!.entries()) {
        const own = items.filter(({ publicKey }) => setOfPublicKey(publicKey) === set);
        if (!(yield* opened.add(number, own))) return false;
      }
      return true;
    },
    conclude: () => opened.conclude(),
    close: () => opened.close(),
  };
}

function positionsOf(statements: readonly Statement[], set: ParameterSet): number[] {
  return Array.from(statements.keys()).filter(
    (i) => setOfPublicKey(statements[i]!.publicKey) === set,
  );
}

function proofHeader({ signatures, statement, profile, salts }: VerifiedBatch): Uint8Array {
  return encodeHeader({
    format: 'proof',
    statement,
    // A proof does not record the forms of signatures: the first kind of each set represents it.
    kinds: Uint8Array.from(signatures, (s) => kindOf(s.parameterSet, 'compressed')),
    profile,
    salts,
  });
}
