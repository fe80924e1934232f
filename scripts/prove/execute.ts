/**
 * Runs functions of a decoded module on terms. Addresses, lengths, shift counts and branches must
 * be known; data may be unknown. A run that ends therefore shows that no input changes the control
 * flow or an address. Vectors are lists of lanes of 8 to 64 bits.
 */
import { I32, type Instruction, type Module, V128 } from './decode.ts';
import { Memory } from './memory.ts';
import { simd } from './simd.ts';
import { type Term, Terms } from './terms.ts';

/** Lanes, the lowest first. */
export interface Vector {
  readonly width: number;
  readonly lanes: readonly Term[];
}
export type Value = Term | Vector;

export const isVector = (value: Value): value is Vector => 'lanes' in value;

interface Label {
  readonly height: number;
  readonly results: number;
  /** Where a branch continues. */
  readonly target: number;
  readonly isLoop: boolean;
}

/** Thrown after the instruction that was to be the last one. */
export class Stopped extends Error {
  constructor() {
    super('stopped');
  }
}

export class Machine {
  readonly module: Module;
  readonly terms = new Terms();
  readonly memory: Memory;
  /** Functions that ran since the module was instantiated, and their instructions that did. */
  readonly ran = new Map<number, Uint8Array>();
  /** All functions that ran, the start function's included. */
  readonly touched = new Set<number>();
  readonly globals: Term[];
  steps = 0;
  /** The most steps, so that a loop without end ends. */
  limit = 50_000_000;
  /** The instruction after which a run ends with `Stopped`. */
  last: string | undefined;
  /** Sees each call. */
  onCall: ((index: number, args: readonly Value[]) => void) | undefined;
  /** Sees the end of each call. */
  onReturn: ((index: number, results: readonly Value[]) => void) | undefined;
  /** Chooses the result of a `bitmask` of unknown lanes. */
  onMask: ((lanes: readonly Term[]) => number) | undefined;
  /** Chooses at branches that depend on an input; without it they end the run. */
  decide: ((condition: Term, where: string) => boolean) | undefined;
  /** Finds the place of an address that isn't known, or refuses one that is. */
  place: ((term: Term, offset: number) => number) | undefined;
  /** Sees each arrival at the head of a loop, and in how many loops of the function it is. */
  onLoop: ((frame: Frame, head: number, isBack: boolean, depth: number) => void) | undefined;

  constructor(module: Module, pages = 64) {
    this.module = module;
    this.memory = new Memory(this.terms, pages, module.data);
    this.globals = module.globals.map(({ type, value }) =>
      this.terms.constant(type === I32 ? 32 : 64, value),
    );
    if (module.start !== undefined) this.call(module.start, []);
    this.memory.watch();
    this.ran.clear();
  }

  /** A number that must be known. */
  known(term: Term, what: string): number {
    if (term.value === undefined) throw new Error(`${what} depends on an input (${term.op})`);
    return Number(BigInt.asUintN(32, term.value));
  }

  call(index: number, args: readonly Value[]): Value[] {
    const body = this.module.bodies[index];
    if (body === undefined) throw new Error(`there is no function ${index}`);
    this.touched.add(index);
    if (!this.ran.has(index)) this.ran.set(index, new Uint8Array(body.code.length));
    this.onCall?.(index, args);
    const results = new Frame(this, index, args).run();
    this.onReturn?.(index, results);
    return results;
  }
}

/** A call. */
class Frame {
  readonly machine: Machine;
  readonly terms: Terms;
  readonly memory: Memory;
  readonly #code: readonly Instruction[];
  readonly #results: number;
  readonly #marks: Uint8Array;
  /** Parameters and variables. */
  readonly locals: Value[];
  readonly index: number;
  readonly #labels: Label[] = [];
  readonly stack: Value[] = [];
  #at = 0;

