/**
 * Runs a kernel under its contract: puts unknowns within the stated bounds into the input regions,
 * calls the function, and checks the bounds of the outputs, and that it writes nowhere else.
 */
import {
  type Contract,
  type ElementType,
  evaluateBound,
  modulusOf,
  type Region,
} from './contracts.ts';
import type { Module } from './decode.ts';
import { highest, least, lowest, most } from './evaluate.ts';
import { isVector, Machine, type Value } from './execute.ts';
import type { Turn } from './induction.ts';
import { FIRST_TERM } from './modular.ts';
import { PRIMES, RESIDUES } from './references.ts';
import type { Term } from './terms.ts';

/** Where callers' regions begin: beyond the static memory of every module. */
const REGIONS = 2_097_152;
const MAX_PAGES = 128;
/** The kind of an export that is a global: the address of a region. */
const GLOBAL = 3;
/** The most steps of a hasty run: changed kernels may never end. */
const HASTY_STEPS = 2_000_000;

const bitsOf = (type: ElementType): number => Number(type.slice(1));

/** A region at its address. */
export interface Placed {
  readonly region: Region;
  readonly at: number;
  readonly count: number;
  readonly size: number;
}

/** The functions that ran on a machine, and the memory that they read. */
interface Trace {
  readonly touched: ReadonlySet<number>;
  readonly memory: { readonly everRead: ReadonlySet<number> };
}

export class Kernel {
  readonly module: Module;
  readonly contract: Contract;
  readonly instance: Readonly<Record<string, number>>;
  readonly machine: Machine;
  /** Of all machines of this proof: the one above, and those of runs on zeros. */
  readonly machines: Trace[] = [];
  readonly failures: string[] = [];
  checks = 0;
  /** Whether the first check that fails ends the run, which is also short. */
  readonly isHasty: boolean;
  /** Which of the ways to bind parameters this is. */
  readonly binding: number;
  /** What the statement is about: terms, each exactly (0) or modulo a number. */
  readonly stated = new Map<Term, bigint>();
  /** Placements of inputs, and calls: to be repeated in an engine. */
  readonly placements: [at: number, term: Term][] = [];
  readonly calls: [index: number, args: readonly Value[]][] = [];
  /** Values of parameters that are neither regions nor of the instance. */
  readonly values = new Map<string, number>();
  readonly index: number;
  readonly #placed = new Map<string, Placed>();
  readonly #inputs = new Map<string, Term[]>();
  /** Parameters that the compiler has fixed. */
  #fixed = new Set<string>();
  /** Regions of which a kernel needn't use everything. */
  readonly partial = new Set<string>();
  /** Input regions that the proof fills itself. */
  readonly filled = new Set<string>();
  /** The turn of a loop that the call is about, instead of the whole kernel. */
  turn: Turn | undefined;
  #key = 1;
  #end = REGIONS;

  constructor(
    module: Module,
    contract: Contract,
    instance: Readonly<Record<string, number>>,
    isHasty = false,
    binding = 0,
  ) {
    this.module = module;
    this.contract = contract;
    this.instance = instance;
    this.isHasty = isHasty;
    this.binding = binding;
    this.machine = this.newMachine();
    this.index = functionNamed(module, contract.name);
    const { input, output } = contract;
    const regions = [...input.regions, ...output.regions];
    for (const region of regions) if (!this.#placed.has(region.name)) this.#place(region);
    // Paths are about all memory, wherever pointers point to.
    if (contract.proof?.reference === 'reveals') return;
    for (const [name, at] of this.#fixedParameters(binding)) {
      const region = regions.find((one) => one.name === name)!;
      this.#placed.set(name, this.#sized(region, at));
    }
  }

  newMachine(): Machine {
    const machine = new Machine(this.module, MAX_PAGES);
    if (this.isHasty) machine.limit = HASTY_STEPS;
    this.machines.push(machine);
    return machine;
  }

  #names(others: Readonly<Record<string, number>>): Record<string, bigint> {
    const names: Record<string, bigint> = { q: modulusOf(this.contract.file) };
    const numbers = { ...this.instance, ...others };
    for (const [name, value] of Object.entries(numbers)) names[name] = BigInt(value);
    if (names.logn !== undefined) names.n = 1n << names.logn;
    return names;
  }

