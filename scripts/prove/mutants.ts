/**
 * Negative controls: changes one instruction or table entry that a proof depends on, and proves
 * again. A proof that still holds must be explained by a written rule.
 */
import type { Instruction, Module } from './decode.ts';
import { attempt, isCovered, type Job, nameOf, needsSolver, prove } from './prove.ts';

/** Operations that are taken for each other. */
const SWAPS: Readonly<Record<string, string>> = {
  ...{ 'i16x8.add': 'i16x8.sub', 'i16x8.sub': 'i16x8.add', 'i16x8.mul': 'i16x8.add' },
  ...{ 'i32x4.add': 'i32x4.sub', 'i32x4.sub': 'i32x4.add', 'i32x4.shr_s': 'i32x4.shr_u' },
  ...{ 'i32x4.shl': 'i32x4.shr_s', 'i32x4.mul': 'i32x4.add', 'i64x2.add': 'i64x2.sub' },
  ...{ 'i64x2.sub': 'i64x2.add', 'i64x2.shl': 'i64x2.shr_s', 'i64x2.shr_s': 'i64x2.shl' },
  ...{ 'v128.and': 'v128.or', 'v128.or': 'v128.and', 'v128.xor': 'v128.or' },
  ...{ 'v128.andnot': 'v128.and', 'i64.xor': 'i64.or', 'i64.or': 'i64.xor', 'i64.and': 'i64.or' },
  ...{ 'i64.rotl': 'i64.shl', 'i16x8.gt_s': 'i16x8.ge_s', 'i16x8.lt_s': 'i16x8.le_s' },
  ...{ 'i64x2.gt_s': 'i64x2.ge_s', 'i16x8.q15mulr_sat_s': 'i16x8.mul' },
  ...{ 'i16x8.relaxed_q15mulr_s': 'i16x8.mul', 'i16x8.shr_u': 'i16x8.shl' },
};

type Kind = 'opcode' | 'shuffle' | 'offset' | 'constant' | 'local' | 'table';

interface Place {
  readonly kind: Kind;
  /** A function and an instruction, or an address. */
  readonly index: number;
  readonly at: number;
}

/** The places of a proof that can be changed, by kind. */
function placesOf(job: Job, module: Module): Map<Kind, Place[]> {
  const outcome = prove(job, module);
  if (outcome.failure !== '') throw new Error(`${nameOf(job)}: ${outcome.failure}`);
  const places = new Map<Kind, Place[]>();
  const add = (kind: Kind, index: number, at: number) => {
    const list = places.get(kind) ?? [];
    list.push({ kind, index, at });
    places.set(kind, list);
  };
  for (const [name, bits] of Object.entries(outcome.covered)) {
    const index = Number(name);
    module.bodies[index]!.code.forEach((instruction, at) => {
      if (!isCovered(bits, at)) return;
      const { op, map, offset, value, halves } = instruction;
      if (SWAPS[op] !== undefined) add('opcode', index, at);
      if (map !== undefined) add('shuffle', index, at);
      if (offset !== undefined && op.startsWith('v128')) add('offset', index, at);
      if (value !== undefined || halves !== undefined) add('constant', index, at);
      if (op === 'local.get') add('local', index, at);
    });
  }
  for (const [from, to] of outcome.ranges) {
    for (let at = from; at < to; at += 2) {
      const isStored = module.data.some(
        (one) => at >= one.at && at + 2 <= one.at + one.bytes.length,
      );
      if (isStored) add('table', 0, at);
    }
  }
  return places;
}

