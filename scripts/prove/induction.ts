/**
 * Induction over blocks: a loop is proved for every number of turns by one turn.
 *
 * The kernel runs with symbols for its pointers, for distances between rows, and for the numbers of
 * turns before this one, k, and after it, m; the count is k + 1 + m. Block k of a region begins k
 * times its size behind the pointer, row r of it r distances behind that. An address must be such a
 * place and a known offset within the block; it is mapped to the region of one block that the
 * statement has filled. At the head of the loop, turn k begins with
 *
 *   counters and pointers   their values before the loop, plus k times a step
 *   sums in variables       unknowns, within k times the bounds of what a turn adds
 *   flags in variables      unknowns, 0 or 1
 *   static memory           unknowns, where a turn writes
 *   other variables         unknowns
 *
 * and it must end at the head with the same for k + 1. The condition there is the only one that
 * may depend on m: it leaves the loop if m = 0, and for no other m. So turns 0 to k, each of which
 * writes its own block, or adds to the same sums, do what the statement says of one block, for
 * every k. After the loop the run goes on with m = 0.
 *
 * Where only the distance of rows is any, there are no such turns, but the same symbols.
 *
 * A trial, with k = 0, guesses the steps and what is written; the run itself checks.
 */
import { isStride, type Range } from './contracts.ts';
import { highest, least, lowest, most } from './evaluate.ts';
import { type Frame, isVector, Stopped, type Value } from './execute.ts';
import { Kernel } from './kernel.ts';
import { addPoly, atomsOf, constant, type Poly, substitute } from './poly.ts';
import { boundOf } from './rules.ts';
import type { Term } from './terms.ts';

/** Memory of the modules ends before: 16,384 pages. */
const MEMORY = 2n ** 30n;
/** The numbers of unknowns of a turn. */
const FIRST_KEY = 2 ** 22;

const NONE = constant(0n);

type Bounds = readonly [low: bigint, high: bigint];

/** Lanes to which each turn adds something within bounds. */
interface Sum {
  readonly width: number;
  readonly isVector: boolean;
  readonly bounds: readonly Bounds[];
}

/** A loop, as it was when the run arrived at its head first and last. */
interface Head {
  readonly frame: Frame;
  readonly at: number;
  readonly start: Value[];
  readonly latest: Value[];
  readonly stores: number;
}

/** What turns are guessed to do: by variable of the loop's function. */
interface Plan {
  /** The place of the loop. */
  readonly head: number;
  /** How far counters and pointers move. */
  readonly steps: Map<number, bigint>;
  readonly sums: Map<number, Sum>;
  readonly flags: Set<number>;
  /** Those whose values at the head are unknown. */
  readonly free: Set<number>;
  /** Static memory that turns write. */
  readonly written: Set<number>;
}

/** A region, of which a turn uses one block of each row. */
interface Window {
  readonly name: string;
  readonly symbol: Term;
  readonly at: number;
  /** Bytes that a turn may use, of each row. */
  readonly size: number;
  readonly rows: number;
  /** How far the next turn's block is; 0 if turns share the region. */
  readonly step: bigint;
  /** The distance of rows; without it, they have no space between them. */
  readonly stride: Term | undefined;
}

/** Which numbers of turns a condition is about. */
type Turns = 'any' | 'more' | 'last';

