/** The prover of one section (docs/protocol.md, 12). */

import type { ParameterSet, Profile } from '../../../falcon/index.ts';
import { concat } from '../../../shared/bytes.ts';
import { CodedError } from '../../../shared/errors.ts';
import type { HostSignal } from '../../../shared/hostTypes.ts';
import {
  type OrdinaryLevel,
  type Parameters,
  readRow,
  type TableRow,
} from '../../parameters/rows.ts';
import { bestModule, type Labrador } from '../../wasm.ts';
import { keepInstance, takeInstance } from '../instances.ts';
import { outersOf, parametersFor } from '../shapes.ts';
import { ABSORB, dataOfStart, type Trace } from '../transcript.ts';
import { ColumnProvers, type Helper } from './columnProvers.ts';
import { Context, type ProveProgress, type ShownLevel } from './context.ts';
import { encodeOrdinary, encodeTail } from './encode.ts';
import { KeyStore } from './keyStore.ts';
import { inputOf, proveLevel } from './level.ts';
import { proveLevelZero } from './levelZero.ts';
import { digitsOf, type Output, type ProvedLevel } from './output.ts';
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
  const { levels, tail, bucket, width } = parameters;
  const level = levels[0]!;
  const lab = takeInstance(bestModule(), 'rest');
  const provers = new ColumnProvers(options.helpers ?? []);
  const weights = [...levels, tail].map(({ r, n }) => r * n);
  const start = lab.kernels.mark();
  const context = new Context(lab, provers, storeFor(lab, parameters), weights, options);
  await context.pause('commit');
  context.absorb(ABSORB.start, dataOfStart(parameters, count, other?.hash));
  context.absorb(ABSORB.header, header);

  const shape = { set, profile: options.profile ?? 'round3', level, bucket, width, count };
  const { st } = context.transcript;
  const mark = lab.kernels.mark();
  for (let retry = 0; ; retry++) {
    context.transcript.st = st;
    lab.kernels.reset(mark);
    const prove = () => proveLevelZero(context, parameters, shape, items);
    const zero = await runLevel(context, 0, level, prove, retry);
    if (zero === undefined) return undefined;
    const rest = await proveRest(context, parameters, zero.output);
    if (rest !== undefined) {
      context.finish();
      options.onMemory?.(lab.peakBytes + provers.memoryBytes, provers.size);
      lab.kernels.reset(start);
      keepInstance(bestModule(), 'rest', lab);
      provers.close();
      return concat(zero.bytes, ...rest);
    }
    ({ retry } = zero);
  }
}

/** Allocates room for the keys of all outer commitments and of the tail. */
function storeFor(lab: Labrador, { levels, tail }: Parameters): KeyStore {
  const outers = levels.flatMap((level, number) => outersOf(level, number));
  const digits = levels.flatMap(({ messages }) => messages.map(digitsOf));
  const rows = Math.max(...levels.map(({ kappa1, k }) => Math.max(kappa1, k)), tail.kappa);
  const columns = Math.max(...outers.map(({ count }) => count), ...digits, tail.n);
  return new KeyStore(lab, rows, columns);
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
 * Proves the levels after the first.
 *
 * @returns their bytes; undefined if one fails with every retry byte
 */
async function proveRest(
  context: Context,
  { levels, tail }: Parameters,
  zero: Output,
): Promise<Uint8Array[] | undefined> {
  const sent: Uint8Array[] = [];
  let output = zero;
  for (const [before, level] of levels.slice(1).entries()) {
    const previous = output;
    const prove = () => proveLevel(context, level, inputOf(previous));
    const run = await runLevel(context, before + 1, level, prove);
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