  constructor(machine: Machine, index: number, args: readonly Value[]) {
    const { module, terms } = machine;
    this.machine = machine;
    this.terms = terms;
    this.memory = machine.memory;
    this.index = index;
    const { parameters, results } = module.types[module.functions[index]!]!;
    if (args.length !== parameters.length) {
      throw new Error(`function ${index} has ${parameters.length} parameters, not ${args.length}`);
    }
    const { locals, code } = module.bodies[index]!;
    this.#results = results.length;
    this.#marks = machine.ran.get(index)!;
    this.#code = code;
    this.locals = [...args, ...locals.map((type) => this.#zero(type))];
  }

  #zero(type: number): Value {
    const zero = this.terms.constant(type === I32 ? 32 : 64, 0);
    return type === V128 ? { width: 64, lanes: [zero, zero] } : zero;
  }

  pop(): Value {
    const value = this.stack.pop();
    if (value === undefined) throw new Error('the stack is empty');
    return value;
  }

  term(): Term {
    const value = this.pop();
    if (isVector(value)) throw new Error('a vector instead of a number');
    return value;
  }

  vector(): Vector {
    const value = this.pop();
    if (!isVector(value)) throw new Error('a number instead of a vector');
    return value;
  }

  push(value: Value): undefined {
    this.stack.push(value);
  }

  /** The address of a load or store. */
  address(instruction: Instruction): number {
    const { machine } = this;
    const [term, offset] = [this.term(), instruction.offset!];
    return (machine.place?.(term, offset) ?? machine.known(term, 'an address')) + offset;
  }

  run(): Value[] {
    for (;;) {
      this.#marks[this.#at] = 1;
      const instruction = this.#code[this.#at++]!;
      if (++this.machine.steps > this.machine.limit) throw new Error('too many steps');
      const isEnd = this.#step(instruction);
      if (instruction.op === this.machine.last) throw new Stopped();
      if (isEnd) {
        const results = this.stack.slice(this.stack.length - this.#results);
        if (results.length !== this.#results) throw new Error('a result is missing');
        return results;
      }
    }
  }

  #holds(instruction: Instruction): boolean {
    const condition = this.term();
    if (condition.value !== undefined) return condition.value !== 0n;
    const where = `function ${this.index}, byte ${instruction.at}`;
    if (this.machine.decide) return this.machine.decide(condition, where);
    throw new Error(`a branch depends on an input: ${where} (${condition.op})`);
  }

  /** @returns whether the function ends */
  #branch(depth: number): boolean {
    const place = this.#labels.length - 1 - depth;
    const label = this.#labels[place];
    if (label === undefined) return true;
    const kept = label.isLoop ? [] : this.stack.slice(this.stack.length - label.results);
    this.stack.length = label.height;
    if (label.results > 0) this.stack.push(...kept);
    this.#labels.length = label.isLoop ? place + 1 : place;
    this.#at = label.target;
    if (label.isLoop) this.#arrive(true);
    return false;
  }

  #open(instruction: Instruction): void {
    const isLoop = instruction.op === 'loop';
    const target = isLoop ? this.#at : instruction.end! + 1;
    const results = isLoop ? 0 : instruction.results!;
    this.#labels.push({ height: this.stack.length, results, target, isLoop });
    if (isLoop) this.#arrive(false);
  }

  #arrive(isBack: boolean): void {
    const depth = this.#labels.filter(({ isLoop }) => isLoop).length;
    this.machine.onLoop?.(this, this.#labels.at(-1)!.target, isBack, depth);
  }

  /** @returns whether the function ends */
  #step(instruction: Instruction): boolean {
    switch (instruction.op) {
      case 'nop':
        return false;
      case 'unreachable':
        throw new Error('unreachable');
      case 'block':
      case 'loop':
        this.#open(instruction);
        return false;
      case 'if':
        if (this.#holds(instruction)) this.#open(instruction);
        else if (instruction.otherwise === undefined) this.#at = instruction.end! + 1;
        else {
          this.#open(instruction);
          this.#at = instruction.otherwise + 1;
        }
        return false;
      case 'else':
        this.#at = instruction.end!;
        return false;
      case 'end':
        return this.#labels.pop() === undefined;
      case 'br':
        return this.#branch(instruction.index!);
      case 'br_if':
        return this.#holds(instruction) && this.#branch(instruction.index!);
      case 'br_table': {
        const { labels } = instruction;
        const choice = this.machine.known(this.term(), 'a br_table');
        return this.#branch(labels![Math.min(choice, labels!.length - 1)]!);
      }
      case 'return':
        return true;
      default:
        this.#data(instruction);
        return false;
    }
  }

