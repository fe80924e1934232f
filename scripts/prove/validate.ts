/**
 * Tests the executor and the rules: runs each proof's calls, and each operation alone, in the
 * engine, on the lowest, the highest and random inputs, and compares all memory that was written
 * with the values of the terms; and checks each term's bounds and equations on these inputs.
 */
import { decode, type Module } from './decode.ts';
import { evaluate, unsigned } from './evaluate.ts';
import { isVector, Machine, type Value } from './execute.ts';
import type { Kernel } from './kernel.ts';
import { MEMORY, PLAIN, SIMD } from './opcodes.ts';
import { idsOf, type Poly } from './poly.ts';
import { attempt, isOnValues, type Job, nameOf, needsSolver } from './prove.ts';
import { hasZ3 } from './smt.ts';
import type { Term, Terms } from './terms.ts';

/** By name, the prefix of an opcode and the opcode. */
export const CODES: ReadonlyMap<string, Opcode> = new Map(
  (
    [
      [undefined, PLAIN],
      [undefined, MEMORY],
      [0xfd, SIMD],
    ] as const
  ).flatMap(([prefix, table]) =>
    [...table].map(([code, op]): [string, Opcode] => [op, [prefix, code]]),
  ),
);
type Opcode = readonly [prefix: number | undefined, code: number];

/** An unsigned LEB128 number. */
function number(value: number): number[] {
  const low = value & 127;
  return value < 128 ? [low] : [low | 128, ...number(value >>> 7)];
}

/** A copy of the module that exports every function, with room for the regions. */
export function opened({ bytes, bodies }: Module): Uint8Array<ArrayBuffer> {
  const text = (value: string) => [value.length, ...new TextEncoder().encode(value)];
  const output = [...bytes.subarray(0, 8)];
  for (let at = 8; at < bytes.length; ) {
    const id = bytes[at++]!;
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      size |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    let body = [...bytes.subarray(at, at + size)];
    at += size;
    if (id === 5) body = [1, 1, ...number(128), ...number(16384)];
    if (id === 7) {
      const functions = bodies.flatMap((_, i) => [...text(`f${i}`), 0, ...number(i)]);
      body = [...number(bodies.length + 1), ...functions, ...text('memory'), 2, 0];
    }
    if (id === 0) continue;
    output.push(id, ...number(body.length));
    for (const byte of body) output.push(byte);
  }
  return Uint8Array.from(output);
}

/** Deterministic numbers below 2^32. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  };
}

/** Values of terms for given inputs. */
export class Values {
  readonly #values = new Map<number, bigint>();
  readonly #input: (term: Term) => bigint;

  constructor(input: (term: Term) => bigint) {
    this.#input = input;
  }

