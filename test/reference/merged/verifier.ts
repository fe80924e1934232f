/**
 * docs/merged.md, 1.7: a slow, plain verifier of merged proofs, written from sections 1.1 to 1.7
 * and docs/protocol.md (p.) alone. Level 0, the levels behind the merged one and the tail are those
 * of ../verifier.
 */
import { createHash } from 'node:crypto';
import type { MergedRow } from '../tableRow.ts';
import { ALL_CHECKS, type Checks, Refused } from '../verifier/checks.ts';
import type { Claim } from '../verifier/claim.ts';
import { commitmentOf, type Header, saltOf } from '../verifier/container.ts';
import { verifyLevel } from '../verifier/level.ts';
import { type Item, verifyLevel0 } from '../verifier/level0.ts';
import { pointOf, publicKeyOf } from '../verifier/points.ts';
import { replayFirst, replayOrdinary, replayTail, type Seeds } from '../verifier/replay.ts';
import { verifyTail } from '../verifier/tail.ts';
import { i32s, type Trace, type Transcript, transcript, u16 } from '../verifier/transcript.ts';
import type { Statement } from '../verifier/verify.ts';
import { type MergedLevelMessage, type Part, parseMerged } from './parseProof.ts';
import type { MergedShapes } from './parseRow.ts';
import { verifyMergedLevel } from './verifyLevel.ts';

/**
 * Weaknesses for positive controls: each takes one protection away, and an attack that this
 * protection stops is accepted. The name of a check of ../verifier turns that check off, at all
 * levels.
 */
export type Flaw =
  | keyof Checks
  /** 1.5: χ_1 for all parts */
  | 'oneChi'
  /** 1.4: υ_1 for all parts */
  | 'oneUpsilon'
  /** 1.3: P'inP bounds every block and every x^(ι) alone */
  | 'boundOfRow'
  /** 1.3: P'inP bounds the sum over the blocks, none of which has a bound; XP remains */
  | 'oneBound'
  /** 1.3: no bound on y of x^(ι) */
  | 'noNormOfX'
  /** 1.2: a part absorbs no `header`, and goes on to `retry` */
  | 'noHeader'
  /** 1.2: the merge absorbs the states of the parts in the order of their bytes */
  | 'noOrder'
  /** 1.2: the list may go on behind the last part */
  | 'longerList'
  /** 1.2: a part may contain items of the other set, which are in its count and are not proved */
  | 'otherSet';
export type Flaws = ReadonlySet<Flaw>;

/** Whether all statements of the list have signatures. @param rows merged rows in use (1.1) */
export function verifyMerged(
  bytes: Uint8Array,
  statements: readonly Statement[],
  rows: readonly MergedRow[],
  flaws: Iterable<Flaw> = [],
): boolean {
  return whyMerged(bytes, statements, rows, flaws) === undefined;
}

/**
 * @param trace sees the transcripts of all parts, then that of the merge
 * @returns the name of the check that fails, with the place behind a colon; undefined if none does
 */
