/**
 * Negative controls: changes one instruction or table entry that a proof depends on, and proves
 * again. A proof that still holds must be explained by a written rule.
 */
import type { Instruction, Module } from './decode.ts';
import { attempt, isCovered, type Job, nameOf, needsSolver, prove } from './prove.ts';
import { PRIMES } from './references.ts';

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
  // Runs in search of addresses read other tables too.
  for (const at of attempt(job, module).machine.memory.everRead) {
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
function apply(module: Module, place: Place, random: () => number): [Change, () => void] {
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
    return [{ ...place, what, name: '' }, () => view.setInt16(at, old, true)];
  }
  const { code } = module.bodies[place.index]!;
  const old = code[place.at]!;
  const [next, what] = changed(old, place.kind, random);
  code[place.at] = next;
  const name = module.names.get(place.index)!.split('/').at(-1)!;
  const change = { ...place, what: `${name}, byte ${old.at}: ${what}`, name };
  return [change, () => (code[place.at] = old)];
}

/** Tries a changed module. @returns why it is refused, or undefined if the proof still holds */
export function refusal(job: Job, module: Module): string | undefined {
  try {
    return attempt(job, module).failures[0];
  } catch (error) {
    return (error as Error).message;
  }
}

/** A change that was made. */
interface Change extends Place {
  readonly what: string;
  /** The function, without its folder. */
  readonly name: string;
}

interface Explanation {
  readonly reason: string;
  readonly fits: (change: Change, module: Module) => boolean;
}

/**
 * The written rules: why a proof may hold although something was changed. Each one is checked on
 * the change; a change that none fits is reported.
 */
const EXPLANATIONS: readonly Explanation[] = [
  {
    // Its quotient is off by at most one, rule Q's bound loosens, and the stated one still holds.
    reason: 'a companion, round(2^15 w / p), is off by one, and the bound still holds',
    fits: ({ kind, at }, module) => kind === 'table' && isNearCompanion(module, at),
  },
  {
    // lowWords keeps the low 16 bits of 64-bit lanes: it shifts the others out.
    reason: 'the byte is shifted out',
    fits: ({ kind, name, what }) =>
      kind === 'shuffle' &&
      ['decompose', 'cutSigned', 'splitLimbs'].includes(name) &&
      Number(/shuffle\[(\d+)\]/.exec(what)?.[1]) % 4 >= 2,
  },
  {
    reason: 'part of the status TOO_WIDE, which is never set at these parameters',
    fits: ({ name, what }) =>
      name === 'decompose' && /v128\.(or|and) ->|gt_s ->|v128\.const (-32768|32767) /.test(what),
  },
];

/** Whether a table has about round(2^15 w / p) next to w, for one of the primes. */
function isNearCompanion({ data }: Module, at: number): boolean {
  const segment = data.find((one) => at >= one.at && at + 2 <= one.at + one.bytes.length)!;
  const view = new DataView(segment.bytes.buffer, segment.bytes.byteOffset, segment.bytes.length);
  const entry = (place: number) =>
    place < 0 || place + 2 > view.byteLength ? undefined : view.getInt16(place, true);
  const companion = entry(at - segment.at)!;
  return [-16, -2].some((distance) => {
    const w = entry(at - segment.at + distance);
    return w !== undefined && PRIMES.some((p) => Math.abs(companion - (w * 2 ** 15) / p) <= 2);
  });
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
      const [change, restore] = apply(module, list[random() % list.length]!, random);
      const why = refusal(job, module);
      const reason = EXPLANATIONS.find(({ fits }) => fits(change, module))?.reason;
      restore();
      made++;
      if (why !== undefined) refused++;
      else {
        if (reason !== undefined) explained++;
        say(`${nameOf(job)}: ${change.what}: still proved: ${reason ?? 'NOT EXPLAINED'}`);
      }
    }
  }
  const open = made - refused - explained;
  say(`${made} mutants: ${refused} refused, ${explained} explained, ${open} not`);
  return refused + explained === made;
}

/** Proofs that take a few seconds; the others run the same functions. */
const isQuick = ({ contract, instance }: Job): boolean =>
  (instance.rows ?? 0) < 3 &&
  instance.logn !== 10 &&
  !/^(products|pairProducts)$/.test(contract.name);
