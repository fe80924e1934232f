/**
 * The verifier of one section (docs/protocol.md, 13). It accepts or rejects. It does not throw or
 * block for any input bytes, and its memory is bounded by the needs of the row of the table.
 */
import type { ParameterSet, Profile } from '../../../falcon/index.ts';
import { SALT_BYTES } from '../../../falcon/salts.ts';
import { type Parameters, readRow, type TableRow } from '../../parameters/rows.ts';
import type { Statement } from '../../statement.ts';
import { bestModule, type Labrador, type ModuleName } from '../../wasm.ts';
import type { Claim } from '../claim.ts';
import { projectionsOf } from '../fields.ts';
import { keepInstance, onInstance, takeInstance } from '../instances.ts';
import { isShortProjection } from '../projection.ts';
import { parametersFor } from '../shapes.ts';
import { type Trace, Transcript } from '../transcript.ts';
import { type FoldedItems, ItemsFolder, type StatedItem } from './foldItems.ts';
import {
  type Folded,
  type FoldInput,
  type FoldJob,
  type FoldPlan,
  type FoldResult,
  foldHere,
  type ItemsInput,
  planFolds,
  type ResultHere,
  shapeOfItems,
} from './folds.ts';
import { type ParsedSection, parseSection } from './parse.ts';
import { reduceLevel } from './reduceLevel.ts';
import { reduceLevelZero } from './reduceLevelZero.ts';
import { reduceTail } from './reduceTail.ts';
import { type RestSeeds, replay, type SectionSeeds } from './replay.ts';

/** The bytes of a section, and the other input of the verifier but for its items. */
export interface SectionBytes {
  readonly set: ParameterSet;
  /** mapping from salt and message to a point; default `round3` */
  readonly profile?: Profile;
  /** all bytes of the container before its body */
  readonly header: Uint8Array;
  readonly bytes: Uint8Array;
  /** offset of the section in the bytes */
  readonly at: number;
  /** the result of `openSection`, which is called if this is omitted */
  readonly opened?: OpenSection;
  /** for tests: a row used instead of that of the table, and the hash to absorb */
  readonly other?: OtherRow;
}

/** A section whose format and norms have been checked. */
export interface OpenedBytes extends SectionBytes {
  readonly opened: OpenSection;
}

/** A section with its items. */
export interface SectionToVerify extends SectionBytes {
  /** the statements of this set, in order */
  readonly statements: readonly Statement[];
  /** 40 bytes per statement */
  readonly salts: Uint8Array;
}

/** A row that is not in the table, and what is absorbed as its hash, by default that. */
export interface OtherRow {
  readonly row: TableRow;
  readonly hash?: Uint8Array;
}

/**
 * Verifies that the bytes from `at` onwards begin with a proof that every statement has a signature
 * with its salt.
 *
 * @returns the end of the section; undefined if it is rejected
 */
export function verifySection(
  section: SectionToVerify,
  { trace, module = bestModule() }: { trace?: Trace | undefined; module?: ModuleName } = {},
): number | undefined {
  const begun = beginWithItems(section, 1, trace);
  if (begun === undefined) return undefined;
  return onInstance(module, (lab) => concludeHere(lab, begun));
}

/**
 * Like `verifySection`, with the parts of the work done elsewhere.
 *
 * @param parts approximate number of parts
 * @param spread does them, in any order; resolves to the results in the order of the jobs
 */
export async function verifySectionIn(
  section: SectionToVerify,
  parts: number,
  spread: (jobs: readonly FoldJob[]) => Promise<readonly FoldResult[]>,
): Promise<number | undefined> {
  const begun = beginWithItems(section, parts);
  if (begun === undefined) return undefined;
  const results = await spread(begun.plan.jobs);
  return onInstance(bestModule(), (lab) => conclude(lab, begun, results));
}

/** A section whose format and norms are valid. */
export interface OpenSection {
  readonly parameters: Parameters;
  readonly section: ParsedSection;
}

