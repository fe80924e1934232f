/**
 * Every number of a proof is in some equation: with the challenges of the proof itself kept, it is
 * refused when the number is another one. So the hash of the transcript is not what refuses it.
 */
import { afterEach, expect, test, vi } from 'vitest';
import {
  type FoldResult,
  verifySection,
  verifySectionIn,
} from '../../../src/aggregate/proof/index.ts';
import { type TraceEvent, Transcript } from '../../../src/aggregate/proof/transcript.ts';
import type { ParsedSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import * as ROWS from '../../reference/hiddenRows.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';
import { flipped, folded, openedOf, type Section, sectionOf } from './judged.ts';

/** One number of so many is changed; all of them in the nightly run. */
const STEP = NIGHTLY ? 1 : SHORT_RUN ? 307 : 101;

afterEach(() => {
  vi.restoreAllMocks();
});

const LONG = { timeout: 3_600_000 };

test.each(Object.entries(ROWS))('%s', LONG, async (_, row) => {
  const section = await sectionOf(row);
  const { parsed, isAccepted } = await frozen(section);
  expect(await isAccepted(parsed)).toBe(true);
  const accepted: string[] = [];
  let tried = 0;
  let at = 0;
  for (const [name, change] of changesOf(parsed)) {
    if (at++ % STEP !== 0) continue;
    tried += 1;
    if (await isAccepted(change())) accepted.push(name);
  }
  expect(accepted).toEqual([]);
  expect(tried).toBeGreaterThan(SHORT_RUN ? 15 : 50);
});

test('p of every message in every row, j below 8 and from 8 on', LONG, async () => {
  const section = await sectionOf(ROWS.HIDDEN_THRICE);
  const { parameters } = openedOf(section)!;
  const { parsed, isAccepted } = await frozen(section);
  const accepted: string[] = [];
  let tried = 0;
  for (const [number, { k }] of parameters.levels.entries()) {
    const fields = parsed.levels[number]!;
    const withField = (name: string, index: number, bytes: Uint8Array) => {
      const first = name === 'first' ? fields.first.with(index, bytes) : fields.first;
      const changed = { ...fields, first, ...(name !== 'first' && { [name]: bytes }) };
      return { ...parsed, levels: parsed.levels.with(number, changed) };
    };
    const messages = [
      ...fields.first.map((bytes, i) => ['first', i, bytes] as const),
      ...(['b', 'second'] as const).map((name) => [name, 0, fields[name]] as const),
    ];
    for (const [name, index, bytes] of messages) {
      for (let row = 0; row < k; row++) {
        for (const j of [row % 8, 15 - row]) {
          const other = flipped(bytes, 44 * (16 * row + j) + 7);
          if (await isAccepted(withField(name, index, other))) {
            accepted.push(`level ${number}: ${name} ${index}, row ${row}, ${j}`);
          }
          tried += 1;
        }
      }
    }
  }
  expect(accepted).toEqual([]);
  expect(tried).toBe(2 * 6 * (4 + 3 + 3));
});

/** Judges fields with the seeds of a proof, whatever the fields are. */
async function frozen(section: Section) {
  const states: Uint8Array[] = [];
  const seeds: Uint8Array[] = [];
  const trace = (event: TraceEvent): void => {
    if (event.kind === 'absorb') states.push(event.st);
    if (event.kind === 'seed') seeds.push(event.seed);
  };
  verifySection(section, { trace });
  const opened = openedOf(section)!;
  // the folds depend on the seeds alone
  const results: FoldResult[] = [];
  await verifySectionIn(section, 1, async (jobs) => {
    results.push(...jobs.map(folded));
    return results;
  });
  let absorbed = 0;
  let drawn = 0;
  vi.spyOn(Transcript.prototype, 'absorb').mockImplementation(function (this: Transcript) {
    this.st = states[absorbed++]!;
  });
  vi.spyOn(Transcript.prototype, 'seed').mockImplementation(() => seeds[drawn++]!);
  const isAccepted = async (changed: ParsedSection): Promise<boolean> => {
    absorbed = 0;
    drawn = 0;
    const given = { ...section, opened: { ...opened, section: changed } };
    return (await verifySectionIn(given, 1, async () => results)) === section.bytes.length;
  };
  return { parsed: opened.section, isAccepted };
}

type Change = [name: string, change: () => ParsedSection];
type Numbers = Int32Array | Float64Array;

/** A change of every value of a field; values of p and b_32 have 44 bits, and those of u' fewer. */
function* changesOfField(field: Uint8Array | Numbers): Generator<() => Uint8Array | Numbers> {
  if (field instanceof Uint8Array) {
    // some bit of every value
    const count = Math.floor((8 * field.length) / 44);
    for (let i = 0; i < count; i++) yield () => flipped(field, 44 * i + (i % 44));
    return;
  }
  for (let i = 0; i < field.length; i++) {
    yield () => field.with(i, field[i]! + (i % 2 === 0 ? 1 : -1));
  }
}

/** One value changed, of every field but the retry bytes and counters, which are in no equation. */
function* changesOf({ levels, tail, end }: ParsedSection): Generator<Change> {
  for (const [number, fields] of levels.entries()) {
    const within = function* (
      name: string,
      field: Uint8Array | Numbers,
      put: (value: never) => Partial<typeof fields>,
    ): Generator<Change> {
      for (const change of changesOfField(field)) {
        yield [
          `level ${number}: ${name}`,
          () => {
            const changed = { ...fields, ...put(change() as never) };
            return { levels: levels.with(number, changed), tail, end };
          },
        ];
      }
    };
    const { first, y, yOfX, w, b, second } = fields;
    for (const [i, message] of first.entries()) {
      yield* within(`first ${i}`, message, (value) => ({ first: first.with(i, value) }));
    }
    yield* within('y', y, (value) => ({ y: value }));
    if (yOfX !== undefined) yield* within('y of x', yOfX, (value) => ({ yOfX: value }));
    yield* within('w', w, (value) => ({ w: value }));
    yield* within('b', b, (value) => ({ b: value }));
    yield* within('second', second, (value) => ({ second: value }));
  }
  for (const name of ['t', 'g', 'sealT', 'y', 'yOfX', 'b', 'h', 'sealH', 'z', 'e'] as const) {
    const field = tail[name];
    if (field === undefined) continue;
    for (const change of changesOfField(field as Uint8Array | Numbers)) {
      yield [`tail: ${name}`, () => ({ levels, tail: { ...tail, [name]: change() }, end })];
    }
  }
}