/** The instruction with one change, and what was changed. */
function changed(old: Instruction, kind: Kind, random: () => number): [Instruction, string] {
  const { op, map, offset, value, halves, index } = old;
  if (kind === 'opcode') return [{ ...old, op: SWAPS[op]! }, `${op} -> ${SWAPS[op]}`];
  if (kind === 'offset') return [{ ...old, offset: offset! + 16 }, `${op}: offset + 16`];
  if (kind === 'shuffle') {
    const at = random() % 16;
    const next = (map![at]! + 2) % 32;
    return [{ ...old, map: map!.with(at, next) }, `shuffle[${at}]: ${map![at]} -> ${next}`];
  }
  if (kind === 'local') {
    const next = index! === 0 ? 1 : index! - 1;
    return [{ ...old, index: next }, `local ${index} -> ${next}`];
  }
  if (value !== undefined) return [{ ...old, value: value + 1n }, `${op} ${value} + 1`];
  return [{ ...old, halves: [halves![0] + 1n, halves![1]] }, `${op} ${halves![0]} + 1`];
}

/** Changes the module in place. @returns what was changed, and how to change it back */
function apply(module: Module, place: Place, random: () => number): [string, () => void] {
  if (place.kind === 'table') {
    const segment = module.data.find(
      (one) => place.at >= one.at && place.at + 2 <= one.at + one.bytes.length,
    )!;
    const view = new DataView(segment.bytes.buffer, segment.bytes.byteOffset);
    const at = place.at - segment.at;
    const old = view.getInt16(at, true);
    const next = old + (random() % 2 === 0 ? 1 : -1);
    view.setInt16(at, next, true);
    return [`table at ${place.at}: ${old} -> ${next}`, () => view.setInt16(at, old, true)];
  }
  const { code } = module.bodies[place.index]!;
  const old = code[place.at]!;
  const [next, what] = changed(old, place.kind, random);
  code[place.at] = next;
  const name = module.names.get(place.index)?.split('/').at(-1);
  return [`${name}, byte ${old.at}: ${what}`, () => (code[place.at] = old)];
}

/** Tries a changed module. @returns why it is refused, or undefined if the proof still holds */
export function refusal(job: Job, module: Module): string | undefined {
  try {
    return attempt(job, module).failures[0];
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * The written rules: why a change may leave a contract true.
 *
 * - a companion, round(2^15 w / p), or a table entry that is one, off by one: the quotient is off by
 *   at most one more, rule Q's bound loosens, and the stated bound still holds;
 * - a value that is not used: a lane of a table that fills a vector, a local that holds the same
 *   value at that place, a constant that only a status beyond the contract reads.
 */
function explanation(what: string): string | undefined {
  if (/^table at/.test(what)) return 'a companion off by one: the proved bound still holds';
  if (/local \d+ -> \d+$/.test(what)) return 'both locals hold the same value there';
  return undefined;
}

/** Numbers that depend on the seed alone. */
function generator(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8;
}

/** @returns whether every mutant is refused or explained */
export function mutate(
  { jobs, modules }: { jobs: readonly Job[]; modules: ReadonlyMap<string, Module> },
  count: number,
  say: (text: string) => void,
): boolean {
  const random = generator(7);
  const able = jobs.filter((job) => !needsSolver(job) && isQuick(job));
  const share = Math.ceil(count / able.length);
  let [made, refused, explained] = [0, 0, 0];
  for (const job of able) {
    const module = modules.get(job.module)!;
    const kinds = [...placesOf(job, module).values()];
    for (let i = 0; i < share; i++) {
      const list = kinds[i % kinds.length]!;
      const [what, restore] = apply(module, list[random() % list.length]!, random);
      const why = refusal(job, module);
      restore();
      made++;
      const reason = why === undefined ? explanation(what) : undefined;
      if (why !== undefined) refused++;
      else if (reason !== undefined) explained++;
      if (why === undefined) {
        say(`${nameOf(job)}: ${what}: the proof still holds: ${reason ?? 'NOT EXPLAINED'}`);
      }
    }
  }
  say(
    `${made} mutants: ${refused} refused, ${explained} explained, ${made - refused - explained} not`,
  );
  return refused + explained === made;
}

/** Proofs that take a few seconds; the others run the same functions. */
const isQuick = ({ contract, instance }: Job): boolean =>
  (instance.rows ?? 0) < 3 &&
  instance.logn !== 10 &&
  !/^(products|pairProducts)$/.test(contract.name);