/**
 * Checks only the format and the norms of the section of `count` items at `at`, which is cheap.
 *
 * @returns undefined if the section is rejected
 */
export function openSection(
  set: ParameterSet,
  count: number,
  bytes: Uint8Array,
  at: number,
  other?: OtherRow,
): OpenSection | undefined {
  const parameters = other === undefined ? parametersFor(set, count) : readRow(other.row);
  if (parameters === undefined) return undefined;
  const section = parseSection(parameters, bytes, at);
  if (section === undefined || !normsHold(parameters, section)) return undefined;
  return { parameters, section };
}

/** A section with its seeds, and the plan of its folds. */
interface Begun extends OpenSection {
  readonly seeds: SectionSeeds;
  readonly transcript: Transcript;
  readonly input: FoldInput;
  readonly plan: FoldPlan;
}

/** Performs the cheap steps after those of `openSection`. */
function beginSection(
  { set, profile = 'round3', header, other, opened }: OpenedBytes,
  count: number,
  items: readonly StatedItem[] | undefined,
  parts: number,
  trace?: Trace,
): Begun {
  const { parameters, section } = opened;
  const transcript = new Transcript(trace);
  const seeds = replay(transcript, parameters, count, header, section, other?.hash);
  const input: FoldInput = { set, profile, parameters, seeds, count, items };
  return { parameters, section, seeds, transcript, input, plan: planFolds(input, parts) };
}

function beginWithItems(section: SectionToVerify, parts: number, trace?: Trace): Begun | undefined {
  const { set, bytes, at, other, statements, salts } = section;
  const count = statements.length;
  if (salts.length !== SALT_BYTES * count) return undefined;
  const opened = section.opened ?? openSection(set, count, bytes, at, other);
  if (opened === undefined) return undefined;
  return beginSection({ ...section, opened }, count, statedItems(statements, salts), parts, trace);
}

/** Joins statements and their salts, 40 bytes each. */
export const statedItems = (statements: readonly Statement[], salts: Uint8Array): StatedItem[] =>
  statements.map(({ publicKey, message }, i) => {
    const salt = salts.subarray(SALT_BYTES * i, SALT_BYTES * (i + 1));
    return { publicKey, message, salt };
  });

/** An idle instance that is held from call to call. */
export class HeldInstance {
  readonly #module = bestModule();
  readonly lab = takeInstance(this.#module, 'rest');
  readonly #mark = this.lab.kernels.mark();
  #isTrapped = false;

  /** @returns false if the module traps: the verifier must not throw for any bytes */
  guard(body: (lab: Labrador) => boolean): boolean {
    try {
      return body(this.lab);
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** The same for work in parts; yields its progress. */
  *guardParts(parts: (lab: Labrador) => Generator<number, boolean>): Generator<number, boolean> {
    try {
      return yield* parts(this.lab);
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** Frees all allocations. */
  reset(): void {
    this.lab.kernels.reset(this.#mark);
  }

  /** Returns the instance, which is not reused after a trap. */
  close(): void {
    this.reset();
    if (!this.#isTrapped) keepInstance(this.#module, 'rest', this.lab);
  }

  #failed(error: unknown): false {
    this.#isTrapped = true;
    if (error instanceof WebAssembly.RuntimeError) return false;
    throw error;
  }
}

/** Folds the items of a section or a part, which arrive in blocks. */
export function folderOf(lab: Labrador, input: ItemsInput): ItemsFolder {
  const shape = shapeOfItems(input);
  return new ItemsFolder(lab, {
    shape,
    columns: { from: 0, to: shape.level.n },
    seeds: input.seeds.first,
  });
}

/**
 * The sections of a proof, whose items arrive in blocks and are forgotten. Takes an idle instance,
 * which `close` returns.
 */
export class SectionsInBlocks {
  readonly #held = new HeldInstance();
  readonly #sections: { begun: Begun; folder: ItemsFolder; folded: number }[] = [];

  /**
   * @param counts number of items of each section
   * @returns undefined if the module traps
   */
  static open(
    sections: readonly OpenedBytes[],
    counts: readonly number[],
  ): SectionsInBlocks | undefined {
    const all = sections.map((section, i) => beginSection(section, counts[i]!, undefined, 1));
    const opened = new SectionsInBlocks();
    return opened.#start(all) ? opened : undefined;
  }

  #start(sections: readonly Begun[]): boolean {
    return this.#held.guard((lab) => {
      for (const begun of sections) {
        this.#sections.push({ begun, folder: folderOf(lab, begun.input), folded: 0 });
      }
      return true;
    });
  }

  /** Folds the next items of a section; yields the progress. @returns false for a bad key */
  *add(number: number, items: readonly StatedItem[]): Generator<number, boolean> {
    const section = this.#sections[number]!;
    const from = section.folded;
    section.folded += items.length;
    return yield* this.#held.guardParts(() =>
      section.folder.add({ from, to: section.folded }, items),
    );
  }

  /** Returns whether all sections are proved, after all items. */
  conclude(): boolean {
    return this.#held.guard((lab) =>
      this.#sections.every(
        ({ begun, folder }) => concludeHere(lab, begun, folder.finish()) !== undefined,
      ),
    );
  }

