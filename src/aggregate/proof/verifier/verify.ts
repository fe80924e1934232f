/**
 * The verifier of one section (docs/protocol.md, 13). It accepts or refuses; no bytes make it throw, wait or take more memory than the
 * row of the table needs.
 */
import type { ParameterSet } from '../../../falcon/index.ts';
import { SALT_BYTES } from '../../container.ts';
import type { Parameters } from '../../parameters/rows.ts';
import type { Statement } from '../../statement.ts';
import { bestModule, type Labrador, type ModuleName } from '../../wasm.ts';
import { onInstance } from '../instances.ts';
import { isShort } from '../projection.ts';
import { MAX_SECTION_ITEMS, parametersFor } from '../shapes.ts';
import { type Trace, Transcript } from '../transcript.ts';
import type { StatedItem } from './foldItems.ts';
import {
  type Folded,
  type FoldJob,
  type FoldPlan,
  type FoldResult,
  planFolds,
  runFold,
} from './folds.ts';
import { type ParsedSection, parseSection } from './parse.ts';
import { reduceLevel } from './reduceLevel.ts';
import { reduceLevelZero } from './reduceLevelZero.ts';
import { verifyTail } from './reduceTail.ts';
import { replay, type SectionSeeds } from './replay.ts';

/**
 * Whether the bytes from `at` on begin with a proof that every statement has a signature with its salt.
 *
 * @param header of the container: everything before the body
 * @param statements of this set, in order, each with 40 bytes of `salts`
 * @returns where the section ends; undefined if it is refused
 */
export function verifySection(
  set: ParameterSet,
  header: Uint8Array,
  statements: readonly Statement[],
  salts: Uint8Array,
  bytes: Uint8Array,
  at: number,
  trace?: Trace,
  module: ModuleName = bestModule(),
): { end: number } | undefined {
  const begun = begin(set, header, statements, salts, bytes, at, 1, trace);
  if (begun === undefined) return undefined;
  return onInstance(module, (lab) =>
    judge(
      lab,
      begun,
      begun.plan.jobs.map((job) => runWhole(lab, job)),
    ),
  );
}

/**
 * The same, with its parts done elsewhere.
 *
 * @param parts about how many
 * @param spread does them, in any order; results in the order of the jobs
 */
export async function verifySectionIn(
  parts: number,
  spread: (jobs: readonly FoldJob[]) => Promise<readonly FoldResult[]>,
  ...[set, header, statements, salts, bytes, at]: SectionArguments
): Promise<{ end: number } | undefined> {
  const begun = begin(set, header, statements, salts, bytes, at, parts);
  if (begun === undefined) return undefined;
  const results = await spread(begun.plan.jobs);
  return onInstance(bestModule(), (lab) => judge(lab, begun, results));
}

/**
 * Where a section of `count` items ends that begins at `at`, by its form and its norms alone, which cost next to nothing.
 *
 * @returns undefined if it will be refused
 */
export function endOfSection(
  set: ParameterSet,
  count: number,
  bytes: Uint8Array,
  at: number,
): number | undefined {
  const parameters = parametersFor(set, count);
  if (parameters === undefined || count > MAX_SECTION_ITEMS) return undefined;
  const section = parseSection(parameters, bytes, at);
  return section !== undefined && normsHold(parameters, section) ? section.end : undefined;
}

type SectionArguments = [
  set: ParameterSet,
  header: Uint8Array,
  statements: readonly Statement[],
  salts: Uint8Array,
  bytes: Uint8Array,
  at: number,
];

/** A section as it was sent, with the challenges that it leads to. */
interface Begun {
  readonly parameters: Parameters;
  readonly section: ParsedSection;
  readonly seeds: SectionSeeds;
  readonly transcript: Transcript;
  readonly plan: FoldPlan;
}

/** All that costs little. @returns undefined if the section is refused */
function begin(
  set: ParameterSet,
  header: Uint8Array,
  statements: readonly Statement[],
  salts: Uint8Array,
  bytes: Uint8Array,
  at: number,
  parts: number,
  trace?: Trace,
): Begun | undefined {
  const count = statements.length;
  const parameters = parametersFor(set, count);
  if (parameters === undefined || count > MAX_SECTION_ITEMS) return undefined;
  if (salts.length !== SALT_BYTES * count) return undefined;
  const section = parseSection(parameters, bytes, at);
  if (section === undefined || !normsHold(parameters, section)) return undefined;
  const transcript = new Transcript(trace);
  const seeds = replay(transcript, parameters, count, header, section);
  const items = statements.map(({ publicKey, message }, i): StatedItem => {
    const salt = salts.subarray(SALT_BYTES * i, SALT_BYTES * (i + 1));
    return { publicKey, message, salt };
  });
  const plan = planFolds(set, parameters, section, seeds, items, parts);
  return { parameters, section, seeds, transcript, plan };
}

function runWhole(lab: Labrador, job: FoldJob): FoldResult {
  const parts = runFold(lab, job);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

function judge(
  lab: Labrador,
  { parameters, section, seeds, transcript, plan }: Begun,
  results: readonly FoldResult[],
): { end: number } | undefined {
  const folded = plan.assemble(results);
  const isProved =
    folded !== undefined && holds(lab, parameters, folded, section, seeds, transcript);
  return isProved ? { end: section.end } : undefined;
}

function holds(
  lab: Labrador,
  parameters: Parameters,
  { items, keys, rows }: Folded,
  { levels, tail }: ParsedSection,
  seeds: SectionSeeds,
  transcript: Transcript,
): boolean {
  let claim = reduceLevelZero(lab, parameters, items, levels[0]!, seeds.first);
  if (claim === undefined) return false;
  for (const [i, level] of parameters.levels.slice(1).entries()) {
    const fields = levels[i + 1]!;
    claim = reduceLevel(lab, level, claim, keys[i]!, rows[i]!, fields, seeds.ordinary[i]!);
  }
  const last = { keys: keys.at(-1)!, rows: rows.at(-1)! };
  return verifyTail(lab, parameters, claim, last.keys, last.rows, tail, seeds.tail, transcript);
}

/** The bounds on the projection of every level and on the last message (11.1). All sums are below 2^53. */
function normsHold({ levels, tail }: Parameters, section: ParsedSection): boolean {
  return (
    levels.every(({ inSq }, i) => isShort(section.levels[i]!.y, inSq)) &&
    isShort(section.tail.y, tail.inSq) &&
    normSq(section.tail.z) + normSq(section.tail.e) <= tail.outSq
  );
}

function normSq(values: Int32Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]! * values[i]!;
  return sum;
}
