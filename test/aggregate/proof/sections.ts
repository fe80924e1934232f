/**
 * Sections to judge: from the slow prover, or from the fast one, with all that the verifier is told
 * about them.
 */

import { readRow, type TableRow } from '../../../src/aggregate/parameters/rows.ts';
import { TABLE, TABLE_SHA256 } from '../../../src/aggregate/parameters/table.gen.ts';
import {
  type CodedRun,
  runsOfG,
  runsOfLast,
  runsOfY,
} from '../../../src/aggregate/proof/gaussianFields.ts';
import { proveSection } from '../../../src/aggregate/proof/index.ts';
import { encodeGaussian } from '../../../src/aggregate/proof/prover/gaussian.ts';
import type { Trace } from '../../../src/aggregate/proof/transcript.ts';
import { parseSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { verifySection } from '../../../src/aggregate/proof/verifier/verify.ts';
import type { ModuleName } from '../../../src/aggregate/wasm.ts';
import { concat } from '../../../src/bytes.ts';
import { headerOf, type SetName, type SignedItem, signedItems } from '../../reference/items.ts';
import { proveReference } from '../../reference/prover/prove.ts';
import type { Faults, TraceEvent } from '../../reference/prover/trace.ts';

export interface Section {
  readonly set: SetName;
  readonly header: Uint8Array;
  readonly items: readonly Pick<SignedItem, 'publicKey' | 'message'>[];
  readonly salts: Uint8Array;
  readonly bytes: Uint8Array;
}

/** Values of a projection that are sent as codes; U and V stand behind them. */
export const PROJECTIONS = 272;
export const TABLE_HASH = new Uint8Array(Buffer.from(TABLE_SHA256, 'hex'));

export const saltsOf = (items: readonly SignedItem[]): Uint8Array =>
  concat(...items.map(({ signature }) => signature.subarray(1, 41)));

export function rowOf(set: SetName, bucket: number): TableRow {
  const degree = set === 'falcon512' ? 512 : 1024;
  return TABLE.find(([of, most]) => of === degree && most >= bucket)!;
}

const isRetry = (event: TraceEvent): boolean => event.kind === 'absorb' && event.label === 'retry';

/** The events of a prover without those of the attempts that failed. */
export function withoutFailures(events: readonly TraceEvent[]): TraceEvent[] {
  const kept: TraceEvent[] = [];
  for (const event of events) {
    if (event.kind === 'failure') kept.length = kept.findLastIndex(isRetry);
    else kept.push(event);
  }
  return kept;
}

/** A section by the slow prover, and what it showed of itself. */
export function referenceSection(
  set: SetName,
  count: number,
  row = rowOf(set, count),
  faults: Faults = {},
): { section: Section; events: TraceEvent[] } {
  const items = signedItems(set, count);
  const header = headerOf(items);
  const events: TraceEvent[] = [];
  const bytes = proveReference({
    set,
    row: row as Parameters<typeof proveReference>[0]['row'],
    tableHash: TABLE_HASH,
    header,
    items,
    faults,
    trace: (event) => events.push(event),
  });
  return { section: { set, header, items, salts: saltsOf(items), bytes }, events };
}

/** A section by the fast prover. */
export async function fastSection(
  set: SetName,
  count: number,
  all: readonly SignedItem[] = signedItems(set, count),
): Promise<Section> {
  const items = all.filter((item) => item.set === set);
  const header = headerOf(all);
  const bytes = await proveSection(set, header, items);
  if (bytes === undefined) throw new Error('no proof');
  return { set, header, items, salts: saltsOf(items), bytes };
}

/** Where the section ends, or undefined when it is refused. */
export function judge(
  { set, header, items, salts, bytes }: Section,
  changes: Partial<Section> & { at?: number; trace?: Trace; module?: ModuleName } = {},
): number | undefined {
  const { at = 0, trace, module, ...others } = changes;
  const { items: statements, ...use } = { set, header, items, salts, bytes, ...others };
  return verifySection({ ...use, statements, at }, { trace, ...(module && { module }) });
}

export interface FieldPlace {
  readonly name: string;
  readonly at: number;
  readonly length: number;
}

/** Where every field of a section stands, by the fields that parsing gives. */
export function fieldsOf({ set, items, bytes }: Section): FieldPlace[] {
  const parameters = readRow(rowOf(set, items.length));
  const parsed = parseSection(parameters, bytes, 0)!;
  const places: FieldPlace[] = [];
  const end = () => (places.length === 0 ? 0 : places.at(-1)!.at + places.at(-1)!.length);
  const fixed = (name: string, length: number) => places.push({ name, at: end(), length });
  const coded = (name: string, values: ArrayLike<number>, runs: readonly CodedRun[]) =>
    fixed(name, encodeGaussian(values, runs)!.length);
  for (const [i, level] of parameters.levels.entries()) {
    const { first, y, w, b, second } = parsed.levels[i]!;
    fixed(`${i} retry`, 1);
    for (const u of first) fixed(`${i} u`, u.length);
    fixed(`${i} counter`, 1);
    coded(`${i} y`, y.subarray(0, PROJECTIONS), runsOfY(level.codeY));
    fixed(`${i} sums`, 8);
    if (w.length > 0) fixed(`${i} w`, 4 * w.length);
    fixed(`${i} b`, b.length);
    fixed(`${i} u2`, second.length);
  }
  const { tail } = parameters;
  const { t, g, y, b, h, z, e } = parsed.tail;
  fixed('tail retry', 1);
  fixed('tail t', t.length);
  coded('tail g', g, runsOfG(tail));
  fixed('tail seal of t', 32);
  fixed('tail counter', 1);
  coded('tail y', y.subarray(0, PROJECTIONS), runsOfY(tail.codeY));
  fixed('tail sums', 8);
  fixed('tail b', b.length);
  fixed('tail h', h.length);
  fixed('tail seal of h', 32);
  coded('tail ze', [...z, ...e], runsOfLast(tail));
  return places;
}
