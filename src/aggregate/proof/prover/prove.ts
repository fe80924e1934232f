/** The prover of one section (docs/protocol.md, 12). */

import type { ParameterSet, Profile } from '../../../falcon/index.ts';
import { concat } from '../../../shared/bytes.ts';
import { CodedError } from '../../../shared/errors.ts';
import type { HostSignal } from '../../../shared/hostTypes.ts';
import {
  type MergedParameters,
  type OrdinaryLevel,
  type Parameters,
  readRow,
  type TableRow,
} from '../../parameters/rows.ts';
import { bestModule } from '../../wasm.ts';
import { LAST_RETRY } from '../constants.ts';
import { keepInstance, takeInstance } from '../instances.ts';
import type { ItemsShape } from '../itemColumns.ts';
import { parametersFor } from '../shapes.ts';
import { ABSORB, dataOfMerge, dataOfPart, dataOfStart, type Trace } from '../transcript.ts';
import { ColumnProvers, type Helper } from './columnProvers.ts';
import { Context, type ProveProgress, type ShownLevel } from './context.ts';
import { encodeOrdinary, encodeTail } from './encode.ts';
import { inputOf, proveLevel } from './level.ts';
import { keySizes, proveLevelZero } from './levelZero.ts';
import { type Output, type ProvedLevel, type Proving, storeFor } from './output.ts';
import { inputOfParts, type PartOutput } from './partInput.ts';
import { proveTail } from './tail.ts';
import type { SectionItem } from './witness.ts';

export type { ProveProgress, SectionItem };

export interface ProveOptions {
  /** The mapping from salt and message to a point; default `round3`. */
  readonly profile?: Profile;
  /** Called occasionally; an exception rejects the promise. */
  readonly onProgress?: (progress: ProveProgress) => void;
  /** Stops the work: the promise is rejected with `ABORTED`. */
  readonly signal?: HostSignal;
  /** Receives the transcript, including failed attempts. */
  readonly trace?: Trace;
  /** Column provers in other threads. */
  readonly helpers?: readonly Helper[];
  /** A row that is not in the table, and what is absorbed as its hash, by default that. */
  readonly other?: { readonly row: TableRow; readonly hash?: Uint8Array };
  /** Called with every successful level on completion, before its memory is reused. */
  readonly inspect?: (level: ShownLevel) => void;
  /** Called with the peak bytes of the modules' memories, and the number of threads. */
  readonly onMemory?: (bytes: number, threads: number) => void;
}

/**
 * Proves the items of one set, which must have been verified. Regularly yields to other work of the
 * thread.
 *
 * @param header all bytes of the container before its body
 * @returns the bytes of the section, always the same for the same arguments; undefined if every
 *   retry of level 0 fails or leads to a level that fails
 * @throws CodedError `ABORTED`, `OUT_OF_MEMORY`, `INTERNAL`
 */
export async function proveSection(
  set: ParameterSet,
  header: Uint8Array,
  items: readonly SectionItem[],
  options: ProveOptions = {},
): Promise<Uint8Array | undefined> {
  const count = items.length;
  const { other } = options;
  const parameters = other === undefined ? parametersFor(set, count) : readRow(other.row);
  if (parameters === undefined) {
    throw new CodedError('INTERNAL', { cause: new RangeError(`${count} items`) });
  }
  return proveWith(parameters, options, async (context) => {
    await context.pause('commit');
    context.absorb(ABSORB.start, dataOfStart(parameters, count, other?.hash));
    context.absorb(ABSORB.header, header);
    const shape = shapeOf(set, parameters, count, options);
    const prove = () => proveLevelZero(context, parameters, shape, items);
    const sent = await proveFrom(context, parameters, 0, prove);
    return sent && concat(...sent);
  });
}

/** Level 0 of a part of a merged proof (docs/merged.md, 1.2). */
export interface ProvedPart {
  /** its fields as bytes */
  readonly fields: Uint8Array;
  /** z_0, ..., z_(f-1), v: 64 coefficients of each polynomial */
  readonly output: Int16Array<ArrayBuffer>;
}

/**
 * Proves level 0 of the items of a part, like `proveSection`.
 *
 * @param parameters of any merged row with its part row
 * @param header as absorbed (docs/merged.md, 1.2)
 * @returns undefined if every retry fails
 * @throws CodedError as `proveSection`
 */
export function provePart(
  set: ParameterSet,
  parameters: MergedParameters,
  header: Uint8Array,
  items: readonly SectionItem[],
  options: ProveOptions = {},
): Promise<ProvedPart | undefined> {
  const own = { ...parameters, levels: parameters.levels.slice(0, 1), tail: undefined };
  return proveWith(own, options, async (context) => {
    await context.pause('commit');
    context.absorb(ABSORB.part, dataOfPart(parameters, items.length));
    context.absorb(ABSORB.header, header);
    const shape = shapeOf(set, parameters, items.length, options);
    const prove = () => proveLevelZero(context, own, shape, items);
    const zero = await runLevel(context, 0, shape.level, prove);
    if (zero === undefined) return undefined;
    return { fields: zero.bytes, output: context.lab.i16(zero.output.parts).slice() };
  });
}