/** Proves the statement for every count, or distance of rows, on this kernel. */
export function byInduction(range: Range, kernel: Kernel, statement: (one: Kernel) => void): void {
  const { module, contract, instance, isHasty, binding, machine } = kernel;
  if (range.most === 0) {
    kernel.turn = new Turn(kernel, range, undefined);
    statement(kernel);
    return;
  }
  const plan = () => {
    const trial = new Kernel(module, contract, instance, isHasty, binding);
    trial.machine.limit = machine.limit;
    trial.turn = new Turn(trial, range, undefined);
    try {
      statement(trial);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
    if (trial.turn.found === undefined) throw new Error('no loop has this count');
    // The rest, which is large, is not kept.
    for (const { touched, memory } of trial.machines) {
      kernel.machines.push({ touched, memory: { everRead: memory.everRead } });
    }
    return trial.turn.found;
  };
  kernel.turn = new Turn(kernel, range, plan());
  statement(kernel);
}

export class Turn {
  /** Of the trial: what it has found. */
  found: Plan | undefined;
  /** Sums and flags in variables at the head, before and after the turn. */
  readonly before: Term[] = [];
  readonly after: Term[] = [];
  readonly #kernel: Kernel;
  readonly #range: Range;
  readonly #plan: Plan | undefined;
  /** The turn's number. */
  readonly k: Term;
  readonly #m: Term;
  readonly #count: Term;
  readonly #windows: Window[] = [];
  readonly #strides = new Map<string, Term>();
  readonly #expanded = new Map<Term, Poly>();
  #key = FIRST_KEY;
  #turns: Turns = 'any';
  #head: Head | undefined;
  #globals: readonly Term[] = [];
  #earlier = new Set<number>();
  #ofTurn: ReadonlySet<number> = new Set();
  #arrivals = 0;
  /** The block of the last address. */
  #block: readonly [from: number, to: number] = [0, 0];

  constructor(kernel: Kernel, range: Range, plan: Plan | undefined) {
    this.#kernel = kernel;
    this.#range = range;
    this.#plan = plan;
    const { terms } = kernel.machine;
    const last = BigInt(range.most - 1);
    if (last === 0n) throw new Error('an induction needs two turns');
    const zero = terms.constant(32, 0);
    this.k = plan === undefined ? zero : this.#unknown(32, 'k', [0n, last]);
    this.#m = last < 0n ? zero : this.#unknown(32, 'm', [0n, last]);
    const turns = terms.add(32, this.k, terms.constant(32, 1));
    this.#count = terms.add(32, turns, this.#m);
  }

  #unknown(width: number, name: string, bounds: Bounds = [lowest(width), highest(width)]): Term {
    return this.#kernel.machine.terms.input(width, name, this.#key++, ...bounds);
  }

  /** The value of a parameter, if it has no number. */
  argument(name: string, type: string): Term | undefined {
    if (isStride(name)) return this.#stride(name);
    if (name === this.#range.name) return this.#count;
    const { input, output } = this.#kernel.contract;
    const isRegion = [...input.regions, ...output.regions].some((region) => region.name === name);
    if (type !== 'usize' || !isRegion || this.#kernel.isFixed(name)) return undefined;
    return this.#windowOf(name).symbol;
  }

  #stride(name: string): Term {
    const term = this.#strides.get(name) ?? this.#unknown(32, name, [0n, MEMORY - 1n]);
    this.#strides.set(name, term);
    return term;
  }

  #windowOf(name: string): Window {
    const { at, count, size } = this.#kernel.placed(name);
    const [rows, step] = this.#kernel.rowsOf(name, this.#range.name);
    const parameters = this.#kernel.contract.parameters.map((one) => one.name);
    const stride = [`${name}Stride`, 'stride'].find((one) => rows > 1 && parameters.includes(one));
    const bytes = BigInt(stride === undefined ? rows : 1) * step * BigInt(this.#range.most);
    if (bytes > MEMORY) throw new Error(`no memory has such a ${name}`);
    const symbol = this.#unknown(32, `&${name}`, [0n, MEMORY - 1n]);
    const distance = stride === undefined ? undefined : this.#stride(stride);
    const own = { name, symbol, at, size: (count * size) / rows, rows, step, stride: distance };
    this.#windows.push(own);
    return own;
  }

  /** A pointer to a row of its own. */
  rowOf(name: string, at: number, size: number): Term {
    const symbol = this.#unknown(32, `&${name}, row`, [0n, MEMORY - 1n]);
    const window = { name, symbol, at, size, rows: 1, step: BigInt(size), stride: undefined };
    this.#windows.push(window);
    return symbol;
  }

  /** Makes the call. What it writes is unknown before, unless it is an input. */
  around(call: () => Value[]): Value[] {
    const { machine, contract } = this.#kernel;
    const { memory } = machine;
    for (const { name, at, size, rows } of this.#windows) {
      if (contract.input.regions.some((region) => region.name === name)) continue;
      for (let i = 0; i < size * rows; i++) memory.store(at + i, this.#unknown(8, 'unset'));
    }
    machine.place = (term, offset) => this.#place(term, offset);
    memory.guard = (at, size) => this.#guard(at, size);
    machine.decide = (condition, where) => this.#decide(condition, where);
    if (this.#range.most > 0) machine.onLoop = (...where) => this.#arrive(...where);
    try {
      const results = call();
      if (this.#range.most > 0 && this.#turns === 'any') throw new Error('no loop has this count');
      this.#checkAfter();
      return results;
    } finally {
      machine.place = memory.guard = machine.decide = machine.onLoop = undefined;
    }
  }

  /** The block that an address is in. */
  #blockAt(at: number): [from: number, to: number] | undefined {
    const window = this.#windows.find((one) => at >= one.at && at < one.at + one.rows * one.size);
    if (window === undefined) return undefined;
    const from = window.at + window.size * Math.floor((at - window.at) / window.size);
    return [from, from + window.size];
  }

  #guard(at: number, size: number): void {
    const [from, to] = this.#block;
    if (at >= from && at + size <= to) return;
    const block = this.#blockAt(at);
    const isIn = (one: Window) => at < one.at + one.rows * one.size && at + size > one.at;
    const isWrong = block === undefined ? this.#windows.some(isIn) : at + size > block[1];
    if (isWrong) throw new Error('an access that is only partly in its block');
  }

  #place(term: Term, offset: number): number {
    if (term.value !== undefined) {
      const at = Number(BigInt.asUintN(32, term.value));
      if (this.#blockAt(at + offset)) throw new Error('an address that is known, in a region');
      return at;
    }
    const [window, row, rest] = this.#split(this.expand(term));
    const within = addPoly(rest, this.expand(this.k), -window.step);
    const at = Number(within.get(0) ?? 0n);
    const isKnown = [...within.keys()].every((key) => key === 0);
    if (!isKnown || at < 0 || at + offset >= window.size) {
      throw new Error(`an address is not in the turn's block of ${window.name}`);
    }
    const from = window.at + row * window.size;
    this.#block = [from, from + window.size];
    return from + at;
  }

  /** The region and the row of an address, and how far behind the row's begin it is. */
  #split(poly: Poly): [Window, row: number, rest: Poly] {
    const found = this.#windows.filter(({ symbol }) => poly.has(symbol.id));
    const [window] = found;
    if (window === undefined || found.length > 1 || poly.get(window.symbol.id) !== 1n) {
      throw new Error('an address depends on an input');
    }
    const rest = new Map(poly);
    rest.delete(window.symbol.id);
    const { rows, step, stride } = window;
    if (rows === 1) return [window, 0, rest];
    const distance = stride ? this.expand(stride) : addPoly(NONE, this.expand(this.#count), step);
    const row = (rest.get((stride ?? this.#m).id) ?? 0n) / (stride ? 1n : step);
    if (row < 0n || row >= rows) throw new Error(`there is no row ${row}`);
    return [window, Number(row), addPoly(rest, distance, -row)];
  }

  /** A polynomial in inputs that is congruent to the term modulo 2^32. */
  expand(term: Term): Poly {
    const { terms } = this.#kernel.machine;
    const origin = terms.origin(term);
    const known = this.#expanded.get(origin);
    if (known !== undefined) return known;
    const ring = origin.ringBits >= 32 ? origin.ring : undefined;
    const poly = origin.op === 'input' ? undefined : (origin.definition ?? ring);
    let result: Poly = poly ?? new Map([[origin.id, 1n]]);
    for (const id of poly === undefined ? [] : atomsOf(poly)) {
      result = substitute(result, id, this.expand(terms.nodes[id]!)) ?? result;
    }
    const reduced = [...result].map(([key, value]) => [key, BigInt.asIntN(32, value)] as const);
    const final = new Map(reduced.filter(([, value]) => value !== 0n));
    this.#expanded.set(origin, final);
    return final;
  }

  /** The range of a form in k and m. @returns undefined if it is none */
  #rangeOf(poly: Poly, turns: Turns): Bounds | undefined {
    const ids = [0, this.k.id, this.#m.id];
    if ([...poly.keys()].some((key) => !ids.includes(key))) return undefined;
    const last = BigInt(this.#range.most - 1);
    const of = ({ id }: Term) => poly.get(id) ?? 0n;
    const at = (k: bigint, m: bigint) => (poly.get(0) ?? 0n) + k * of(this.k) + m * of(this.#m);
    const corners = {
      any: [at(0n, 0n), at(last, 0n), at(0n, last)],
      more: [at(0n, 1n), at(last - 1n, 1n), at(0n, last)],
      last: [at(0n, 0n), at(last, 0n)],
    };
    const values = corners[turns];
    return [least(...values), most(...values)];
  }

  /** Whether a number isn't zero. @returns undefined if it depends on m */
  #truth(term: Term, turns: Turns): boolean | undefined {
    if (term.value !== undefined) return term.value !== 0n;
    const [a, b] = term.args;
    if (term.op === 'bool' || term.op === 'resize') return this.#truth(a!, turns);
    const isTruth = /^(bool|resize|l[te]_[su]|eq|ne)$/.test(a!.op);
    if (term.op === 'eq' && b!.value === 0n && isTruth) {
      const truth = this.#truth(a!, turns);
      return truth === undefined ? undefined : !truth;
    }
    const op = /^(lt|le)_[su]$|^(eq|ne)$/.exec(term.op);
    if (!op || a!.width !== 32) throw new Error(`a branch depends on an input (${term.op})`);
    const [x, y] = [this.expand(a!), this.expand(b!)];
    const gap = this.#rangeOf(addPoly(x, y, -1n), turns);
    if (gap === undefined || !this.#isExact(x) || !this.#isExact(y)) {
      throw new Error(`a branch depends on an input (${term.op})`);
    }
    const [low, high] = gap;
    const name = op[1] ?? op[2];
    if (name === 'eq' || name === 'ne') {
      if (low > 0n || high < 0n) return name === 'ne';
      return low === high ? name === 'eq' : undefined;
    }
    const limit = name === 'lt' ? -1n : 0n;
    return high <= limit ? true : low > limit ? false : undefined;
  }

  /** Whether the form is the value, not only congruent to it: it is a count, or within memory. */
  #isExact(poly: Poly): boolean {
    const count = this.#rangeOf(poly, 'any');
    if (count !== undefined) return count[0] >= 0n && count[1] < 2n ** 31n;
    const [window, , rest] = this.#split(poly);
    const own = constant(BigInt(window.step === 0n ? window.size : 0));
    const size = addPoly(own, this.expand(this.#count), window.step);
    const [at, left] = [rest, addPoly(size, rest, -1n)].map((one) => this.#rangeOf(one, 'any'));
    return at !== undefined && left !== undefined && at[0] >= 0n && left[0] >= 0n;
  }

  #decide(condition: Term, where: string): boolean {
    const now = this.#truth(condition, this.#turns);
    if (now !== undefined) return now;
    if (this.#turns !== 'any' || this.#range.most === 0) {
      throw new Error(`a branch depends on an input: ${where}`);
    }
    const [more, last] = [this.#truth(condition, 'more'), this.#truth(condition, 'last')];
    if (more === undefined || last === undefined) {
      throw new Error(`a branch doesn't depend on whether the turn is the last: ${where}`);
    }
    this.#endTurn();
    this.#turns = 'last';
    return last;
  }

  #arrive(frame: Frame, at: number, isBack: boolean, depth: number): void {
    if (frame.index !== this.#kernel.index || depth !== 1) return;
    const { memory } = this.#kernel.machine;
    if (this.#turns !== 'any') {
      if (isBack) throw new Error('a turn after the last one');
      return;
    }
    if (!isBack) {
      const isLoop = this.#plan === undefined || this.#plan.head === at;
      if (!isLoop) return;
      if (this.#plan !== undefined && this.#arrivals > 0) throw new Error('the loop runs again');
      for (const place of memory.written) this.#earlier.add(place);
      if (this.#plan !== undefined) this.#begin(frame, this.#plan);
      memory.written = new Set();
      this.#globals = [...this.#kernel.machine.globals];
      this.#arrivals = 0;
    } else if (at !== this.#head?.at || frame !== this.#head.frame) return;
    this.#arrivals++;
    const start = isBack ? this.#head!.start : [...frame.locals];
    const { stores } = memory;
    this.#head = { frame, at, start, latest: [...frame.locals], stores };
  }

  /** Puts turn k's values where the loop has those of turn 0. */
  #begin(frame: Frame, plan: Plan): void {
    const { terms, memory } = this.#kernel.machine;
    if ([...this.#earlier].some((at) => this.#blockAt(at))) {
      throw new Error('a region is written before the loop');
    }
    for (const at of plan.written) memory.store(at, this.#unknown(8, 'static'));
    for (const [local, step] of plan.steps) {
      const way = terms.mul(32, this.k, terms.constant(32, step));
      frame.locals[local] = terms.add(32, frame.locals[local] as Term, way);
    }
    for (const [local, { width, isVector: isWide, bounds }] of plan.sums) {
      if (!isZero(frame.locals[local]!)) throw new Error("a sum doesn't begin with zero");
      const lanes = bounds.map((one) => this.#unknown(width, 'sum', this.#totalOf(one)));
      this.before.push(...lanes);
      frame.locals[local] = isWide ? { width, lanes } : lanes[0]!;
    }
    for (const local of plan.flags) {
      if (!isZero(frame.locals[local]!)) throw new Error("a flag doesn't begin with zero");
      const flag = this.#unknown(32, 'flag', [0n, 1n]);
      this.before.push(flag);
      frame.locals[local] = flag;
    }
    for (const local of plan.free) frame.locals[local] = this.#like(frame.locals[local]!);
  }

  /** Bounds of what all turns but one add. */
  #totalOf([low, high]: Bounds): Bounds {
    const last = BigInt(this.#range.most - 1);
    return [last * least(low, 0n), last * most(high, 0n)];
  }

  #like(value: Value): Value {
    if (!isVector(value)) return this.#unknown(value.width, 'any');
    return { width: 64, lanes: [0, 1].map(() => this.#unknown(64, 'any')) };
  }

  /** The run is at the head again, and the loop may end here. */
  #endTurn(): void {
    const { memory, globals } = this.#kernel.machine;
    const head = this.#head;
    if (head === undefined || this.#arrivals < 2) throw new Error('no loop has this count');
    const { frame, start, latest, stores } = head;
    if (stores !== memory.stores || latest.some((value, i) => value !== frame.locals[i])) {
      throw new Error("a turn doesn't end at the head of its loop");
    }
    if (globals.some((value, i) => value !== this.#globals[i])) {
      throw new Error('turns change a global');
    }
    const written = [...memory.written].filter((one) => !this.#blockAt(one));
    if (this.#plan === undefined) {
      this.found = this.#guess(head, new Set(written));
      throw new Stopped();
    }
    if (!this.#isNext(this.#plan, start, latest)) {
      throw new Error('a turn ends with other values than the next begins with');
    }
    if (written.some((one) => !this.#plan!.written.has(one))) {
      throw new Error('a turn writes static memory that it did not');
    }
    for (const one of this.#windows.filter((window) => hasAny(window, memory.written))) {
      if (one.stride !== undefined) throw new Error(`rows of ${one.name} may overlap`);
      if (one.step === 0n) this.#checkShared(one.name);
    }
    this.#ofTurn = memory.written;
    memory.written = new Set();
  }

  #guess({ frame, at: head, start, latest }: Head, written: Set<number>): Plan {
    const sets = { flags: new Set<number>(), free: new Set<number>(), written };
    const plan: Plan = { head, steps: new Map(), sums: new Map(), ...sets };
    const { code } = this.#kernel.module.bodies[frame.index]!;
    const body = code.slice(head, code[head - 1]!.end);
    latest.forEach((value, local) => {
      const old = start[local]!;
      const first = body.find(({ op, index }) => op.startsWith('local.') && index === local);
      // What a turn sets before it reads it doesn't matter.
      if (first !== undefined && first.op !== 'local.get') plan.free.add(local);
      else if (isSameValue(value, old)) return;
      else if (!isVector(value) && value.width === 32) {
        const gap = addPoly(this.expand(value), this.expand(old as Term), -1n);
        if ([...gap.keys()].every((key) => key === 0)) plan.steps.set(local, gap.get(0)!);
        else if (isZero(old) && isFlag(value)) plan.flags.add(local);
        else plan.free.add(local);
      } else {
        const sum = this.#sumOf(value);
        if (isZero(old) && sum !== undefined) plan.sums.set(local, sum);
        else plan.free.add(local);
      }
    });
    return plan;
  }

  /** What the first turn adds to zero, if all turns may. */
  #sumOf(value: Value): Sum | undefined {
    const lanes = lanesOf(value);
    const { width } = lanes[0]!;
    const bounds = lanes.map(({ low, high }): Bounds => [low, high]);
    const fits = bounds
      .map((one) => this.#totalOf(one))
      .every(([low, high]) => low >= lowest(width) && high <= highest(width));
    return fits ? { width, isVector: isVector(value), bounds } : undefined;
  }

  /** Whether variables are what the next turn begins with. */
  #isNext(plan: Plan, start: Value[], latest: Value[]): boolean {
    return latest.every((value, local) => {
      if (plan.free.has(local)) return true;
      const old = start[local]!;
      const sum = plan.sums.get(local);
      if (sum !== undefined) return this.#isSum(sum.bounds, old, value);
      if (plan.flags.has(local)) return this.after.push(...lanesOf(value)) > 0 && isFlag(value);
      if (isSameValue(value, old)) return !plan.steps.has(local);
      if (isVector(value) || value.width !== 32) return false;
      const gap = addPoly(this.expand(value), this.expand(old as Term), -1n);
      return gap.size === 1 && gap.get(0) === plan.steps.get(local);
    });
  }

  #isSum(bounds: readonly Bounds[], old: Value, value: Value): boolean {
    const [from, to] = [lanesOf(old), lanesOf(value)];
    if (isVector(old) !== isVector(value) || from.length !== to.length) return false;
    this.after.push(...to);
    return to.every((lane, i) => this.#isWithin(lane, from[i]!, bounds[i]!));
  }

  /** Whether a term is another one and something within these bounds, in the integers. */
  #isWithin(after: Term, before: Term, [low, high]: Bounds): boolean {
    if (after === before) return low <= 0n && high >= 0n;
    const added = this.#added(after, before);
    return added !== undefined && added[0] >= low && added[1] <= high;
  }

  #added(after: Term, before: Term): Bounds | undefined {
    const { terms } = this.#kernel.machine;
    let poly: Poly | undefined = terms.origin(after).definition;
    const below = new Map<Term, boolean>([[before, true]]);
    const depends = (term: Term): boolean => {
      const known = below.get(term);
      if (known !== undefined) return known;
      const result = term.args.some(depends);
      below.set(term, result);
      return result;
    };
    for (;;) {
      if (poly === undefined) return undefined;
      const id = atomsOf(poly).find((one) => one !== before.id && depends(terms.nodes[one]!));
      if (id === undefined) break;
      const { definition } = terms.nodes[id]!;
      if (definition === undefined) return undefined;
      poly = substitute(poly, id, definition);
    }
    const rest = new Map(poly);
    rest.delete(before.id);
    if (poly.get(before.id) !== 1n || atomsOf(rest).includes(before.id)) return undefined;
    return boundOf(terms, rest);
  }

  /** What turns share and write: each adds to it, and the contract's bounds allow it. */
  #checkShared(name: string): void {
    const kernel = this.#kernel;
    const { memory } = kernel.machine;
    const { at, count, size } = kernel.placed(name);
    const isInput = kernel.contract.input.regions.some((region) => region.name === name);
    const say = () => `turns share ${name}, and don't only add to it within its bounds`;
    if (!isInput) throw new Error(say());
    const before = kernel.inputs(name);
    let checked = '';
    for (let i = 0; i < count; i++) {
      const after = memory.load(at + i * size, size);
      const [own, out] = kernel.boundsOf(name, i, {});
      if (own === undefined || out === undefined) throw new Error(say());
      const added: Bounds = [out[0] - own[0], out[1] - own[1]];
      kernel.check(this.#isWithin(after, before[i]!, added), say);
      const bounds = [...own, ...out].join();
      if (bounds !== checked) kernel.check(this.#isLinear(name, i, own, added), say);
      checked = bounds;
    }
  }

  /** Whether turns stay within the first one's bounds, and end within those of the outputs. */
  #isLinear(name: string, index: number, first: Bounds, [low, high]: Bounds): boolean {
    for (let count = 1; count <= this.#range.most; count++) {
      const [own, out] = this.#kernel.boundsOf(name, index, { [this.#range.name]: count });
      const [n, before] = [BigInt(count), BigInt(count - 1)];
      const isFirst = own![0] + before * low >= first[0] && own![1] + before * high <= first[1];
      if (!isFirst || own![0] + n * low < out![0] || own![1] + n * high > out![1]) return false;
    }
    return true;
  }

  /** After the loop, only what turns share and don't write may be written. */
  #checkAfter(): void {
    const { written } = this.#kernel.machine.memory;
    for (const one of this.#windows.filter((window) => hasAny(window, written))) {
      const isClosed = one.step !== 0n || hasAny(one, this.#ofTurn);
      if (isClosed) throw new Error(`${one.name} is written after the loop`);
    }
    for (const at of [...this.#earlier, ...this.#ofTurn]) written.add(at);
  }
}

const hasAny = ({ at, size, rows }: Window, places: Iterable<number>): boolean =>
  [...places].some((place) => place >= at && place < at + size * rows);

const lanesOf = (value: Value): readonly Term[] => (isVector(value) ? value.lanes : [value]);

const isSameValue = (a: Value, b: Value): boolean =>
  a === b ||
  (isVector(a) === isVector(b) &&
    lanesOf(a).length === lanesOf(b).length &&
    lanesOf(a).every((lane, i) => lane === lanesOf(b)[i]));

const isFlag = (value: Value): boolean =>
  lanesOf(value).every(({ low, high }) => low >= 0n && high <= 1n);

const isZero = (value: Value): boolean => lanesOf(value).every((lane) => lane.value === 0n);
