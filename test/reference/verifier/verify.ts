/**
 * Section 13: a slow, plain verifier of one section, and of a whole proof, written from
 * docs/protocol.md alone. It shares nothing with the prover or with the fast verifier.
 */
import type { TableRow } from '../tableRow.ts';
import { ALL_CHECKS, type Checks, Refused } from './checks.ts';
import { verifyLevel } from './level.ts';
import { type Item, verifyLevel0 } from './level0.ts';
import { parseSection } from './parse.ts';
import { pointOf, publicKeyOf } from './points.ts';
import { replay } from './replay.ts';
import { shapesOf } from './shapes.ts';
import { verifyTail } from './tail.ts';
import type { AbsorbAs, Trace } from './transcript.ts';

export const MOST_ITEMS = { 512: 5632, 1024: 2944 } as const;

export interface Statement {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
}

export interface SectionInput {
  readonly set: 512 | 1024;
  readonly row: TableRow;
  readonly rowHash: Uint8Array;
  /** the container's bytes before the body */
  readonly header: Uint8Array;
  /** of this section, in order, each with its salt of 40 bytes */
  readonly statements: readonly Statement[];
  readonly salts: readonly Uint8Array[];
  /** from the first byte of the section on; more may follow */
  readonly bytes: Uint8Array;
  readonly checks?: Partial<Checks>;
  /** the level, by its number, that alone lacks what is off; the parser lacks it everywhere */
  readonly checksAt?: number;
  readonly trace?: Trace;
  /** a verifier with another transcript */
  readonly absorbAs?: AbsorbAs;
}

export type Verdict =
  | { readonly ok: true; readonly length: number }
  | { readonly ok: false; readonly why: string };

export function verifyReferenceSection(input: SectionInput): Verdict {
  const checks: Checks = { ...ALL_CHECKS, ...input.checks };
  try {
    return { ok: true, length: judge(input, checks) };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, why: error.message };
    throw error;
  }
}

function judge(input: SectionInput, checks: Checks): number {
  const shapes = shapesOf(input.row);
  const count = input.statements.length;
  if (shapes.set !== input.set) throw new RangeError('a row of another set');
  const most = Math.min(MOST_ITEMS[input.set], shapes.bucket);
  if (count < 1 || count > most || count !== input.salts.length) {
    throw new Refused('count of items');
  }
  const items = input.statements.map((statement, i): Item => {
    const h = publicKeyOf(statement.publicKey, shapes.logn);
    if (h === undefined) throw new Refused(`public key ${i}`);
    return { h, c: pointOf(input.salts[i]!, statement.message, shapes.logn) };
  });

  const message = parseSection(input.bytes, shapes, checks);
  const opening = { rowHash: input.rowHash, header: input.header, count };
  const seeds = replay(shapes, opening, message, input.trace, input.absorbAs);
  const { checksAt } = input;
  const at = (level: number): Checks =>
    checksAt === undefined || checksAt === level ? checks : ALL_CHECKS;
  let claim = verifyLevel0(shapes, items, message.levels[0]!, seeds.levels[0]!, at(0));
  for (const shape of shapes.levels.slice(1)) {
    const { level } = shape;
    claim = verifyLevel(claim, shape, message.levels[level]!, seeds.levels[level]!, at(level));
  }
  verifyTail(claim, shapes.tail, message.tail, seeds.tail, at(shapes.tail.level));
  return message.length;
}
