/**
 * The order of the transcript (docs/protocol.md, 4): one bit of anything that is absorbed changes
 * every later seed and no earlier one, in the library and in both references.
 */
import { expect, test } from 'vitest';
import { readRow, type TableRow } from '../../../src/aggregate/parameters/rows.ts';
import { type CodedRun, runsOfG, runsOfY } from '../../../src/aggregate/proof/gaussianFields.ts';
import { encodeGaussian } from '../../../src/aggregate/proof/prover/gaussian.ts';
import { Transcript } from '../../../src/aggregate/proof/transcript.ts';
import { parseSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { replay } from '../../../src/aggregate/proof/verifier/replay.ts';
import { concat } from '../../../src/shared/bytes.ts';
import * as ROWS from '../../reference/hiddenRows.ts';
import { stepsOf } from '../../reference/prover/runs.ts';
import type { FaultValues, TraceEvent } from '../../reference/prover/trace.ts';
import { ALL_CHECKS } from '../../reference/verifier/checks.ts';
import { parseSection as parseSlowly } from '../../reference/verifier/parse.ts';
import { replay as replaySlowly } from '../../reference/verifier/replay.ts';
import { shapesOf } from '../../reference/verifier/shapes.ts';
import { hex } from '../../support/hex.ts';
import { IN_LONG, IN_SHORT, LONG } from '../adversary/hidden.ts';
import { BEHIND_ZERO } from '../adversary/rows.ts';
import { toyProof } from '../reference/toyProofs.ts';
import { type Field, fieldsOf, flipped, openedOf, type Section, sectionOf } from './judged.ts';

/** A seed by its place, such as `1 lift`. */
type Seeds = readonly string[];

/** Names of all seeds of a row, in order. */
function namesOf(row: TableRow): string[] {
  const rest = ['jl', 'lift', 'combine', 'amortise'];
  return row[2].flatMap((_, level) =>
    [...(level === 0 ? ['alpha', 'rho'] : []), ...rest].map((label) => `${level} ${label}`),
  );
}

/** What is absorbed before the first seed that depends on it, at level 0 and at others. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  alpha: ['retry', 'A'],
  rho: ['B'],
  jl: ['counter', '1', 't', 'g', 'seal 0'],
  lift: ['y', 'U', 'V', 'w', 'y of x', 'U of x', 'V of x'],
  combine: ['b', 'b_32'],
  amortise: ['2', 'h', 'seal 1'],
};
function firstSeed(item: string, level: number): string {
  const found = Object.entries(FIRST).find(([, items]) => items.includes(item));
  if (found === undefined) throw new RangeError(item);
  const [label] = found;
  return `${level} ${label === 'alpha' && level > 0 ? 'jl' : label}`;
}

/** The seeds of the changed transcript differ from the first one on that may. */
function expectChange(row: TableRow, honest: Seeds, changed: Seeds, first: string, name: string) {
  const names = namesOf(row);
  expect(names).toContain(first);
  expect(honest).toHaveLength(names.length);
  const differ = names.filter((_, i) => honest[i] !== changed[i]);
  expect(differ, name).toEqual(names.slice(names.indexOf(first)));
}

/** An item of a proof: a field, or a part of one. */
interface Item {
  readonly name: string;
  readonly level: number;
  /** the proof with one bit of it changed, and its other bits as they were */
  readonly bytes: Uint8Array;
}

/** Every item of a proof that is absorbed. */
function itemsOf(section: Section): Item[] {
  const { parameters, section: parsed } = openedOf(section)!;
  const { levels, tail } = parameters;
  const counts = new Map<string, number>();
  const items: Item[] = [];
  const bit = (name: string, { level, at }: Field, offset: number, mask = 1) => {
    const bytes = section.bytes.slice();
    bytes[at + offset]! ^= mask;
    items.push({ name, level, bytes });
  };
  /** Other codes may have other lengths. */
  const coded = (
    name: string,
    field: Field,
    values: ArrayLike<number>,
    runs: readonly CodedRun[],
  ) => {
    const list = Array.from(values);
    const last = list.length - 1;
    for (const i of [0, last]) {
      const code = encodeGaussian(list.with(i, list[i]! ^ 1), runs)!;
      const [before, after] = [
        section.bytes.subarray(0, field.at),
        section.bytes.subarray(field.at + field.length),
      ];
      items.push({ name, level: field.level, bytes: concat(before, code, after) });
    }
  };
  for (const field of fieldsOf(section)) {
    const { name, level, length } = field;
    const number = counts.get(`${level} ${name}`) ?? 0;
    counts.set(`${level} ${name}`, number + 1);
    const { y, yOfX } = parsed.levels[level] ?? parsed.tail;
    const code = (levels[level] ?? tail).codeY;
    if (name === 'p' || name === 'u') {
      const messages = level === 0 ? ['A', 'B', 'b', '2'] : ['1', 'b', '2'];
      const own = messages.filter((message) => name === 'p' || message !== 'b')[number]!;
      for (const offset of [0, length - 1]) bit(own, field, offset);
    } else if (name === 'y') coded(name, field, y.subarray(0, 272), runsOfY(code));
    else if (name === 'y of x') {
      coded(name, field, yOfX!.subarray(0, 272), runsOfY(levels[level - 1]!.codeX));
    } else if (name.startsWith('sums of y')) {
      const suffix = name.endsWith('x') ? ' of x' : '';
      bit(`U${suffix}`, field, 3, 0x80);
      bit(`V${suffix}`, field, 4);
    } else if (name === 'g') coded(name, field, parsed.tail.g.map(Number), runsOfG(tail));
    else if (name === 'seal') bit(`seal ${number}`, field, length - 1);
    else if (name !== 'ze') bit(name, field, 0);
  }
  return items;
}

/** Seeds by the verifier of the library. */
function seedsOf(
  { other, statements, header }: Section,
  bytes: Uint8Array,
  given: { header?: Uint8Array; hash?: Uint8Array; count?: number } = {},
): string[] {
  const seeds: string[] = [];
  const transcript = new Transcript((event) => {
    if (event.kind === 'seed') seeds.push(hex(event.seed));
  });
  const parameters = readRow(other.row);
  const section = parseSection(parameters, bytes, 0)!;
  const count = given.count ?? statements.length;
  const [ownHeader, hash] = [given.header ?? header, given.hash ?? other.hash];
  replay(transcript, parameters, count, ownHeader, section, hash);
  return seeds;
}

/** Seeds by the slow verifier. */
function slowSeedsOf(
  { other, statements, header }: Section,
  bytes: Uint8Array,
  given: { header?: Uint8Array; hash?: Uint8Array; count?: number } = {},
): string[] {
  const seeds: string[] = [];
  const shapes = shapesOf(other.row);
  const opening = {
    rowHash: given.hash ?? other.hash,
    header: given.header ?? header,
    count: given.count ?? statements.length,
  };
  replaySlowly(shapes, opening, parseSlowly(bytes, shapes, ALL_CHECKS), (step, _, seed) => {
    if (step === 'seed') seeds.push(hex(seed));
  });
  return seeds;
}

test.skipIf(!IN_SHORT).each(Object.entries(ROWS))('both verifiers: %s', async (_, row) => {
  const section = await sectionOf(row);
  const items = itemsOf(section);
  const hidden = row[2].slice(0, -1).filter((level) => (level[13] as number) > 0).length;
  const names = items.map(({ name }) => name);
  expect(names.filter((name) => name === 'V of x')).toHaveLength(hidden);
  expect(names.filter((name) => name === 'y of x')).toHaveLength(2 * hidden);
  for (const read of [seedsOf, slowSeedsOf]) {
    const honest = read(section, section.bytes);
    for (const { name, level, bytes } of items) {
      const first = firstSeed(name, level);
      expectChange(row, honest, read(section, bytes), first, `${name} of level ${level}`);
    }
    for (const given of [
      { header: flipped(section.header, 8 * section.header.length - 1) },
      { hash: flipped(section.other.hash, 0) },
      { count: section.statements.length + 1 },
    ]) {
      expectChange(row, honest, read(section, section.bytes, given), '0 alpha', 'the start');
    }
  }
});

/** What the slow prover absorbs, by the place of one bit: from the front, or from the end. */
type Place = readonly [name: string, level: number, label: string, offset: number];
const Y = 4 * 274;
// biome-ignore format: several in a line
const PLACES: readonly Place[] = [
  ['A', 0, 'uA', -1], ['B', 0, 'uB', -1], ['y', 0, 'y', 0], ['V', 0, 'y', Y - 1],
  ['w', 0, 'y', Y + 39], ['b', 0, 'b', -18], ['b_32', 0, 'b', -17], ['2', 0, 'u2', -1],
  ['retry', 1, 'retry', 0], ['t', 1, 't', 0], ['seal 0', 1, 't', -1], ['V', 1, 'y', Y - 1],
  ['y of x', 1, 'y', Y], ['y of x', 1, 'y', 2 * Y - 9], ['U of x', 1, 'y', 2 * Y - 8],
  ['V of x', 1, 'y', 2 * Y - 1], ['b', 1, 'b', -1], ['seal 1', 1, 'h', -1],
];

test.skipIf(!IN_LONG)('the slow prover', LONG, () => {
  const seedsOfProof = (spoilt?: Place): string[] => {
    const events: TraceEvent[] = [];
    const absorb = (value: FaultValues['absorb'], { level }: { level: number }) => {
      if (spoilt === undefined || spoilt[1] !== level || spoilt[2] !== value.label) return value;
      const { data } = value;
      const at = spoilt[3] < 0 ? data.length + spoilt[3] : spoilt[3];
      return { label: value.label, data: data.with(at, data[at]! ^ 1) };
    };
    const trace = (event: TraceEvent) => events.push(event);
    toyProof(BEHIND_ZERO, { trace, faults: { absorb, ignore: () => true } });
    return stepsOf(events).flatMap((step) => (step.kind === 'seed' ? [hex(step.seed)] : []));
  };
  const honest = seedsOfProof();
  for (const place of PLACES) {
    const [name, level] = place;
    const first = firstSeed(name, level);
    const row = BEHIND_ZERO as TableRow;
    expectChange(row, honest, seedsOfProof(place), first, `${name} of level ${level}`);
  }
});
