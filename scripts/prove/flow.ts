/**
 * Runs a function on all paths at once. A branch that isn't known is taken both ways, and states
 * that meet at an instruction are joined: what differs between them has been revealed by the
 * branch. A loop is run turn by turn as long as it is known whether it goes on, and for some turns
 * more; then its turns are joined until nothing changes. Addresses and lengths must not depend on
 * secrets.
 */
import { type Instruction, type Module, V128 } from './decode.ts';
import { known, operate, popNumber, revealed } from './flowOperations.ts';
import { narrow } from './ranges.ts';
import {
  areEqual,
  cellsOf,
  fresh,
  isSecret,
  join,
  type Part,
  plain,
  type Value,
  type World,
} from './worlds.ts';

/** The turns for which a loop is followed when it isn't known whether it goes on. */
const OPEN_TURNS = 24;
/** The same in functions that call no others: one turn for each coefficient. */
const OWN_TURNS = 1100;
/** The turns after these for which bounds may still grow. */
const GROWING_TURNS = 2;

/** The turns of a loop. */
interface Turns {
  /** The last fork before it was open whether the loop goes on. */
  serial: number;
  /** The turns since. */
  open: number;
  /** The state at its beginning, once turns are joined. */
  first?: State;
}

interface Label {
  readonly height: number;
  readonly results: number;
  /** Where a branch continues. */
  readonly target: number;
  readonly end: number;
  readonly turns: Turns | undefined;
}

/** Where a call is, and all that it knows. */
export interface State {
  at: number;
  /** States with the lowest number go on first: they may still reach others. */
  order: number;
  /** The last fork that it comes from. */
  serial: number;
  /** The loop whose next turn it begins. */
  back: Label | undefined;
  readonly stack: Value[];
  readonly locals: Value[];
  readonly labels: Label[];
  readonly world: World;
}

/** A long call, to be used again in the same circumstances. */
interface Known {
  readonly args: readonly Value[];
  readonly before: Part;
  readonly after: Part;
  readonly results: readonly Value[];
}

/** The least steps of a long call. */
const LONG = 500;

export class Flow {
  readonly module: Module;
  /** The branches that depend on secrets. */
  readonly revealing = new Set<string>();
  /** The scalar shifts whose counts do. */
  readonly shifting = new Set<string>();
  readonly called = new Set<number>();
  /** Bits of results that are declared to be revealed, by function. */
  readonly revealed: ReadonlyMap<number, bigint>;
  /** Memory that is declared to be revealed when a function is called. */
  readonly opened: ReadonlyMap<number, readonly (readonly [from: number, to: number])[]>;
  forks = 0;
  readonly #known = new Map<number, Known[]>();
  #steps = 100_000_000;

  constructor(module: Module, revealed: Flow['revealed'], opened: Flow['opened']) {
    this.module = module;
    this.revealed = revealed;
    this.opened = opened;
  }

  note(places: Set<string>, index: number, { at }: Instruction): void {
    places.add(`${nameOf(this.module, index)}, byte ${at}`);
  }

  tick(): void {
    if (--this.#steps < 0) throw new Error('too many steps');
  }

  /** Calls a function. @returns its results, and the world after it */
  call(index: number, args: readonly Value[], world: World): [readonly Value[], World] {
    for (const range of this.opened.get(index) ?? []) world.reveal(...range);
    const outer = world.touched;
    const [results, after] = this.#remembered(index, args, world) ?? this.#run(index, args, world);
    for (const page of after.touched) outer.add(page);
    after.touched = outer;
    const mask = this.revealed.get(index);
    if (mask === undefined) return [results, after];
    return [results.map((value) => revealed(value, mask)), after];
  }

  #remembered(index: number, args: readonly Value[], world: World) {
    const isSame = ({ before, ...one }: Known) => areEqual(one.args, args) && world.has(before);
    const known = this.#known.get(index)?.find(isSame);
    if (known === undefined) return undefined;
    world.touched = new Set();
    world.adopt(known.after);
    return [known.results.map(fresh), world] as const;
  }

  #run(index: number, args: readonly Value[], world: World) {
    this.called.add(index);
    const [old, start] = [world.copy(), this.#steps];
    world.touched = new Set();
    const [results, after] = new Call(this, index).run(args, world);
    if (start - this.#steps >= LONG) {
      const [before, end] = [old.part(after.touched), after.part(after.touched)];
      const known = this.#known.get(index) ?? [];
      known.push({ args, before, after: end, results });
      this.#known.set(index, known);
    }
    return [results, after] as const;
  }
}

