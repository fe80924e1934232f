/**
 * Negative controls: changes one instruction or table entry that a proof depends on, and proves
 * again. Where the proof still holds, the runs before and after the change are compared.
 */
import type { Instruction, Module } from './decode.ts';
import { Kernel } from './kernel.ts';
import { Lock } from './lock.ts';
import { attempt, isOnValues, type Job, nameOf, needsSolver, run } from './prove.ts';
import { hasZ3 } from './smt.ts';
import type { Term } from './terms.ts';
import { inputsOf, Values } from './validate.ts';

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
function placesOf({ module, machine }: Kernel): Map<Kind, Place[]> {
  const places = new Map<Kind, Place[]>();
  const add = (kind: Kind, index: number, at: number) => {
    const list = places.get(kind) ?? [];
    list.push({ kind, index, at });
    places.set(kind, list);
  };
  for (const [index, marks] of machine.ran) {
    module.bodies[index]!.code.forEach((instruction, at) => {
      if (marks[at] === 0) return;
      const { op, map, offset, value, halves } = instruction;
      if (SWAPS[op] !== undefined) add('opcode', index, at);
      if (map !== undefined) add('shuffle', index, at);
      if (offset !== undefined && op.startsWith('v128')) add('offset', index, at);
      if (value !== undefined || halves !== undefined) add('constant', index, at);
      if (op === 'local.get') add('local', index, at);
    });
  }
  // Runs in search of addresses read other tables too.
  for (const at of machine.memory.everRead) {
    const isStored = module.data.some((one) => at >= one.at && at + 2 <= one.at + one.bytes.length);
    if (at % 2 === 0 && isStored) add('table', 0, at);
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

/** Changes the module in place. @returns the change, and how to undo it */
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
    const what = `table at ${place.at}: ${old} -> ${next}`;
    return [what, () => view.setInt16(at, old, true)];
  }
  const { code } = module.bodies[place.index]!;
  const old = code[place.at]!;
  const [next, what] = changed(old, place.kind, random);
  code[place.at] = next;
  const name = module.names.get(place.index)!.split('/').at(-1)!;
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

/** Tries a changed module in haste. @returns undefined if it is refused */
function survivor(job: Job, module: Module, binding: number): Kernel | undefined {
  try {
    const kernel = new Kernel(module, job.contract, job.instance, true, binding);
    run(job, kernel);
    return kernel.failures.length === 0 ? kernel : undefined;
  } catch {
    return undefined;
  }
}

const COMMUTATIVE = new Set(['add', 'mul', 'and', 'or', 'xor', 'eq', 'ne']);

/** A number for each term of a run: terms of the same shape have the same, in all runs. */
function shapesOf({ machine: { terms } }: Kernel, numbers: Map<string, number>) {
  const shapes = new Map<Term, number>();
  for (const term of terms.nodes.slice(1)) {
    const { op, width, immediate, value, name, key, args } = term;
    const parts = args.map((arg) => shapes.get(arg)!);
    if (COMMUTATIVE.has(op)) parts.sort((a, b) => a - b);
    const text = [op, width, immediate, value, name, key, ...parts].join();
    if (!numbers.has(text)) numbers.set(text, numbers.size);
    shapes.set(term, numbers.get(text)!);
  }
  return shapes;
}

const SAME = 'the same terms';
/** Inputs on which residues are compared: the extremes, and random ones. */
const TURNS = 6;

/**
 * Why a change that is still proved does no harm, checked on the two runs: all that the statement
 * is about has the same terms, or, where it is stated modulo a number, is congruent: for all inputs
 * by the proof, and here computed for some.
 *
 * @returns undefined if it isn't so
 */
export function explanation(original: Kernel, mutant: Kernel): string | undefined {
  const [own, other] = [[...original.stated], [...mutant.stated]];
  if (own.length !== other.length) return undefined;
  const numbers = new Map<string, number>();
  const [shapes, shapesOfOther] = [shapesOf(original, numbers), shapesOf(mutant, numbers)];
  const pairs = own.flatMap(([term, modulus], i) => {
    const [changed] = other[i]!;
    const isSame = shapes.get(term) === shapesOfOther.get(changed);
    return isSame ? [] : [{ term, changed, modulus }];
  });
  if (pairs.length === 0) return SAME;
  if (pairs.some(({ modulus }) => modulus === 0n)) return undefined;
  for (let turn = 0; turn < TURNS; turn++) {
    const [values, others] = [original, mutant].map(
      ({ machine: { terms } }) => new Values(inputsOf(turn, terms)),
    );
    const isCongruent = ({ term, changed, modulus }: (typeof pairs)[number]) =>
      (values!.of(term) - others!.of(changed)) % modulus === 0n;
    if (!pairs.every(isCongruent)) return undefined;
  }
  return 'other representatives, within the bounds';
}

/** Numbers that depend on the seed alone. */
function generator(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8;
}

/** The modules that are changed: each kernel is in one of them, and one is relaxed. */
const MODULES = ['labrador', 'falcon', 'labrador.relaxed', 'falcon.relaxed'];
/** Mutants of a relaxed module, whose kernels are those of the other one, for ten of that one. */
const RELAXED = 3;

interface Campaign {
  readonly jobs: readonly Job[];
  readonly modules: ReadonlyMap<string, Module>;
}

/**
 * Changes each kernel `share` times. A change is refused by the statement, or by another one that
 * depends on the same place; otherwise it must have an explanation.
 *
 * @returns whether every mutant is refused or explained
 */
export function mutate(
  { jobs, modules }: Campaign,
  share: number,
  say: (text: string) => void,
): boolean {
  const random = generator(7);
  const lock = new Lock();
  const able = jobs.filter(
    (job) => isQuick(job) && MODULES.includes(job.module) && isOnValues(job) && canDecide(job),
  );
  const counts = new Map([['refused', 0]]);
  const count = (kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1);
  for (const job of able) {
    const module = modules.get(job.module)!;
    const original = attempt(job, module);
    const kinds = [...placesOf(original).values()];
    const own = Math.ceil(job.module.endsWith('relaxed') ? (share * RELAXED) / 10 : share);
    for (let i = 0; i < own; i++) {
      const list = kinds[i % kinds.length]!;
      const place = list[random() % list.length]!;
      const [change, restore] = apply(module, place, random);
      const mutant = survivor(job, module, original.binding);
      let reason = mutant && (explanation(original, mutant) ?? 'NOT EXPLAINED');
      if (reason !== undefined && reason !== SAME) {
        const others = able.filter(
          (one) => one !== job && one.module === job.module && dependsOn(lock, one, place),
        );
        if (others.some((one) => refusal(one, module) !== undefined)) reason = undefined;
      }
      restore();
      count(reason ?? 'refused');
      if (reason !== undefined) say(`${nameOf(job)}: ${change}: still proved: ${reason}`);
    }
  }
  const total = [...counts.values()].reduce((a, b) => a + b);
  const parts = [...counts].map(([kind, number]) => `${number} ${kind}`);
  say(`${total} mutants of ${able.length} statements: ${parts.join('; ')}`);
  return !counts.has('NOT EXPLAINED');
}

/** Whether a proof ran the function, or read the table, that is changed. */
function dependsOn({ entries }: Lock, job: Job, { kind, index, at }: Place): boolean {
  const entry = entries.get(nameOf(job));
  if (entry === undefined) return false;
  if (kind !== 'table') return entry.functions.includes(index);
  return entry.ranges.some(([from, to]) => at >= from && at < to);
}

const canDecide = (job: Job): boolean => !needsSolver(job) || hasZ3();

/** Proofs that take a few seconds; the others run the same functions. */
const isQuick = ({ contract, instance }: Job): boolean =>
  (instance.rows ?? 0) < 3 &&
  (instance.logn !== 10 || contract.name === 'intt') &&
  !/^(products|pairProducts|projectPolys|collapseThree|modpPrepare|functionalParts)$/.test(
    contract.name,
  );
