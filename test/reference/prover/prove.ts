/** Section 12 of docs/protocol.md: the prover of one section, slow and plain. */
import { hashOfRow } from '../table.ts';
import type { TableRow } from '../tableRow.ts';
import type { Output } from './combine.ts';
import { Context } from './context.ts';
import { concat, u16 } from './encode.ts';
import { proveOrdinary } from './level.ts';
import { proveLevelZero } from './levelZero.ts';
import { readParameters } from './parameters.ts';
import { proveTail } from './tail.ts';
import type { Faults, Trace } from './trace.ts';
import { decodeItem, type Item } from './witness.ts';

export interface ProveOptions {
  readonly set: 'falcon512' | 'falcon1024';
  /** the row of the table to use; its bucket must hold the items */
  readonly row: TableRow;
  /** 32 bytes that are absorbed as the hash of the row; by default they are that */
  readonly rowHash?: Uint8Array;
  /** the header of the container, all bytes before the body */
  readonly header: Uint8Array;
  /** the items of this section, in order */
  readonly items: readonly Item[];
  readonly trace?: Trace;
  readonly faults?: Faults;
}

/**
 * The bytes of a section.
 *
 * @throws RangeError if an item is invalid, if the row does not fit, or if no retry of level 0
 *   leads to a proof
 */
export function proveReference(options: ProveOptions): Uint8Array {
  const { set, row, rowHash = hashOfRow(row), header, items, trace, faults = {} } = options;
  const parameters = readParameters(row);
  const { degree, bucket } = parameters;
  if (set !== `falcon${degree}`) throw new RangeError(`a row of ${degree} for ${set}`);
  if (items.length < 1 || items.length > bucket) throw new RangeError(`${items.length} items`);
  const decoded = items.map((item, index) => decodeItem(item, index, degree, faults.unchecked));

  const context = new Context(trace, faults);
  const logn = degree === 512 ? 9 : 10;
  const start = concat(rowHash, Uint8Array.of(logn), u16(bucket), u16(items.length));
  context.absorb('falconry/proof/v3', start);
  context.absorb('header', header);

  const { st } = context.transcript;
  for (let retry = 0; ; retry++) {
    context.transcript.st = st;
    const zero = context.run(0, () => proveLevelZero(context, parameters, decoded), retry);
    if (zero === undefined) throw new RangeError('level 0 fails with every retry byte');
    const rest = proveRest(context, parameters, zero.result);
    if (rest !== undefined) return concat(...zero.fields, ...rest);
    ({ retry } = zero);
  }
}

/** The fields after level 0; undefined if a level fails with every retry byte. */
function proveRest(
  context: Context,
  { levels, tail }: ReturnType<typeof readParameters>,
  zero: Output,
): Uint8Array[] | undefined {
  const sent: Uint8Array[] = [];
  let output = zero;
  for (const [before, params] of levels.slice(1).entries()) {
    const run = context.run(before + 1, () => proveOrdinary(context, params, output));
    if (run === undefined) return undefined;
    sent.push(...run.fields);
    output = run.result;
  }
  const last = context.run(levels.length, () => proveTail(context, tail, output));
  return last === undefined ? undefined : [...sent, ...last.fields];
}