export function whyMerged(
  bytes: Uint8Array,
  statements: readonly Statement[],
  rows: readonly MergedRow[],
  flaws: Iterable<Flaw> = [],
  trace?: Trace,
): string | undefined {
  try {
    judge(bytes, statements, rows, new Set(flaws), trace);
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

function judge(
  bytes: Uint8Array,
  statements: readonly Statement[],
  rows: readonly MergedRow[],
  flaws: Flaws,
  trace?: Trace,
): void {
  const checks = Object.fromEntries(
    Object.keys(ALL_CHECKS).map((name) => [name, !flaws.has(name as keyof Checks)]),
  ) as Checks;

  // step 1
  let items: Item[][] = [];
  const message = parseMerged(bytes, rows, checks, (shapes, headers) => {
    items = itemsOfParts(shapes, headers, statements, flaws);
  });
  const { shapes, parts, attempt, merged, tail } = message;

  // step 2
  const replayed = parts.map((part, i) =>
    verifyPart(shapes, part, items[i]!, flaws, checks, trace),
  );

  // step 3
  const t = transcript(trace);
  const states = replayed.map(({ state }) => state);
  if (flaws.has('noOrder')) states.sort(Buffer.compare);
  const { partHash, mergedHash } = shapes;
  const numbers = [Uint8Array.of(attempt), u16(parts.length)];
  t.absorb('falconry/merge/v1', Buffer.concat([partHash, mergedHash, ...numbers, ...states]));
  let claim = verifyMergedLevel({
    shapes,
    claims: replayed.map((part) => part.claim),
    message: merged,
    seeds: replayMerged(t, merged),
    flaws,
    checks,
  });
  // the whole transcript first would do as well: no value below is absorbed
  for (const [i, sent] of message.levels.entries()) {
    claim = verifyLevel(claim, shapes.levels[i + 1]!, sent, replayOrdinary(t, sent), checks);
  }
  verifyTail(claim, shapes.tail, tail, replayTail(t, tail), checks);
}

/** Step 1: 1.2, and step 1 of p. 13, of all headers and the list. */
function itemsOfParts(
  shapes: MergedShapes,
  headers: readonly Header[],
  statements: readonly Statement[],
  flaws: Flaws,
): Item[][] {
  const total = headers.reduce((sum, { sets }) => sum + sets.length, 0);
  if (statements.length < total) throw new Refused('list: too short');
  if (statements.length > total && !flaws.has('longerList')) throw new Refused('list: too long');
  let next = 0;
  return headers.map((header, i) => {
    const list = statements.slice(next, next + header.sets.length);
    next += header.sets.length;
    return itemsOf(shapes, header, list, `part ${i + 1}`, flaws);
  });
}

/** The items of one part, the next of the list. */
function itemsOf(
  { set, bucket, logn, partHash }: MergedShapes,
  { sets, tag, commitment, salts }: Header,
  statements: readonly Statement[],
  where: string,
  flaws: Flaws,
): Item[] {
  // the header's count is at least 1
  if (sets.length > bucket) throw new Refused(`count of items: ${where}`);
  const tagOfRow = createHash('shake256', { outputLength: tag.length }).update(partHash).digest();
  if (Buffer.compare(tag, tagOfRow) !== 0) throw new Refused(`tag: ${where}`);
  const members = [...sets.keys()].filter((item) => sets[item] === set);
  const isOfOneSet = members.length === sets.length;
  if (!isOfOneSet && (members.length === 0 || !flaws.has('otherSet'))) {
    throw new Refused(`set: ${where}`);
  }
  const expected = commitmentOf(statements);
  if (expected === undefined || Buffer.compare(expected, commitment) !== 0) {
    throw new Refused(`commitment: ${where}`);
  }
  return members.map((item): Item => {
    const statement = statements[item]!;
    const h = publicKeyOf(statement.publicKey, logn);
    if (h === undefined) throw new Refused(`public key: ${where}, item ${item}`);
    const salt = saltOf(salts[item]!, set as 512 | 1024, statement);
    if (salt === undefined) throw new Refused(`salt: ${where}, item ${item}`);
    return { h, c: pointOf(salt, statement.message, logn) };
  });
}

/** Step 2: the transcript of a part (1.2), and level 0 with its bounds. */
function verifyPart(
  shapes: MergedShapes,
  { headerBytes, levelZero }: Part,
  items: readonly Item[],
  flaws: Flaws,
  checks: Readonly<Checks>,
  trace?: Trace,
): { readonly state: Uint8Array; readonly claim: Claim } {
  const { logn, bucket, partHash, zero } = shapes;
  const t = transcript(trace);
  const counts = [Uint8Array.of(logn), u16(bucket), u16(items.length)];
  t.absorb('falconry/part/v1', Buffer.concat([partHash, ...counts]));
  if (!flaws.has('noHeader')) t.absorb('header', headerBytes);
  const seeds = replayFirst(t, levelZero);
  const state = t.state();
  const claim = verifyLevel0({ ...shapes, levels: [zero] }, items, levelZero, seeds, checks);
  return { state, claim };
}

/** Step 3: level 1 as in p. 4, with the projections of all blocks in `y` (1.2). */
function replayMerged(t: Transcript, message: MergedLevelMessage): Seeds {
  const { retry, u, counter, blocks, b, u2 } = message;
  t.absorb('retry', Uint8Array.of(retry));
  t.absorb('u1', u[0]!.bytes);
  t.absorb('counter', Uint8Array.of(counter));
  const jl = t.seed('jl');
  const all = blocks.flatMap(({ y, yOfX }) => [y, yOfX]);
  const numbers = all.flatMap((sent) => (sent ? [...sent.rows, sent.U, sent.V] : []));
  t.absorb('y', i32s(numbers));
  const lift = t.seed('lift');
  t.absorb('b', b.bytes);
  const combine = t.seed('combine');
  t.absorb('u2', u2.bytes);
  return { jl, lift, combine, amortise: t.seed('amortise') };
}