  of(start: Term): bigint {
    const stack = [start];
    while (stack.length > 0) {
      const term = stack.at(-1)!;
      const open = term.args.filter(({ id }) => !this.#values.has(id));
      if (open.length > 0 && !this.#values.has(term.id)) {
        stack.push(...open);
        continue;
      }
      stack.pop();
      if (!this.#values.has(term.id)) this.#values.set(term.id, this.#compute(term));
    }
    return this.#values.get(start.id)!;
  }

  #compute(term: Term): bigint {
    if (term.value !== undefined) return term.value;
    if (term.op === 'input') return this.#input(term);
    const args = term.args.map(({ id }) => this.#values.get(id)!);
    return evaluate(term.op, term.width, args, term.immediate, term.args[0]!.width);
  }

  ofPoly(poly: Poly, nodes: readonly Term[]): bigint {
    let sum = 0n;
    for (const [monomial, coefficient] of poly) {
      sum += idsOf(monomial).reduce((product, id) => product * this.of(nodes[id]!), coefficient);
    }
    return sum;
  }
}

interface Counts {
  bytes: number;
  terms: number;
  wrong: number;
}

const summary = ({ bytes, terms, wrong }: Counts): string =>
  `${bytes} bytes, ${terms} terms, ${wrong} wrong`;

/** Calls that can be repeated in an engine. */
type Calls = Pick<Kernel, 'machine' | 'placements' | 'calls'>;

function compareMemory(kernel: Calls, engine: WebAssembly.Module, values: Values, counts: Counts) {
  const { exports } = new WebAssembly.Instance(engine);
  const memory = exports.memory as WebAssembly.Memory;
  const bytes = () => new Uint8Array(memory.buffer);
  for (const [at, term] of kernel.placements) {
    const value = unsigned(term.width, values.of(term));
    for (let i = 0; i < term.width / 8; i++)
      bytes()[at + i] = Number((value >> BigInt(8 * i)) & 255n);
  }
  const argument = (value: Value) => {
    if (isVector(value)) throw new Error('a vector as an argument');
    const number = values.of(value);
    return value.width === 64 ? number : Number(number);
  };
  for (const [index, args] of kernel.calls) {
    (exports[`f${index}`] as (...args: (number | bigint)[]) => void)(...args.map(argument));
  }
  const own = kernel.machine.memory;
  const result = bytes();
  for (const at of own.written) {
    const cell = own.cell(at);
    const value = cell && unsigned(cell.term.width, values.of(cell.term));
    const byte = cell ? Number((value! >> BigInt(8 * cell.byte)) & 255n) : own.bytes[at];
    counts.bytes++;
    if (byte !== result[at]) counts.wrong++;
  }
}

function compareTerms({ machine: { terms } }: Calls, values: Values, counts: Counts): void {
  const step = Math.max(1, Math.floor(terms.nodes.length / 20_000));
  for (let id = 1; id < terms.nodes.length; id += step) {
    const term = terms.nodes[id]!;
    const value = values.of(term);
    const { definition, ring, ringBits, divides } = term;
    const isRight =
      value >= term.low &&
      value <= term.high &&
      (definition === undefined || values.ofPoly(definition, terms.nodes) === value) &&
      (ring === undefined ||
        (values.ofPoly(ring, terms.nodes) - value) % (1n << BigInt(ringBits)) === 0n) &&
      values.of(term.args[0] ?? term) % (1n << BigInt(divides)) === 0n;
    counts.terms++;
    if (!isRight) counts.wrong++;
  }
}

/** The inputs of a turn: the lowest, the highest, then random and extreme ones. */
export function inputsOf(turn: number, { nodes }: Terms): (term: Term) => bigint {
  if (turn === 0) return ({ low }) => low;
  if (turn === 1) return ({ high }) => high;
  const next = generator(turn);
  const chosen = new Map<Term, bigint>();
  // In order, so that another run of the statement has the same.
  for (const term of nodes.slice(1).filter(({ op }) => op === 'input')) {
    const { low, high } = term;
    const bits = (BigInt(next()) << 32n) | BigInt(next());
    const extreme = next() % 8;
    const value = extreme === 0 ? low : extreme === 1 ? high : low + (bits % (high - low + 1n));
    chosen.set(term, value);
  }
  return (term) => chosen.get(term)!;
}

const newCounts = (): Counts => ({ bytes: 0, terms: 0, wrong: 0 });

/** Compares some runs; adds to the counts. */
function compareRuns(calls: Calls, engine: WebAssembly.Module, turns: number, counts: Counts) {
  for (let turn = 0; turn < turns; turn++) {
    const values = new Values(inputsOf(turn, calls.machine.terms));
    compareMemory(calls, engine, values, counts);
    compareTerms(calls, values, counts);
  }
}

/** Whether the calls can be repeated: the base sampler's function has vectors as parameters. */
const isRepeatable = ({ calls }: Kernel): boolean =>
  calls.every(([, args]) => !args.some(isVector));

/** @returns how often a run of the kernel and the engine, or the terms, differ */
export function disagreements(kernel: Kernel): number {
  const counts = newCounts();
  if (isRepeatable(kernel)) {
    compareRuns(kernel, new WebAssembly.Module(opened(kernel.module)), 4, counts);
  }
  return counts.wrong;
}

const TYPES = [
  { code: 0x7f, width: 32, load: [0x28, 0, 0], store: [0x36, 0, 0] },
  { code: 0x7e, width: 64, load: [0x29, 0, 0], store: [0x37, 0, 0] },
  { code: 0x7b, width: 128, load: [0xfd, 0, 0, 0], store: [0xfd, 11, 0, 0] },
] as const;
type Type = (typeof TYPES)[number];

/** Where trials have their result, operands, and what loads and stores are tried on. */
const [RESULT, OPERANDS, TARGET] = [1024, 2048, 4096];
const OFFSET = 16;

/** `i32.const` of an address: a number whose last byte of LEB128 is below 64. */
const constant = (address: number): number[] => [0x41, ...number(address)];

const longer = (lists: readonly (readonly Type[])[]) =>
  lists.flatMap((list) => TYPES.map((type) => [...list, type]));
/** Lists of up to three types. */
const SIGNATURES = [[], ...longer([[]]), ...longer(longer([[]])), ...longer(longer(longer([[]])))];

/** A module with a page, a global and one function. */
function moduleWith(...instructions: readonly number[]): Uint8Array<ArrayBuffer> {
  const body = [0, ...instructions, 0x0b];
  const code = [1, ...number(body.length), ...body];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 5, 3, 1, 0, 1, 6, 6, 1, 0x7f, 1, 0x41, 5, 0x0b],
    ...[7, 15, 2, 2, 0x66, 0x30, 0, 0, 6, ...new TextEncoder().encode('memory'), 2, 0],
    ...[10, ...number(code.length), ...code],
  ]);
}

