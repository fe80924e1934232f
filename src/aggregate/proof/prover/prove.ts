/** The prover of one section (docs/protocol.md, 12). */
import { concat, fromHex } from '../../../bytes.ts';
import { CodedError } from '../../../errors.ts';
import type { ParameterSet } from '../../../falcon/index.ts';
import type { Parameters } from '../../parameters/rows.ts';
import { TABLE_SHA256 } from '../../parameters/table.ts';
import { bestModule } from '../../wasm.ts';
import { keepInstance, takeInstance } from '../instances.ts';
import { ABSORB } from '../labels.ts';
import { degreeOf, parametersFor } from '../shapes.ts';
import type { Trace } from '../transcript.ts';
import { type Helper, Team } from './columnProvers.ts';
import { Context, type ProveProgress } from './context.ts';
import { proveOrdinary } from './level.ts';
import { proveLevelZero } from './levelZero.ts';
import type { Output } from './output.ts';
import { proveTail } from './tail.ts';
import type { SectionItem } from './witness.ts';

export type { ProveProgress, SectionItem };

export interface ProveOptions {
  /** Called now and then; what it throws rejects the promise. */
  readonly onProgress?: (progress: ProveProgress) => void;
  /** Stops the work: the promise is rejected with `ABORTED`. */
  readonly signal?: AbortSignal;
  /** Sees the transcript, failed attempts included. */
  readonly trace?: Trace;
  /** Other threads that take shares of the work. */
  readonly helpers?: readonly Helper[];
  /** Peak bytes of the modules' memories, and in how many threads. */
  readonly onMemory?: (bytes: number, threads: number) => void;
}

/** What binds a section to its parameters: the first data that its transcript takes in. */
export function startOf(set: ParameterSet, { bucket }: Parameters, count: number): Uint8Array {
  const u16 = (x: number): Uint8Array => Uint8Array.of(x & 255, x >> 8);
  const logn = degreeOf(set) === 512 ? 9 : 10;
  return concat(fromHex(TABLE_SHA256), Uint8Array.of(logn), u16(bucket), u16(count));
}

/**
 * Proves the items of one set, which have been verified before. Gives other work of the thread its turn now and then.
 *
 * @param header all bytes of the container before its body
 * @returns the bytes of the section, the same for the same arguments; undefined if every retry of level 0 fails or leads to a level that fails
 * @throws CodedError `ABORTED`, `OUT_OF_MEMORY`, `INTERNAL`
 */
export async function proveSection(
  set: ParameterSet,
  header: Uint8Array,
  items: readonly SectionItem[],
  options: ProveOptions = {},
): Promise<Uint8Array | undefined> {
  const parameters = parametersFor(set, items.length);
  if (parameters === undefined) {
    throw new CodedError('INTERNAL', { cause: new RangeError(`${items.length} items`) });
  }
  const { levels, tail } = parameters;
  const lab = takeInstance(bestModule(), 'rest');
  const team = new Team(options.helpers ?? []);
  const context = new Context(
    lab,
    team,
    [...levels, tail].map(({ r, n }) => r * n),
    options,
  );
  await context.pause('commit');
  context.absorb(ABSORB.start, startOf(set, parameters, items.length));
  context.absorb(ABSORB.header, header);

  const { st } = context.transcript;
  const mark = lab.kernels.mark();
  for (let retry = 0; ; retry++) {
    context.transcript.st = st;
    lab.kernels.reset(mark);
    const zero = await context.run(0, () => proveLevelZero(context, set, parameters, items), retry);
    if (zero === undefined) return undefined;
    const rest = await proveRest(context, parameters, zero.result);
    if (rest !== undefined) {
      context.finish();
      options.onMemory?.(lab.peakBytes + team.memoryBytes, team.size);
      lab.kernels.reset(mark);
      keepInstance(bestModule(), 'rest', lab);
      team.close();
      return concat(...zero.fields, ...rest);
    }
    ({ retry } = zero);
  }
}

/** The levels after the first. @returns their fields; undefined if one fails with every retry byte */
async function proveRest(
  context: Context,
  { levels, tail }: Parameters,
  zero: Output,
): Promise<Uint8Array[] | undefined> {
  const sent: Uint8Array[] = [];
  let output = zero;
  for (const [before, params] of levels.slice(1).entries()) {
    const previous = output;
    const run = await context.run(before + 1, () => proveOrdinary(context, params, previous));
    if (run === undefined) return undefined;
    sent.push(...run.fields);
    output = run.result;
  }
  const last = await context.run(levels.length, () => proveTail(context, tail, output));
  return last === undefined ? undefined : [...sent, ...last.fields];
}
