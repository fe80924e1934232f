/**
 * The verifier of one section (docs/protocol.md, 13). It accepts or refuses; no bytes make it throw, wait or take more memory than the
 * row of the table needs.
 */
import type { ParameterSet } from '../../falcon/index.ts';
import { decodePublicKey, hashToPoint } from '../../falcon/points.ts';
import { SALT_BYTES } from '../container.ts';
import type { Parameters } from '../parameters/rows.ts';
import type { Statement } from '../statement.ts';
import { bestModule, Labrador, type ModuleName } from '../wasm.ts';
import { type ParsedSection, parseSection } from './parse.ts';
import { reduceLevel } from './reduceLevel.ts';
import { type Item, reduceLevelZero } from './reduceLevelZero.ts';
import { MAX_SECTION_ITEMS, parametersFor } from './shapes.ts';
import { verifyTail } from './tailVerify.ts';
import { type Trace, Transcript } from './transcript.ts';
import { replay } from './verifyReplay.ts';

/** Instances that stand ready for the next call. */
const idle = new Map<ModuleName, Labrador>();
/** An instance that has grown beyond this is not kept. */
const KEPT_BYTES = 64 * 1024 * 1024;

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
  const count = statements.length;
  const parameters = parametersFor(set, count);
  if (parameters === undefined || count > MAX_SECTION_ITEMS) return undefined;
  if (salts.length !== SALT_BYTES * count) return undefined;
  const section = parseSection(parameters, bytes, at);
  if (section === undefined || !normsHold(parameters, section)) return undefined;
  const items = itemsOf(set, statements, salts);
  if (items === undefined) return undefined;

  const lab = idle.get(module) ?? new Labrador(module);
  idle.delete(module);
  try {
    const isProved = judge(lab, parameters, header, items, section, new Transcript(trace));
    if (lab.memoryBytes <= KEPT_BYTES) idle.set(module, lab);
    return isProved ? { end: section.end } : undefined;
  } catch (error) {
    // the instance is not used again
    if (error instanceof WebAssembly.RuntimeError) return undefined;
    throw error;
  }
}

function judge(
  lab: Labrador,
  parameters: Parameters,
  header: Uint8Array,
  items: readonly Item[],
  section: ParsedSection,
  transcript: Transcript,
): boolean {
  const seeds = replay(transcript, parameters, items.length, header, section);
  const { levels, tail } = section;
  let claim = reduceLevelZero(lab, parameters, items, levels[0]!, seeds.first);
  if (claim === undefined) return false;
  for (const [i, level] of parameters.levels.slice(1).entries()) {
    claim = reduceLevel(lab, level, claim, levels[i + 1]!, seeds.ordinary[i]!);
  }
  return verifyTail(lab, parameters, claim, tail, seeds.tail, transcript);
}

/** The bounds on y of every level and on the last message (11.1). All sums are below 2^53. */
function normsHold({ levels, tail }: Parameters, section: ParsedSection): boolean {
  const holds = (y: Int32Array, inSq: number): boolean => normSq(y) <= 144 * inSq;
  return (
    levels.every(({ inSq }, i) => holds(section.levels[i]!.y, inSq)) &&
    holds(section.tail.y, tail.inSq) &&
    normSq(section.tail.z) + normSq(section.tail.e) <= tail.outSq
  );
}

function normSq(values: Int32Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]! * values[i]!;
  return sum;
}

/** Keys and points. @returns undefined if a key is not one of this set */
function itemsOf(
  set: ParameterSet,
  statements: readonly Statement[],
  salts: Uint8Array,
): Item[] | undefined {
  const items: Item[] = [];
  for (const [i, { publicKey, message }] of statements.entries()) {
    const h = decodePublicKey(set, publicKey);
    if (typeof h === 'string') return undefined;
    const salt = salts.subarray(SALT_BYTES * i, SALT_BYTES * (i + 1));
    items.push({ h, c: hashToPoint(set, salt, message) });
  }
  return items;
}