/** A module whose function applies an instruction to operands in memory. */
function moduleOf(instruction: readonly number[], operands: readonly Type[], result?: Type) {
  const loads = operands.flatMap(({ load }, i) => [...constant(OPERANDS + 16 * i), ...load]);
  return result
    ? moduleWith(...constant(RESULT), ...loads, ...instruction, ...result.store)
    : moduleWith(...loads, ...instruction);
}

/** Branches that are known, the global and the size of memory. @returns the operations */
function tryControl(counts: Counts): string[] {
  const store = (at: number, ...value: number[]) => [
    ...constant(RESULT + at),
    ...value,
    0x36,
    0,
    0,
  ];
  const one = [0x41, 1];
  const two = [0x41, 2];
  const branches = [0, 1].flatMap((condition) => [
    ...[0x41, condition, 0x04, 0x40, ...store(16 * condition, ...one)],
    ...[0x05, ...store(16 * condition, ...two), 0x0b],
    ...[0x02, 0x40, 0x41, condition, 0x0d, 0, ...store(16 * condition + 8, ...one), 0x0b],
  ]);
  const state = [0x23, 0, 0x41, 3, 0x6a, 0x24, 0, ...store(32, 0x23, 0), ...store(40, 0x3f, 0)];
  const bytes = moduleWith(...branches, ...state);
  const module = decode(bytes);
  const machine = new Machine(module, 1);
  machine.call(0, []);
  const calls: Calls = { machine, placements: [], calls: [[0, []]] };
  compareRuns(calls, new WebAssembly.Module(bytes), 1, counts);
  return module.bodies[0]!.code.map(({ op }) => op);
}

/** The instruction with different immediates. */
function instructionsOf(op: string, next: () => number): number[][] {
  const [prefix, code] = CODES.get(op)!;
  const head = prefix === undefined ? [code] : [prefix, ...number(code)];
  if (op === 'i8x16.shuffle') {
    const bytes = Array.from({ length: 16 }, () => (next() >>> 8) % 32);
    const words = Array.from({ length: 4 }, () => (next() >>> 8) % 8);
    const whole = words.flatMap((word) => [0, 1, 2, 3].map((i) => 4 * word + i));
    return [bytes, whole].map((map) => [...head, ...map]);
  }
  if (op === 'v128.const') return [[...head, ...Array.from({ length: 16 }, () => next() >>> 24)]];
  const isMemory = /\.(load|store)/.test(op);
  const place = isMemory ? [0, OFFSET] : [];
  const lanes = /_lane/.test(op) ? [0, 1] : undefined;
  return lanes ? lanes.map((lane) => [...head, ...place, lane]) : [[...head, ...place]];
}

/** Ranges of unknowns, as powers of two and signs. */
const RANGES = [
  (width: number): [bigint, bigint] => [-(1n << BigInt(width - 1)), (1n << BigInt(width - 1)) - 1n],
  (): [bigint, bigint] => [-100n, 100n],
  (): [bigint, bigint] => [-1n, 0n],
] as const;
const COUNTS = [0n, 1n, 3n, 7n, 15n, 31n, 33n, 65535n, -1n];

/**
 * Applies an instruction to unknowns, in lanes of a width and within a range, and to numbers.
 *
 * @returns undefined if the executor doesn't apply it to such operands
 */
function trial(
  module: Module,
  operands: readonly Type[],
  { known, lanes, range, isMemory }: Trial,
  next: () => number,
): Calls | undefined {
  const machine = new Machine(module, 1);
  const { terms } = machine;
  const placements: [number, Term][] = [];
  // Few of the numbers are indices of a swizzle.
  const most = (next() >>> 8) % 2 === 0 ? COUNTS.length : 5;
  const put = (at: number, width: number, isKnown: boolean) => {
    const [low, high] = range(width);
    const value = COUNTS[(next() >>> 8) % most]!;
    const term = isKnown ? terms.constant(width, value) : terms.input(width, '', at, low, high);
    machine.memory.store(at, term);
    placements.push([at, term]);
  };
  operands.forEach(({ width }, i) => {
    const at = OPERANDS + 16 * i;
    const size = Math.min(width, lanes);
    for (let bit = 0; bit < width; bit += width === 128 ? size : width) {
      put(at + bit / 8, width === 128 ? size : width, known[i]!);
    }
  });
  if (isMemory) {
    const address = terms.constant(32, TARGET);
    machine.memory.store(OPERANDS, address);
    placements.push([OPERANDS, address]);
    for (let bit = 0; bit < 256; bit += lanes) put(TARGET + bit / 8, lanes, known[1] === true);
  }
  machine.memory.watch();
  try {
    machine.call(0, []);
  } catch (error) {
    if (/depends on an input|of an input/.test((error as Error).message)) return undefined;
    throw error;
  }
  return terms.faults.length > 0 || terms.nodes.some((term) => term?.op === 'saturating')
    ? undefined
    : { machine, placements, calls: [[0, []]] };
}