  close(): void {
    this.#held.close();
  }
}

/** Does all jobs of a section, and concludes. */
const concludeHere = (lab: Labrador, begun: Begun, ofBlocks?: FoldedItems): number | undefined =>
  lab.scope(() => {
    const results = begun.plan.jobs.map((job) => foldHere(lab, job));
    return conclude(lab, begun, results, ofBlocks);
  });

/** @returns the end of the section; undefined if it is rejected */
function conclude(
  lab: Labrador,
  begun: Begun,
  results: readonly ResultHere[],
  ofBlocks?: FoldedItems,
): number | undefined {
  const { parameters, section, seeds, plan } = begun;
  const folded = plan.assemble(results, ofBlocks);
  if (folded === undefined) return undefined;
  const [zero] = section.levels;
  const claim = reduceLevelZero(lab, parameters, folded.items, zero!, seeds.first);
  if (claim === undefined) return undefined;
  return reduceRest(lab, begun, [claim], folded.rows) ? section.end : undefined;
}

/** What the levels after the first need, but for the claims of the first and the folds. */
export interface RestToReduce {
  readonly parameters: Parameters;
  readonly section: ParsedSection;
  readonly seeds: RestSeeds;
  readonly transcript: Transcript;
}

/**
 * Reduces level by level down to the tail.
 *
 * @param first the claim of level 0, or those of all parts
 */
export function reduceRest(
  lab: Labrador,
  { parameters, section, seeds, transcript }: RestToReduce,
  first: readonly Claim[],
  rows: Folded['rows'],
): boolean {
  const { levels, tail } = section;
  let claims = first;
  for (const [i, level] of parameters.levels.slice(1).entries()) {
    const fields = levels[i + 1]!;
    claims = [reduceLevel(lab, level, claims, rows[i]!, fields, seeds.ordinary[i]!)];
  }
  const last = rows.at(-1)!;
  return reduceTail(lab, parameters, claims[0]!, last, tail, seeds.tail, transcript);
}

/**
 * Checks the bounds on the projections of all levels, on those of x alone, and on the last message
 * (11.1), in numbers: the sum of the last message is below 2^53.
 */
export function normsHold({ levels, tail }: Parameters, section: ParsedSection): boolean {
  return (
    [...levels, tail].every(({ inSq, ofX }, i) =>
      projectionsOf(section.levels[i] ?? section.tail).every(
        ({ y, yOfX }) =>
          isShortProjection(y, inSq) && (yOfX === undefined || isShortProjection(yOfX, ofX!.inSq)),
      ),
    ) && normSqOf(section.tail.z) + normSqOf(section.tail.e) <= tail.outSq
  );
}

function normSqOf(values: Int32Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]! * values[i]!;
  return sum;
}