  #data(instruction: Instruction): undefined {
    const { op, index, value } = instruction;
    const { globals } = this.machine;
    switch (op) {
      case 'call': {
        const { module } = this.machine;
        const { parameters } = module.types[module.functions[index!]!]!;
        const args = this.stack.splice(this.stack.length - parameters.length, parameters.length);
        this.stack.push(...this.machine.call(index!, args));
        return;
      }
      case 'drop':
        this.pop();
        return;
      case 'select':
        return this.#select();
      case 'local.get':
        return this.push(this.locals[index!]!);
      case 'local.set':
        this.locals[index!] = this.pop();
        return;
      case 'local.tee':
        this.locals[index!] = this.stack.at(-1)!;
        return;
      case 'global.get':
        return this.push(globals[index!]!);
      case 'global.set':
        globals[index!] = this.term();
        return;
      case 'i32.const':
        return this.push(this.terms.constant(32, value!));
      case 'i64.const':
      case 'f64.const':
        return this.push(this.terms.constant(64, value!));
      case 'memory.size':
        return this.push(this.terms.constant(32, this.memory.bytes.length / 65536));
      case 'memory.copy':
      case 'memory.fill':
        return this.#bulk(op);
      default:
        return this.#operate(instruction);
    }
  }

  #select(): undefined {
    const condition = this.term();
    const [b, a] = [this.pop(), this.pop()];
    if (!isVector(a) && !isVector(b)) {
      this.push(this.terms.select(a.width, condition, a, b));
    } else this.push(this.machine.known(condition, 'a select of vectors') === 0 ? b : a);
  }

  #bulk(op: string): undefined {
    const size = this.machine.known(this.term(), 'a length');
    const source = this.term();
    const to = this.#start(this.term(), size);
    if (op === 'memory.copy') {
      this.memory.copy(to, this.#start(source, size), size);
    } else {
      const byte = this.terms.extract(8, source, 0);
      for (let i = 0; i < size; i++) this.memory.store(to + i, byte);
    }
  }

  /** Where a range begins; it must be known. */
  #start(term: Term, size: number): number {
    const at = this.machine.known(term, 'an address');
    this.machine.place?.(term, 0);
    if (size > 0) this.memory.guard?.(at, size);
    return at;
  }

  #operate(instruction: Instruction): undefined {
    const { op } = instruction;
    const [type, name] = op.split('.') as [string, string];
    if (/f64|f32|f64x2/.test(op)) this.#float(instruction, type, name);
    else if (type === 'i32' || type === 'i64')
      this.#scalar(instruction, type === 'i32' ? 32 : 64, name);
    else simd(this, instruction, type, name);
  }

  #scalar(instruction: Instruction, width: number, op: string): undefined {
    const { terms } = this;
    const load = /^load(\d*)_?([su]?)$/.exec(op);
    if (load) {
      const bits = Number(load[1] || width);
      const term = this.memory.load(this.address(instruction), bits / 8);
      return this.push(bits < width ? terms.extend(width, term, load[2] === 's') : term);
    }
    const store = /^store(\d*)$/.exec(op);
    if (store) {
      const term = this.term();
      const bits = Number(store[1] || width);
      return this.memory.store(this.address(instruction), terms.extract(bits, term, 0));
    }
    if (op === 'eqz') {
      return this.push(
        terms.bool(terms.compare('eq', width, this.term(), terms.constant(width, 0))),
      );
    }
    if (op === 'wrap_i64') return this.push(terms.extract(32, this.term(), 0));
    if (op.startsWith('extend_i32'))
      return this.push(terms.extend(64, this.term(), op.endsWith('s')));
    const extend = /^extend(\d+)_s$/.exec(op);
    if (extend) return this.push(terms.bits(width, this.term(), 0, Number(extend[1]), true));
    if (op === 'clz' || op === 'ctz' || op === 'popcnt') {
      return this.push(terms.opaque(op, width, [this.term()], [0n, BigInt(width)]));
    }
    const [b, a] = [this.term(), this.term()];
    if (/^(eq|ne|..?_[su])$/.test(op)) return this.push(terms.bool(terms.compare(op, width, a, b)));
    this.push(this.#binary(width, op, a, b));
  }

  #binary(width: number, op: string, a: Term, b: Term): Term {
    const { terms } = this;
    if (
      op === 'add' ||
      op === 'sub' ||
      op === 'mul' ||
      op === 'and' ||
      op === 'or' ||
      op === 'xor'
    ) {
      return terms[op](width, a, b);
    }
    if (op.startsWith('sh') || op.startsWith('rot')) {
      if (b.value === undefined) throw new Error(`a shift count depends on an input (${b.op})`);
      const bits = Number(BigInt.asUintN(64, b.value) % BigInt(width));
      if (op === 'rotl') return terms.rotl(width, a, bits);
      if (op === 'rotr') return terms.rotl(width, a, (width - bits) % width);
      return terms[op as 'shl' | 'shr_s' | 'shr_u'](width, a, bits);
    }
    if (a.value === undefined || b.value === undefined || b.value === 0n) {
      throw new Error(`${op} of an input`);
    }
    return terms.opaque(op, width, [a, b]);
  }

  /**
   * Operations on floating point have no meaning here; their terms show only what depends on what.
   */
  #float(instruction: Instruction, type: string, name: string): undefined {
    const { op } = instruction;
    const opaque = (width: number, ...args: Term[]) => this.terms.opaque(op, width, args);
    if (name === 'load') return this.push(this.memory.load(this.address(instruction), 8));
    if (name === 'store') {
      const term = this.term();
      return this.memory.store(this.address(instruction), term);
    }
    if (name.startsWith('reinterpret')) return;
    if (type === 'f64x2' || type === 'i32x4') return this.#floatVector(instruction, type, name);
    if (/trunc_/.test(name)) return this.push(opaque(type === 'i32' ? 32 : 64, this.term()));
    if (/^(abs|neg|sqrt|ceil|floor|trunc|nearest|convert_.*)$/.test(name)) {
      return this.push(opaque(64, this.term()));
    }
    const [b, a] = [this.term(), this.term()];
    const result = opaque(64, a, b);
    this.push(
      /^(eq|ne|lt|gt|le|ge)$/.test(name)
        ? this.terms.opaque('bool', 32, [result], [0n, 1n])
        : result,
    );
  }

  #floatVector(instruction: Instruction, type: string, name: string): undefined {
    const { op, lane } = instruction;
    const { terms } = this;
    const one = (width: number, term: Term) => terms.opaque(op, width, [term]);
    if (name === 'splat') {
      const term = this.term();
      return this.push({ width: 64, lanes: [term, term] });
    }
    if (name === 'extract_lane') return this.push(this.lanes(this.vector(), 64)[lane!]!);
    if (name === 'replace_lane') {
      const term = this.term();
      const lanes = this.lanes(this.vector(), 64).map((old, i) => (i === lane ? term : old));
      return this.push({ width: 64, lanes });
    }
    if (type === 'i32x4') {
      const lanes = this.lanes(this.vector(), 64).map((term) => one(32, term));
      const zero = terms.constant(32, 0);
      return this.push({ width: 32, lanes: [...lanes, zero, zero] });
    }
    if (name.startsWith('convert_low')) {
      const lanes = this.lanes(this.vector(), 32).slice(0, 2);
      return this.push({ width: 64, lanes: lanes.map((term) => one(64, term)) });
    }
    if (/^(abs|neg|sqrt|ceil|floor|trunc|nearest)$/.test(name)) {
      const lanes = this.lanes(this.vector(), 64).map((term) => one(64, term));
      return this.push({ width: 64, lanes });
    }
    const [b, a] = [this.lanes(this.vector(), 64), this.lanes(this.vector(), 64)];
    this.push({ width: 64, lanes: a.map((term, i) => terms.opaque(op, 64, [term, b[i]!])) });
  }

  /** The lanes of a vector, in another width. */
  lanes(vector: Vector, width: number): readonly Term[] {
    const { terms } = this;
    if (vector.width === width) return vector.lanes;
    if (vector.width > width) {
      const parts = vector.width / width;
      return vector.lanes.flatMap((term) =>
        Array.from({ length: parts }, (_, i) => terms.extract(width, term, i * width)),
      );
    }
    let { lanes } = vector;
    for (let at = vector.width; at < width; at *= 2) {
      lanes = Array.from({ length: lanes.length / 2 }, (_, i) =>
        terms.concat(lanes[2 * i]!, lanes[2 * i + 1]!),
      );
    }
    return lanes;
  }
}

export type { Frame };