  /**
   * The value of an expression; `prime` is the index of the prime called p, and `others` are
   * numbers in place of the instance's.
   */
  evaluate(
    text: string,
    prime = this.instance.prime,
    others: Readonly<Record<string, number>> = {},
  ): bigint {
    const names = this.#names(others);
    if (prime === undefined) return evaluateBound(text, names);
    const [p, r] = [PRIMES[prime]!, RESIDUES[prime]!].map(BigInt);
    return evaluateBound(text, { ...names, p: p!, r: r! });
  }

  #sized(region: Region, at: number): Placed {
    const sizes = region.dimensions.map((size) => Number(this.evaluate(size)));
    return { region, at, count: sizes.reduce((a, b) => a * b, 1), size: bitsOf(region.type) / 8 };
  }

  #place(region: Region): void {
    const own = exported(this.module, region.name);
    if (own !== undefined) {
      this.#placed.set(region.name, this.#sized(region, own));
      return;
    }
    const placed = this.#sized(region, this.#end);
    this.#placed.set(region.name, placed);
    this.#end += Math.ceil((placed.count * placed.size) / 64) * 64 + 64;
  }

  /**
   * Pointers that the compiler has fixed, because they are always the same, and where they point.
   * No record is kept of which they are: a run decides, on zeros or on the number of the instance
   * everywhere (a header, perhaps). Every pointer that is left must be used, and every fixed one
   * must be found in the static memory. Of several ways to bind them, `binding` counts those that
   * found no proof.
   */
  #fixedParameters(binding: number): Map<string, number> {
    const { parameters, input, output, name } = this.contract;
    const { types, functions } = this.module;
    const left = types[functions[this.index]!]!.parameters.length;
    const regions = new Set([...input.regions, ...output.regions].map((region) => region.name));
    const names = parameters.map((one) => one.name);
    const pointers = names.filter((one) => regions.has(one));
    const ways = new Map<string, Map<string, number>>();
    for (const filling of [0, ...Object.values(this.instance)]) {
      for (const fixed of choices(pointers, names.length - left).flatMap(orders)) {
        this.#fixed = new Set(fixed);
        try {
          const found = this.#locate(fixed, filling);
          if (found !== undefined) ways.set([...found].sort().join(), found);
        } catch {
          // A wrong choice may leave the memory.
        }
        if (ways.size > binding) return [...ways.values()][binding]!;
      }
    }
    throw new Error(`${name}: ${names.length - left} parameters aren't found`);
  }

  /** Where pointers that the compiler has fixed point to. @returns undefined if they can't be */
  #locate(fixed: readonly string[], filling: number): Map<string, number> | undefined {
    if (fixed.length === 0) return new Map();
    const probe = this.newMachine();
    const args = this.#args(probe);
    const isData = (at: number) => isStatic(this.module, at);
    if (filling !== 0) {
      const { bytes } = probe.memory;
      for (let at = 0; at < bytes.length; at++) if (!isData(at)) bytes[at] = filling;
    }
    probe.memory.watch();
    probe.call(this.index, args);
    const { written, read } = probe.memory;
    const isIn = (side: 'input' | 'output', name: string) =>
      this.contract[side].regions.some((region) => region.name === name);
    for (const [name, { at, count, size }] of this.#placed) {
      const isOwn = (address: number) => address >= at && address < at + count * size;
      const isPointer = this.contract.parameters.some((one) => one.name === name);
      const isTouched = [...read].some(isOwn) || [...written].some(isOwn);
      if (isPointer && !fixed.includes(name) && !isTouched) return undefined;
    }
    const found = new Map<string, number>();
    const after = { input: 0, output: 0 };
    for (const name of fixed) {
      const [isInput, isOutput] = [isIn('input', name), isIn('output', name)];
      const side = isInput ? 'input' : 'output';
      const region = [...this.contract.input.regions, ...this.contract.output.regions].find(
        (one) => one.name === name,
      )!;
      const { count, size } = this.#sized(region, 0);
      const own = [...(isInput ? read : written)].filter(
        (at) =>
          at < REGIONS &&
          at >= after[side] &&
          !isData(at) &&
          (isInput ? !isOutput || written.has(at) : !read.has(at)),
      );
      const exact = isInput
        ? []
        : runsOf(written).filter(([from, to]) => to - from === count * size);
      if (exact.length !== 1 && own.length === 0) return undefined;
      const at = exact.length === 1 ? exact[0]![0] : own.reduce((a, b) => Math.min(a, b));
      found.set(name, at);
      after[side] = at + count * size;
    }
    return found;
  }

  #args(machine: Machine, given: ReadonlyMap<string, Value> = new Map()): Value[] {
    return this.contract.parameters
      .filter(({ name }) => !this.#fixed.has(name))
      .map(({ name, type }) => {
        const own = given.get(name) ?? this.turn?.argument(name, type);
        if (own !== undefined) return own;
        const value = this.#placed.get(name)?.at ?? this.values.get(name) ?? this.instance[name];
        if (value === undefined) throw new Error(`the parameter ${name} has no value`);
        return machine.terms.constant(type === 'i64' || type === 'u64' ? 64 : 32, value);
      });
  }

  placed(name: string): Placed {
    const placed = this.#placed.get(name);
    if (placed === undefined) throw new Error(`there is no region ${name}`);
    return placed;
  }

  address(name: string): number {
    return this.placed(name).at;
  }

  /** Whether the compiler has fixed a pointer. */
  isFixed(name: string): boolean {
    return this.#fixed.has(name);
  }

  /** A pointer to a row of a region, for a list of pointers. */
  pointer(name: string, row: number, size: number): Term {
    const at = this.address(name) + row * size;
    return this.turn?.rowOf(name, at, size) ?? this.machine.terms.constant(32, at);
  }

  /**
   * The rows of a region, and how many bytes of each belong to one of what there are `count` of; 0
   * if the region doesn't depend on it.
   */
  rowsOf(name: string, count: string): [rows: number, block: bigint] {
    const { region, size } = this.placed(name);
    const { dimensions } = region;
    const at = (text: string, value: number) => this.evaluate(text, undefined, { [count]: value });
    const place = dimensions.findIndex((text) => at(text, 1) !== at(text, 2));
    const first = dimensions[place];
    const hasStride = this.contract.parameters.some((one) => one.name === `${name}Stride`);
    if (first === undefined) return [hasStride ? Number(at(dimensions[0]!, 1)) : 1, 0n];
    if (at(first, 2) !== 2n * at(first, 1)) {
      throw new Error(`blocks of ${name} are not a multiple of ${count}`);
    }
    const product = (list: readonly string[]) => list.reduce((a, text) => a * at(text, 1), 1n);
    const rows = Number(product(dimensions.slice(0, place)));
    return [rows, product(dimensions.slice(place)) * BigInt(size)];
  }

  /** The bounds of an input, and of the output in its place, if the contract has them. */
  boundsOf(name: string, index: number, others: Readonly<Record<string, number>>) {
    const placed = this.placed(name);
    return [
      this.#bounds('input', placed, index, others),
      this.#bounds('output', placed, index, others),
    ] as const;
  }

  /** The index of the prime of an element, where the first dimension counts primes. */
  #prime({ region }: Placed, index: number): number | undefined {
    const first = region.dimensions.indexOf('6');
    if (first < 0) return undefined;
    const sizes = region.dimensions.slice(first).map((size) => Number(this.evaluate(size)));
    const inner = sizes.reduce((a, b) => a * b, 1);
    return Math.floor((6 * (index % inner)) / inner);
  }

  #bounds(
    side: 'input' | 'output',
    placed: Placed,
    index: number,
    others: Readonly<Record<string, number>> = {},
  ): [bigint, bigint] | undefined {
    const bound = this.contract[side].bounds.find(({ name }) => name === placed.region.name);
    if (bound === undefined) return undefined;
    const prime = this.#prime(placed, index);
    return [this.evaluate(bound.low, prime, others), this.evaluate(bound.high, prime, others)];
  }

  /** The unknowns of an input region, in order; the first call makes them. */
  inputs(name: string): readonly Term[] {
    const made = this.#inputs.get(name);
    if (made !== undefined) return made;
    const placed = this.#placed.get(name)!;
    const { count, size, at } = placed;
    const terms = Array.from({ length: count }, (_, i) => {
      const [low, high] = this.#bounds('input', placed, i) ?? [];
      const term = this.machine.terms.input(8 * size, `${name}[${i}]`, this.#key++, low, high);
      this.put(at + i * size, term);
      return term;
    });
    this.#inputs.set(name, terms);
    return terms;
  }

  /** Unknowns that no region of the contract has, at an address that the proof chooses. */
  unknowns(name: string, at: number, count: number, width: number, bound?: bigint): Term[] {
    const { terms } = this.machine;
    return Array.from({ length: count }, (_, i) => {
      const low = bound && -bound;
      const term = terms.input(width, `${name}[${i}]`, this.#key++, low, bound);
      this.put(at + (i * width) / 8, term);
      return term;
    });
  }

  /** Calls another function of the module with numbers. */
  callNamed(name: string, ...args: readonly number[]): void {
    const { terms } = this.machine;
    const index = functionNamed(this.module, name);
    this.callFunction(
      index,
      args.map((value) => terms.constant(32, value)),
    );
  }

  /** Stores a term before a call. */
  put(at: number, term: Term): void {
    this.machine.memory.store(at, term);
    this.placements.push([at, term]);
  }

  /**
   * Gives names to terms of 16 bits in memory: what follows is about any values within the bound.
   */
  name(at: number, count: number, bound: bigint): readonly Term[] {
    const { terms, memory } = this.machine;
    return Array.from({ length: count }, (_, i) => {
      const term = memory.load(at + 2 * i, 2);
      const isWithin = term.low >= -bound && term.high <= bound;
      this.check(isWithin, () => `value ${i} in [${term.low}, ${term.high}], beyond ${bound}`);
      const name = terms.opaque(
        'name',
        16,
        [term],
        [most(lowest(16), -bound), least(highest(16), bound)],
      );
      if (name.value === undefined) name.key = FIRST_TERM + name.id;
      memory.store(at + 2 * i, name);
      return name;
    });
  }

  /** Calls the kernel. @returns its results */
  call(): Value[] {
    return this.callWith(new Map());
  }

  /** Calls the kernel with some of the parameters given. */
  callWith(given: ReadonlyMap<string, Value>): Value[] {
    const results = this.resultsWith(given);
    if (!this.contract.hasErrors) {
      const isOk = results.every((result) => isVector(result) || result.value === 0n);
      this.check(isOk, () => 'the status of a function without errors is not 0');
    }
    return results;
  }

  /** Calls the kernel, whose result is a value that the statement compares. */
  resultsWith(given: ReadonlyMap<string, Value> = new Map()): Value[] {
    for (const { name } of this.contract.input.regions) {
      if (!this.filled.has(name)) this.inputs(name);
    }
    const args = this.#args(this.machine, given);
    if (this.turn === undefined) return this.callFunction(this.index, args);
    return this.turn.around(() => this.callFunction(this.index, args));
  }

  callFunction(index: number, args: readonly Value[]): Value[] {
    this.calls.push([index, args]);
    this.machine.memory.watch();
    const results = this.machine.call(index, args);
    for (const result of results) if (!isVector(result)) this.stated.set(result, 0n);
    return results;
  }

  /** The terms in an output region, which the statement is about; checks their bounds. */
  outputs(name: string): readonly Term[] {
    const placed = this.#placed.get(name)!;
    const isOutput = this.contract.output.regions.some((region) => region.name === name);
    return Array.from({ length: placed.count }, (_, i) => {
      const term = this.machine.memory.load(placed.at + i * placed.size, placed.size);
      if (isOutput && !this.stated.has(term)) this.stated.set(term, 0n);
      const bounds = isOutput ? this.#bounds('output', placed, i) : undefined;
      if (bounds !== undefined) {
        const { low, high } = term;
        const isWithin = low >= bounds[0] && high <= bounds[1];
        this.check(
          isWithin,
          () => `${name}[${i}] in [${low}, ${high}], not [${bounds.join(', ')}]`,
        );
      }
      return term;
    });
  }

  check(holds: boolean, what: () => string): void {
    this.checks++;
    if (holds) return;
    this.failures.push(what());
    if (this.isHasty) throw new Error(this.failures[0]);
  }

  /** Checks that nothing but the outputs was written, and that every input was used. */
  finish(): void {
    const { output, input, hasScratch } = this.contract;
    const places = output.regions.map(({ name }) => this.#placed.get(name)!);
    for (const at of this.machine.memory.written) {
      const isOwn = places.some((one) => at >= one.at && at < one.at + one.count * one.size);
      const isScratch = hasScratch && at < REGIONS;
      if (!isOwn && !isScratch) {
        this.check(false, () => `writes to address ${at}`);
        break;
      }
    }
    const used = new Set<Term>();
    for (const node of this.machine.terms.nodes) for (const arg of node?.args ?? []) used.add(arg);
    for (const { at, count, size } of places) {
      for (let i = 0; i < count * size; i++) {
        const cell = this.machine.memory.cell(at + i);
        if (cell !== undefined) used.add(cell.term);
      }
    }
    for (const { name } of input.regions.filter((region) => !this.filled.has(region.name))) {
      const inputs = this.inputs(name);
      const isPartial = this.partial.has(name) && inputs.some((term) => used.has(term));
      const idle = isPartial ? undefined : inputs.find((term) => !used.has(term));
      this.check(idle === undefined, () => `the input ${idle?.name} isn't used`);
    }
    this.check(this.machine.terms.faults.length === 0, () => this.machine.terms.faults[0]!);
    // An engine may go other ways on other inputs than those that the statement is about.
    if (this.turn ?? this.machine.decide ?? this.machine.onMask) this.#forgetCalls();
  }

  #forgetCalls(): void {
    this.calls.length = 0;
    this.placements.length = 0;
    this.machine.memory.watch();
  }
}

/** The address that an export names. @returns undefined if there is none */
export function exported({ exports, globals }: Module, name: string): number | undefined {
  const own = exports.get(name);
  return own?.kind === GLOBAL ? Number(globals[own.index]!.value) : undefined;
}

/** The same. @throws Error if there is none */
export function addressOf(module: Module, name: string): number {
  const at = exported(module, name);
  if (at === undefined) throw new Error(`${name} is not exported`);
  return at;
}

/** Whether an address is in a data segment; zeros at its ends aren't stored. */
export const isStatic = ({ data }: Module, at: number): boolean =>
  data.some((one) => at >= (one.at & ~15) && at < ((one.at + one.bytes.length + 15) & ~15));

/** The orders of a list. */
const orders = <T>(list: readonly T[]): T[][] =>
  list.length < 2
    ? [[...list]]
    : list.flatMap((first, i) => orders(list.toSpliced(i, 1)).map((rest) => [first, ...rest]));

/** Addresses as ranges. */
export function runsOf(addresses: Iterable<number>): [from: number, to: number][] {
  const runs: [number, number][] = [];
  for (const at of [...addresses].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last?.[1] === at) last[1]++;
    else runs.push([at, at + 1]);
  }
  return runs;
}

/** The ways to choose so many of a list. */
export function choices<T>(list: readonly T[], count: number): T[][] {
  if (count <= 0) return [[]];
  return list.flatMap((first, i) =>
    choices(list.slice(i + 1), count - 1).map((rest) => [first, ...rest]),
  );
}

/** @throws Error if the module has no function of this name, or several */
export function functionNamed(module: Module, name: string): number {
  const found = [...module.names].filter(([, full]) => full.split('/').at(-1) === name);
  if (found.length !== 1) throw new Error(`${found.length} functions are called ${name}`);
  return found[0]![0];
}