/** One call of a function. */
class Call {
  readonly #flow: Flow;
  readonly #index: number;
  readonly #code: readonly Instruction[];
  readonly #followed: number;
  readonly #waiting: State[] = [];
  /** The lowest order of a waiting state. */
  #lowest = Infinity;
  #returned: { results: Value[]; world: World; serial: number } | undefined;

  constructor(flow: Flow, index: number) {
    this.#flow = flow;
    this.#index = index;
    this.#code = flow.module.bodies[index]!.code;
    this.#followed = this.#code.some(({ op }) => op === 'call') ? OPEN_TURNS : OWN_TURNS;
  }

  run(args: readonly Value[], world: World): [readonly Value[], World] {
    const zero = (type: number): Value => (type === V128 ? cellsOf(0n, 16) : 0n);
    const locals = [...args, ...this.#flow.module.bodies[this.#index]!.locals.map(zero)];
    const serial = this.#flow.forks;
    this.#wait({ at: 0, order: 0, serial, back: undefined, stack: [], locals, labels: [], world });
    for (let state = this.#next(); state !== undefined; state = this.#next()) this.#follow(state);
    if (this.#returned === undefined) throw new Error(`function ${this.#index} doesn't return`);
    return [this.#returned.results, this.#returned.world];
  }

  #wait(state: State): void {
    this.#waiting.push(state);
    this.#lowest = Math.min(this.#lowest, state.order);
  }

  /** The state that is to go on, those at the same place being joined. */
  #next(): State | undefined {
    const order = this.#lowest;
    const here = this.#waiting.filter((state) => state.order === order);
    const others = this.#waiting.filter((state) => state.order !== order);
    this.#waiting.splice(0, this.#waiting.length, ...others);
    this.#lowest = others.reduce((least, state) => Math.min(least, state.order), Infinity);
    const [first, ...rest] = here;
    for (const state of rest) joinInto(first!, state);
    return first?.back === undefined ? first : this.#turn(first, first.back);
  }

  /** Begins a loop's next turn, if it may differ from earlier ones. */
  #turn(state: State, { turns, end }: Label): State | undefined {
    const { serial, first } = turns!;
    const isOpen =
      this.#waiting.some((one) => one.order > 2 * end - 1 && one.serial > serial) ||
      (this.#returned?.serial ?? -1) > serial;
    state.back = undefined;
    state.order = 2 * state.at;
    if (!isOpen) {
      // It is known that the loop goes on.
      turns!.serial = this.#flow.forks;
      turns!.open = 0;
      delete turns!.first;
      return state;
    }
    if (turns!.open++ < this.#followed) return state;
    if (first !== undefined) {
      joinInto(state, first);
      if (isSame(state, first)) return this.#next();
    }
    // What is true of these turns' values may not be of the next ones'.
    each(state, turns!.open > this.#followed + GROWING_TURNS ? plain : fresh);
    turns!.first = copyOf(state);
    return state;
  }

  /** Runs until the state ends, or others have to go on first. */
  #follow(state: State): void {
    for (;;) {
      const instruction = this.#code[state.at++]!;
      this.#flow.tick();
      const isEnd = this.#step(state, instruction);
      if (isEnd) {
        this.#return(state);
        return;
      }
      if (state.back === undefined) state.order = 2 * state.at;
      if (state.back !== undefined || state.order >= this.#lowest) {
        this.#wait(state);
        return;
      }
    }
  }

  #return({ stack, world, serial }: State): void {
    const { types, functions } = this.#flow.module;
    const count = types[functions[this.#index]!]!.results.length;
    const results = stack.slice(stack.length - count);
    if (results.length !== count) throw new Error('a result is missing');
    const old = this.#returned;
    if (old === undefined) this.#returned = { results, world, serial };
    else {
      world.join(old.world);
      const joined = results.map((value, i) => join(value, old.results[i]!));
      this.#returned = { results: joined, world, serial: Math.max(serial, old.serial) };
    }
  }

  /** The ways on which a condition lets a state go on; the second one is taken by a copy. */
  #ways(state: State, instruction: Instruction): [holds: State | undefined, not?: State] {
    const condition = popNumber(state);
    if (typeof condition === 'bigint') return condition === 0n ? [undefined, state] : [state];
    if (isSecret(condition)) this.#flow.note(this.#flow.revealing, this.#index, instruction);
    const other = copyOf(state);
    other.serial = state.serial = ++this.#flow.forks;
    narrow([state.stack, state.locals], condition, true);
    narrow([other.stack, other.locals], condition, false);
    return [state, other];
  }

  /** @returns whether the function ends */
  #branch(state: State, depth: number): boolean {
    const place = state.labels.length - 1 - depth;
    const label = state.labels[place];
    if (label === undefined) return true;
    const isLoop = label.turns !== undefined;
    const kept = isLoop ? [] : state.stack.slice(state.stack.length - label.results);
    state.stack.splice(label.height, state.stack.length, ...kept);
    state.labels.length = isLoop ? place + 1 : place;
    state.at = label.target;
    if (isLoop) {
      state.back = label;
      state.order = 2 * label.end - 1;
    }
    return false;
  }

  #open(state: State, { op, end, results }: Instruction): void {
    const isLoop = op === 'loop';
    state.labels.push({
      height: state.stack.length,
      results: isLoop ? 0 : results!,
      target: isLoop ? state.at : end! + 1,
      end: end!,
      turns: isLoop ? { serial: this.#flow.forks, open: 0 } : undefined,
    });
  }

  /** A copy that goes on elsewhere. */
  #leave(state: State, go: (state: State) => boolean): void {
    if (go(state)) this.#return(state);
    else {
      if (state.back === undefined) state.order = 2 * state.at;
      this.#wait(state);
    }
  }

  /** @returns whether the function ends */
  #step(state: State, instruction: Instruction): boolean {
    const { op } = instruction;
    switch (op) {
      case 'block':
      case 'loop':
        this.#open(state, instruction);
        return false;
      case 'if': {
        const [holds, not] = this.#ways(state, instruction);
        const { otherwise, end } = instruction;
        if (not !== undefined) {
          const skip = (): boolean => {
            if (otherwise !== undefined) this.#open(not, instruction);
            not.at = otherwise === undefined ? end! + 1 : otherwise + 1;
            return false;
          };
          if (holds === undefined) return skip();
          this.#leave(not, skip);
        }
        this.#open(state, instruction);
        return false;
      }
      case 'else':
        state.at = instruction.end!;
        return false;
      case 'end':
        return state.labels.pop() === undefined;
      case 'br':
        return this.#branch(state, instruction.index!);
      case 'br_if': {
        const [holds, not] = this.#ways(state, instruction);
        if (not === undefined) return this.#branch(state, instruction.index!);
        if (holds === undefined) return false;
        this.#leave(not, () => false);
        return this.#branch(state, instruction.index!);
      }
      case 'br_table': {
        const { labels } = instruction;
        const choice = known(state, 'a br_table');
        return this.#branch(state, labels![Math.min(choice, labels!.length - 1)]!);
      }
      case 'return':
        return true;
      case 'call':
        this.#call(state, instruction.index!);
        return false;
      default:
        this.#operate(state, instruction);
        return false;
    }
  }

