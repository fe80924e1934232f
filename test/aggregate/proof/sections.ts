/** Sections to judge, from the slow or the fast prover, with all that the verifier is told. */
import {
  type Parameters as RowParameters,
  readRow,
  type TableRow,
} from '../../../src/aggregate/parameters/rows.ts';
import { TABLE } from '../../../src/aggregate/parameters/table.gen.ts';
import {
  type CodedRun,
  runsOfG,
  runsOfLast,
  runsOfY,
} from '../../../src/aggregate/proof/gaussianFields.ts';
import { proveSection } from '../../../src/aggregate/proof/index.ts';
import { encodeOrdinary, encodeTail } from '../../../src/aggregate/proof/prover/encode.ts';
import { encodeGaussian } from '../../../src/aggregate/proof/prover/gaussian.ts';
import { quarterBytes } from '../../../src/aggregate/proof/quarters.ts';
import type { Trace } from '../../../src/aggregate/proof/transcript.ts';
import { type ParsedSection, parseSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { type OtherRow, verifySection } from '../../../src/aggregate/proof/verifier/verify.ts';
import type { ModuleName } from '../../../src/aggregate/wasm.ts';
import { concat } from '../../../src/shared/bytes.ts';
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

export const saltsOf = (items: readonly SignedItem[]): Uint8Array =>
  concat(...items.map(({ signature }) => signature.subarray(1, 41)));

export function rowOf(set: SetName, bucket: number): TableRow {
  const degree = set === 'falcon512' ? 512 : 1024;
  return TABLE.find(([of, most]) => of === degree && most >= bucket)!;
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
    rowHash: readRow(rowOf(set, count)).rowHash,
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
  changes: Partial<Section> & {
    at?: number;
    trace?: Trace;
    module?: ModuleName;
    other?: OtherRow;
  } = {},
): number | undefined {
  const { at = 0, trace, module, ...others } = changes;
  const { items: statements, ...use } = { set, header, items, salts, bytes, ...others };
  return verifySection({ ...use, statements, at }, { trace, ...(module && { module }) });
}

interface Projected {
  readonly y: Int32Array;
  readonly yOfX?: Int32Array;
}

/** The fields of a section as bytes, level by level; undefined where a value has no code. */
export function encodedLevels(
  { levels, tail }: RowParameters,
  section: Pick<ParsedSection, 'levels' | 'tail'>,
): (Uint8Array | undefined)[] {
  return [
    ...levels.map((level, i) => encodeOrdinary(level, section.levels[i]!)),
    encodeTail(tail, section.tail),
  ];
}

export interface FieldPlace {
  readonly name: string;
  readonly at: number;
  readonly length: number;
}

/** Where every field stands, by the fields that parsing gives; the tail is the last level. */
export function placesIn(parameters: RowParameters, parsed: ParsedSection) {
  const { levels, tail } = parameters;
  const places: (FieldPlace & { readonly level: number })[] = [];
  let [level, at] = [0, 0];
  const fixed = (name: string, length: number) => {
    places.push({ name, level, at, length });
    at += length;
  };
  const coded = (name: string, values: ArrayLike<number>, runs: readonly CodedRun[]) =>
    fixed(name, encodeGaussian(values, runs)!.length);
  const projections = ({ y, yOfX }: Projected, codeY: number): void => {
    coded('y', y.subarray(0, PROJECTIONS), runsOfY(codeY));
    fixed('sums', 8);
    if (yOfX === undefined) return;
    coded('y of x', yOfX.subarray(0, PROJECTIONS), runsOfY(levels[level - 1]!.codeX));
    fixed('sums of x', 8);
  };
  for (const { codeY, w: bits, k } of levels) {
    const fields = parsed.levels[level]!;
    const { first, w, b, second } = fields;
    const u = bits === 0 ? 'u' : 'p';
    fixed('retry', 1);
    for (const bytes of first) fixed(u, bytes.length);
    fixed('counter', 1);
    projections(fields, codeY);
    if (w.length > 0) fixed('w', 4 * w.length);
    const ofLifts = bits === 0 ? b.length : quarterBytes(k);
    fixed(bits === 0 ? 'b' : 'p of b', ofLifts);
    if (ofLifts < b.length) fixed('b32', b.length - ofLifts);
    fixed(`${u}2`, second.length);
    level += 1;
  }
  const { t, g, b, h, z, e } = parsed.tail;
  fixed('retry', 1);
  fixed('t', t.length);
  coded('g', g, runsOfG(tail));
  fixed('seal of t', 32);
  fixed('counter', 1);
  projections(parsed.tail, tail.codeY);
  fixed('b', b.length);
  fixed('h', h.length);
  fixed('seal of h', 32);
  coded('ze', [...z, ...e], runsOfLast(tail));
  return places;
}

/** The fields of a section over a row of the table. */
export function fieldsOf({ set, items, bytes }: Section): FieldPlace[] {
  const parameters = readRow(rowOf(set, items.length));
  const places = placesIn(parameters, parseSection(parameters, bytes, 0)!);
  return places.map(({ name, level, at, length }) => {
    const of = level === parameters.levels.length ? 'tail' : level;
    return { name: `${of} ${name}`, at, length };
  });
}

/** What a generator returns. */
export function finished<T>(parts: Iterator<unknown, T>): T {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}
