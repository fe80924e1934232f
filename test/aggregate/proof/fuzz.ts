/**
 * Fuzzed proofs: arbitrary bytes, proofs that are cut, spliced and overwritten, and proofs
 * whose fields are changed as integers and encoded again, so that they are read to their end. Each
 * goes through the whole of `verifyAggregate` and `inspectAggregate`.
 */
import { afterAll, expect, test } from 'vitest';
import { aggregate, inspectAggregate, verifyAggregate } from '../../../src/aggregate/index.ts';
import { readRow } from '../../../src/aggregate/parameters/rows.ts';
import { type ParsedSection, parseSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { concat } from '../../../src/shared/bytes.ts';
import { isCodedError } from '../../../src/shared/errors.ts';
import { headerOf, type SetName, type SignedItem, signedItem } from '../../reference/items.ts';
import { fact } from '../../support/facts.ts';
import { type TestRandom, testRandom } from '../../support/random.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';
import { everyThread } from '../everyThread.ts';
import { encodedLevels, fieldsOf, PROJECTIONS, rowOf, saltsOf } from './sections.ts';

/**
 * The nightly run takes a million in all, a share of them in each of three files, so that two cores
 * share the work.
 */
const FEWER = NIGHTLY ? 1 : SHORT_RUN ? 1250 : 250;
const SALT_BYTES = 40;
/**
 * Bytes that the process may grow by while it refuses the second half of them, and the milliseconds
 * that one may take.
 */
const GROWTH = 160 * 2 ** 20;
const PATIENCE = 10_000;

export interface Target {
  readonly items: readonly SignedItem[];
  readonly good: Uint8Array;
  readonly headerLength: number;
  /** Offsets of all fields and of the end. */
  readonly borders: readonly number[];
  /** Fields of a fixed width, which stay readable whatever is in them. */
  readonly packed: readonly { readonly at: number; readonly length: number }[];
  /** of a proof whose integers are changed, too */
  readonly sections: readonly { readonly set: SetName; readonly parsed: ParsedSection }[];
}

async function targetOf(items: readonly SignedItem[]): Promise<Target> {
  const good = await aggregate(items, { format: 'proof' });
  const headerLength = headerOf(items).length;
  const sections: Target['sections'][number][] = [];
  const borders: number[] = [0, 4, 6, 38, 40, headerLength];
  const packed: Target['packed'][number][] = [];
  let start = headerLength;
  for (const set of ['falcon512', 'falcon1024'] as const) {
    const members = items.filter((item) => item.set === set);
    if (members.length === 0) continue;
    const parsed = parseSection(readRow(rowOf(set, members.length)), good, start)!;
    sections.push({ set, parsed });
    const bytes = good.subarray(start, parsed.end);
    const section = { set, items: members, bytes, header: good, salts: saltsOf(members) };
    for (const { name, at, length } of fieldsOf(section)) {
      borders.push(start + at);
      if (/ (u|u2|p|p2|p of b|b32|t|h|b|w|sums|sums of x|seal of [th])$/.test(name))
        packed.push({ at: start + at, length });
    }
    start = parsed.end;
  }
  expect(start).toBe(good.length);
  return { items, good, headerLength, borders: [...borders, start], packed, sections };
}

type Mutator = (target: Target, random: TestRandom) => Uint8Array;

const overwritten = (good: Uint8Array, at: number, by: Uint8Array): Uint8Array => {
  const bytes = good.slice();
  bytes.set(by.subarray(0, bytes.length - at), at);
  return bytes;
};
/** A place anywhere, or close to a border of fields. */
const placeIn = ({ good, borders }: Target, random: TestRandom): number => {
  const near = random.pick(borders) + random.between(-2, 2);
  const at = random.below(2) === 0 ? near : random.below(good.length);
  return Math.min(Math.max(at, 0), good.length - 1);
};
const nudged = (x: number, random: TestRandom): number =>
  random.pick([x + 1, x - 1, -x, 0, x + random.between(-100, 100), 2 * x + 1]);

/** One integer of a section, encoded again: syntax that holds, a proof that does not. */
const reencoded: Mutator = ({ good, headerLength, sections }, random) => {
  const parts: Uint8Array[] = [good.subarray(0, headerLength)];
  const chosen = random.below(sections.length);
  let at = headerLength;
  for (const [i, { set, parsed }] of sections.entries()) {
    if (i !== chosen) {
      parts.push(good.subarray(at, parsed.end));
    } else {
      const { set: degree, bucket } = readRow(rowOf(set, 1));
      const parameters = readRow(rowOf(`falcon${degree}`, bucket));
      const changed = <T extends Int32Array | Float64Array>(list: T): T => {
        const copy = list.slice() as T;
        const place = random.below(copy.length);
        copy[place] = nudged(copy[place]!, random);
        return copy;
      };
      /** y with another U or V */
      const otherSum = (y: Int32Array): Int32Array => {
        const at = PROJECTIONS + random.below(2);
        return y.with(at, nudged(y[at]!, random));
      };
      // the first level behind a hidden one, if it is no tail
      const behind = parsed.levels.findIndex(({ yOfX }) => yOfX !== undefined);
      const field = random.pick([
        ...(['y', 'sum', 'w', 'retry', 'counter'] as const),
        ...(['tail y', 'tail sum', 'g', 'z', 'e'] as const),
        ...(behind < 0 ? [] : (['y of x', 'sum of x'] as const)),
      ]);
      const levels = parsed.levels.map((level, number) => {
        const { yOfX } = level;
        if (number === behind && field === 'y of x') return { ...level, yOfX: changed(yOfX!) };
        if (number === behind && field === 'sum of x') return { ...level, yOfX: otherSum(yOfX!) };
        if (number > 0) return level;
        if (field === 'y') return { ...level, y: changed(level.y) };
        if (field === 'sum') return { ...level, y: otherSum(level.y) };
        if (field === 'w') return { ...level, w: changed(level.w) };
        if (field === 'retry')
          return { ...level, retry: (level.retry + 1 + random.below(15)) % 16 };
        return field === 'counter' ? { ...level, counter: (level.counter + 1) % 16 } : level;
      });
      const { tail } = parsed;
      const last = {
        ...tail,
        ...(field === 'tail y' && { y: changed(tail.y) }),
        ...(field === 'tail sum' && { y: otherSum(tail.y) }),
        ...(field === 'g' && { g: changed(tail.g) }),
        ...(field === 'z' && { z: changed(tail.z) }),
        ...(field === 'e' && { e: changed(tail.e) }),
      };
      const all = encodedLevels(parameters, { levels, tail: last });
      // A value without a code is not sent.
      parts.push(...all.map((bytes) => bytes ?? new Uint8Array(1)));
    }
    at = parsed.end;
  }
  return concat(...parts);
};

const INTEGER = 'an integer changed and encoded again';
/**
 * The changes, and how many of a thousand each makes. One that only the last check refuses takes
 * about a hundred times as long.
 */
const MUTATORS: Readonly<Record<string, readonly [share: number, Mutator]>> = {
  'bytes that are no proof': [130, (_, random) => random.bytes(random.below(4000))],
  'the header, then anything': [
    130,
    ({ good, headerLength }, random) =>
      concat(good.subarray(0, headerLength), random.bytes(random.below(4000))),
  ],
  'a changed header': [
    140,
    ({ good, headerLength, items }, random) => {
      const at = random.below(headerLength - SALT_BYTES * items.length);
      return overwritten(good, at, random.bytes(1));
    },
  ],
  'a changed salt': [
    4,
    ({ good, headerLength, items }, random) => {
      const at = headerLength - 1 - random.below(SALT_BYTES * items.length);
      return overwritten(good, at, random.bytes(1));
    },
  ],
  'cut off': [180, (target, random) => target.good.subarray(0, placeIn(target, random))],
  'continued with other bytes': [
    180,
    (target, random) =>
      concat(target.good.subarray(0, placeIn(target, random)), random.bytes(random.below(2000))),
  ],
  'bytes taken out': [
    100,
    (target, random) => {
      const at = placeIn(target, random);
      const { good } = target;
      return concat(good.subarray(0, at), good.subarray(at + 1 + random.below(40)));
    },
  ],
  'bytes put in': [
    100,
    (target, random) => {
      const at = placeIn(target, random);
      const { good } = target;
      return concat(good.subarray(0, at), random.bytes(1 + random.below(40)), good.subarray(at));
    },
  ],
  'a run overwritten': [
    12,
    (target, random) =>
      overwritten(target.good, placeIn(target, random), random.bytes(1 + random.below(40))),
  ],
  'a field of one value': [
    8,
    ({ good, borders }, random) => {
      const i = random.below(borders.length - 1);
      const value = random.pick([0, 1, 127, 128, 254, 255]);
      return good.slice().fill(value, borders[i]!, borders[i + 1]!);
    },
  ],
  'bits of fields of fixed width': [
    8,
    ({ good, packed }, random) => {
      const bytes = good.slice();
      for (let changes = 1 + random.below(3); changes > 0; changes--) {
        const { at, length } = random.pick(packed);
        bytes[at + random.below(length)]! ^= 1 << random.below(8);
      }
      return bytes;
    },
  ],
  [INTEGER]: [8, reencoded],
};
const READABLE = ['a changed salt', 'bits of fields of fixed width', INTEGER];
const NAMES = Object.keys(MUTATORS).flatMap((name) =>
  new Array<string>(MUTATORS[name]![0]).fill(name),
);

/** Memories of all instances made from here on. */
function watchMemories(): { bytes: () => number; stop: () => void } {
  const memories: WebAssembly.Memory[] = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, args, newTarget) {
      const instance = Reflect.construct(target, args, newTarget) as WebAssembly.Instance;
      const { memory } = instance.exports;
      if (memory instanceof WebAssembly.Memory) memories.push(memory);
      return instance;
    },
  });
  return {
    bytes: () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
    stop: () => {
      WebAssembly.Instance = Instance;
    },
  };
}