  #operate(state: State, instruction: Instruction): void {
    try {
      if (operate(state, instruction))
        this.#flow.note(this.#flow.shifting, this.#index, instruction);
    } catch (error) {
      const name = nameOf(this.#flow.module, this.#index);
      throw new Error(`${(error as Error).message}: ${name}, byte ${instruction.at}`);
    }
  }

  #call(state: State, index: number): void {
    const { module } = this.#flow;
    const { parameters } = module.types[module.functions[index]!]!;
    const args = state.stack.splice(state.stack.length - parameters.length, parameters.length);
    const [results, world] = this.#flow.call(index, args.map(fresh), state.world);
    (state as { world: World }).world = world;
    state.stack.push(...results);
  }
}

/** A function's name, without that of its file. */
export const nameOf = ({ names }: Module, index: number): string =>
  names.get(index)?.split('/').at(-1) ?? `function ${index}`;

const copyOf = (state: State): State => ({
  ...state,
  ...{ stack: [...state.stack], locals: [...state.locals], labels: [...state.labels] },
  world: state.world.copy(),
});

/** Joins a state at the same place into another one. */
function joinInto(state: State, other: State): void {
  const { stack, locals, world } = state;
  if (stack.length !== other.stack.length) throw new Error('stacks of different heights');
  stack.forEach((value, i) => {
    stack[i] = join(value, other.stack[i]!);
  });
  locals.forEach((value, i) => {
    locals[i] = join(value, other.locals[i]!);
  });
  world.join(other.world);
  state.serial = Math.max(state.serial, other.serial);
}

/** Replaces all values but those in memory. */
function each({ stack, locals }: State, change: (value: Value) => Value): void {
  stack.forEach((value, i) => {
    stack[i] = change(value);
  });
  locals.forEach((value, i) => {
    locals[i] = change(value);
  });
}

const isSame = (a: State, b: State): boolean =>
  areEqual(a.stack, b.stack) && areEqual(a.locals, b.locals) && a.world.isEqual(b.world);