/**
 * Proves the levels that parts share, which must have been checked.
 *
 * @returns the bytes after the fields of the parts; undefined if every attempt fails
 * @throws CodedError as `proveSection`
 */
export function proveMerge(
  parameters: MergedParameters,
  parts: readonly PartOutput[],
  options: ProveOptions = {},
): Promise<Uint8Array | undefined> {
  const states = parts.map(({ st }) => st);
  return proveWith(parameters, options, async (context) => {
    const { lab, transcript } = context;
    await context.pause('commit');
    const input = inputOfParts(lab, context.keys, parameters, parts);
    const keys = keySizes(parameters.levels.slice(1));
    const mark = lab.kernels.mark();
    const start = transcript.st;
    for (let attempt = 0; attempt <= LAST_RETRY; attempt++) {
      transcript.st = start;
      lab.kernels.reset(mark);
      context.absorb(ABSORB.merge, dataOfMerge(parameters, attempt, states));
      const prove = () => proveLevel(context, parameters.levels[1]!, input, keys);
      const sent = await proveFrom(context, parameters, 1, prove);
      if (sent !== undefined) return concat(Uint8Array.of(attempt), ...sent);
    }
    return undefined;
  });
}

const shapeOf = (
  set: ParameterSet,
  { levels, bucket, width }: Parameters,
  count: number,
  { profile = 'round3' }: ProveOptions,
): ItemsShape => ({ set, profile, level: levels[0]!, bucket, width, count });

/** Runs `body` with an idle instance and the column provers, which are released if it succeeds. */
async function proveWith<T>(
  { levels, tail }: Proving,
  options: ProveOptions,
  body: (context: Context) => Promise<T | undefined>,
): Promise<T | undefined> {
  const lab = takeInstance(bestModule(), 'rest');
  const provers = new ColumnProvers(options.helpers ?? []);
  const weights = [...levels, ...(tail ? [tail] : [])].map(({ r, n }) => r * n);
  const start = lab.kernels.mark();
  const context = new Context(lab, provers, storeFor(lab, { levels, tail }), weights, options);
  const result = await body(context);
  if (result === undefined) return undefined;
  context.finish();
  options.onMemory?.(lab.peakBytes + provers.memoryBytes, provers.size);
  lab.kernels.reset(start);
  keepInstance(bestModule(), 'rest', lab);
  provers.close();
  return result;
}

/**
 * Proves a level and all after it, with the retry bytes of that level in turn.
 *
 * @returns the bytes of every level; undefined if every retry of the first one fails or leads to a
 *   level that fails
 */
async function proveFrom(
  context: Context,
  parameters: Parameters,
  number: number,
  prove: () => Promise<ProvedLevel>,
): Promise<Uint8Array[] | undefined> {
  const { st } = context.transcript;
  const mark = context.lab.kernels.mark();
  const level = parameters.levels[number]!;
  for (let retry = 0; ; retry++) {
    context.transcript.st = st;
    context.lab.kernels.reset(mark);
    const first = await runLevel(context, number, level, prove, retry);
    if (first === undefined) return undefined;
    const rest = await proveBehind(context, parameters, number, first.output);
    if (rest !== undefined) return [first.bytes, ...rest];
    ({ retry } = first);
  }
}

/** A completed level, with the bytes of its fields. */
interface RunLevel {
  readonly output: Output;
  readonly bytes: Uint8Array;
  readonly retry: number;
}

/**
 * Runs an ordinary level. @returns undefined if it fails with every retry byte from `from` onwards
 */
function runLevel(
  context: Context,
  number: number,
  level: OrdinaryLevel,
  prove: () => Promise<ProvedLevel>,
  from = 0,
): Promise<RunLevel | undefined> {
  const attempt = async (retry: number): Promise<RunLevel> => {
    const { output, fields } = await prove();
    const bytes = encodeOrdinary(level, { retry, ...fields }) ?? context.fail('code');
    return { output, bytes, retry };
  };
  return context.run(number, attempt, from);
}

/**
 * Proves the levels after level `number`.
 *
 * @returns their bytes; undefined if one fails with every retry byte
 */
async function proveBehind(
  context: Context,
  { levels, tail }: Parameters,
  number: number,
  first: Output,
): Promise<Uint8Array[] | undefined> {
  const sent: Uint8Array[] = [];
  let output = first;
  for (let i = number + 1; i < levels.length; i++) {
    const level = levels[i]!;
    const previous = output;
    const prove = () => proveLevel(context, level, inputOf(previous));
    const run = await runLevel(context, i, level, prove);
    if (run === undefined) return undefined;
    sent.push(run.bytes);
    output = run.output;
  }
  const last = await context.run(levels.length, async (retry) => {
    const fields = await proveTail(context, tail, output);
    return encodeTail(tail, { retry, ...fields }) ?? context.fail('code');
  });
  return last === undefined ? undefined : [...sent, last];
}