// From before the first proof: one instance may serve prover and verifier, and several tests.
const memory = watchMemories();
afterAll(memory.stop);

type Members = readonly (readonly [SetName, number])[];

/** Fuzzed proofs of one batch; the name is the seed. */
export const testFuzz = (name: string, members: Members, of: number): void =>
  testFuzzOf(name, of, () => targetOf(members.map(([set, count]) => signedItem(set, count))));

/** The same of any proof. */
export function testFuzzOf(name: string, of: number, make: () => Promise<Target>): void {
  const runs = of / FEWER;
  test(`${name}: fuzzed proofs never crash, hang, pass or take memory`, {
    timeout: 7_200_000,
  }, async (context) => {
    const target = await make();
    const { items, good, sections } = target;
    const isHere = (kind: string): boolean => kind !== INTEGER || sections.length > 0;
    const kinds = Object.keys(MUTATORS).filter(isHere);
    const names = NAMES.filter(isHere);
    expect(verifyAggregate(good, items)).toBe(true);
    const needed = memory.bytes();
    expect(needed).toBeGreaterThan(2 ** 16);
    const random = testRandom(`fuzzed proofs ${name}`);
    const counts = new Map<string, number>();
    let slowest = 0;
    let before = 0;
    const warm = runs / 2;
    for (let run = 0; run < runs; run++) {
      if (run === warm) before = process.resourceUsage().maxRSS;
      // each kind at least once
      const kind = kinds[run] ?? random.pick(names);
      const bytes = MUTATORS[kind]![1](target, random);
      if (Buffer.compare(bytes, good) === 0) continue;
      let verdict = true;
      let took = Number.POSITIVE_INFINITY;
      // Twice at most: a machine that slept does not sleep again.
      for (let turn = 0; turn < 2 && took > PATIENCE; turn++) {
        const start = performance.now();
        verdict = verifyAggregate(bytes, items);
        took = performance.now() - start;
      }
      slowest = Math.max(slowest, took);
      if (verdict !== false) expect.fail(`run ${run}, ${kind}: ${verdict}`);
      try {
        if (inspectAggregate(bytes).sizes.total !== bytes.length)
          expect.fail(`run ${run}, ${kind}: inspected`);
      } catch (error) {
        expect(isCodedError(error) && error.code, `run ${run}, ${kind}`).toBe('BAD_AGGREGATE');
      }
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      // the module's memory is what one honest proof needs, whatever the bytes claim
      expect(memory.bytes()).toBe(needed);
    }
    expect(slowest).toBeLessThan(PATIENCE);
    const growth = 1024 * (process.resourceUsage().maxRSS - before);
    expect(growth).toBeLessThan(GROWTH);
    expect([...counts.keys()].sort()).toEqual(kinds.sort());
    expect(verifyAggregate(good, items)).toBe(true);

    const total = [...counts.values()].reduce((a, b) => a + b, 0);
    const readable = READABLE.reduce((sum, kind) => sum + (counts.get(kind) ?? 0), 0);
    fact(
      context,
      'fuzzed proofs',
      `${name}: ${total} refused, ${readable} of them readable to the end; slowest ${slowest.toFixed(0)} ms, ` +
        `module ${(needed / 2 ** 20).toFixed(1)} MiB, process grew by ${(growth / 2 ** 20).toFixed(0)} MiB`,
    );
  });
}

/**
 * The same before two threads: what one thread refuses is refused, and the threads are there for
 * the next proof.
 */
export function testFuzzOnThreads(name: string, members: Members): void {
  test(`${name}: fuzzed proofs before two threads`, { timeout: 1_800_000 }, async (context) => {
    const target = await targetOf(members.map(([set, number]) => signedItem(set, number)));
    const { items, good } = target;
    const random = testRandom(`fuzzed proofs on threads ${name}`);
    const pool = everyThread({ threads: 2 });
    try {
      expect(await pool.verifyAggregate(good, items)).toBe(true);
      const kinds = Object.keys(MUTATORS);
      const runs = NIGHTLY ? 2000 : 2 * kinds.length;
      for (let run = 0; run < runs; run++) {
        const kind = kinds[run % kinds.length]!;
        const bytes = MUTATORS[kind]![1](target, random);
        if (Buffer.compare(bytes, good) === 0) continue;
        expect(await pool.verifyAggregate(bytes, items), `run ${run}, ${kind}`).toBe(false);
      }
      expect(await pool.verifyAggregate(good, items)).toBe(true);
      fact(context, 'fuzzed proofs', `${name}: ${runs} before two threads`);
    } finally {
      await pool.close();
    }
  });
}