interface Trial {
  /** By operand, whether it is a number. */
  readonly known: readonly boolean[];
  readonly lanes: number;
  readonly range: (width: number) => [bigint, bigint];
  readonly isMemory: boolean;
}

/** Tries an operation alone. @returns the number of trials */
export function tryOperation(op: string, counts: Counts): number {
  const next = generator(CODES.get(op)![1]);
  let trials = 0;
  let fewest = 3;
  const isMemory = /\.(load|store)/.test(op);
  for (const instruction of instructionsOf(op, next)) {
    for (const operands of SIGNATURES) {
      const bytes = [undefined, ...TYPES]
        .map((result) => moduleOf(instruction, operands, result))
        .find((one) => WebAssembly.validate(one));
      // More operands than an operation has would stay on the stack.
      if (bytes === undefined || operands.length > fewest) continue;
      fewest = operands.length;
      const [module, engine] = [decode(bytes), new WebAssembly.Module(bytes)];
      for (let mask = 0; mask < 1 << operands.length; mask++) {
        const known = operands.map((_, i) => ((mask >> i) & 1) === 1);
        for (const lanes of operands.length === 0 ? [64] : [8, 16, 32, 64]) {
          for (const range of RANGES) {
            const calls = trial(module, operands, { known, lanes, range, isMemory }, next);
            if (calls === undefined) continue;
            trials++;
            compareRuns(calls, engine, 4, counts);
          }
        }
      }
    }
  }
  return trials;
}

/** Operations of which the executor knows only what depends on what. */
const isReal = (op: string): boolean => /f32|f64/.test(op);
/** Operations that end every run. */
const ENDS = new Set(['unreachable', 'memory.grow']);

/**
 * Tries each operation of the modules that has operands alone.
 *
 * @param ran - the operations that proofs executed
 * @returns whether all agree, and every operation was tried, executed, or is refused
 */
export function validateOperations(
  modules: Iterable<Module>,
  ran: ReadonlySet<string>,
  say: (text: string) => void,
): boolean {
  const present = new Set(
    [...modules].flatMap(({ bodies }) => bodies.flatMap(({ code }) => code.map(({ op }) => op))),
  );
  const counts = newCounts();
  const [tried, refused, open]: [string[], string[], string[]] = [[], [], []];
  const control = tryControl(counts);
  let trials = 0;
  for (const op of [...present].filter((one) => !isReal(one)).sort()) {
    let list = ran.has(op) || control.includes(op) ? undefined : open;
    try {
      const own = CODES.has(op) && !ENDS.has(op) ? tryOperation(op, counts) : 0;
      trials += own;
      if (own > 0) list = tried;
      else if (ENDS.has(op)) list = refused;
    } catch (error) {
      if (!(error as Error).message.endsWith("isn't modelled")) throw error;
      list = refused;
    }
    list?.push(op);
  }
  say(`${tried.length} operations alone, ${trials} trials: ${summary(counts)}`);
  say(`refused by the executor: ${refused.join(', ')}`);
  if (open.length > 0) say(`NOT EXERCISED: ${open.join(', ')}`);
  return counts.wrong === 0 && open.length === 0;
}

/** @returns whether all agree and, if every proof was asked for, every operation was exercised */
export function validate(
  { jobs, modules }: { jobs: readonly Job[]; modules: ReadonlyMap<string, Module> },
  isWhole: boolean,
  say: (text: string) => void,
): boolean {
  const total = newCounts();
  const ran = new Set<string>();
  const able = jobs.filter(
    (job) => isOnValues(job) && (!needsSolver(job) || hasZ3()) && (job.instance.rows ?? 0) < 5,
  );
  let repeated = 0;
  for (const job of able) {
    const module = modules.get(job.module)!;
    const kernel = attempt(job, module);
    if (!isRepeatable(kernel)) continue;
    repeated++;
    const counts = newCounts();
    compareRuns(kernel, new WebAssembly.Module(opened(module)), 4, counts);
    for (const [index, marks] of kernel.machine.ran) {
      module.bodies[index]!.code.forEach(({ op }, at) => {
        if (marks[at] === 1) ran.add(op);
      });
    }
    for (const key of ['bytes', 'terms', 'wrong'] as const) total[key] += counts[key];
    say(`${nameOf(job).padEnd(64)} ${summary(counts)}`);
  }
  say(`${repeated} of ${jobs.length} proofs: ${summary(total)}`);
  const isExercised = !isWhole || validateOperations(modules.values(), ran, say);
  return total.wrong === 0 && isExercised;
}
