/**
 * Tests the executor and the rules: runs each proof's calls in the engine, on the lowest, the
 * highest and random inputs, and compares all memory that was written with the values of the terms;
 * and checks each term's bounds and equations on these inputs.
 */
import type { Module } from './decode.ts';
import { evaluate, unsigned } from './evaluate.ts';
import { isVector, type Value } from './execute.ts';
import type { Kernel } from './kernel.ts';
import { idsOf, type Poly } from './poly.ts';
import { attempt, isOnValues, type Job, nameOf, needsSolver } from './prove.ts';
import type { Term, Terms } from './terms.ts';

/** A copy of the module that exports every function, with room for the regions. */
export function opened({ bytes, bodies }: Module): Uint8Array<ArrayBuffer> {
  const number = (value: number): number[] => {
    const low = value & 127;
    return value < 128 ? [low] : [low | 128, ...number(value >>> 7)];
  };
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

function compareMemory(kernel: Kernel, engine: WebAssembly.Module, values: Values, counts: Counts) {
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

function compareTerms({ machine: { terms } }: Kernel, values: Values, counts: Counts): void {
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

/** @returns whether the engine and all terms agree */
export function validate(
  { jobs, modules }: { jobs: readonly Job[]; modules: ReadonlyMap<string, Module> },
  say: (text: string) => void,
): boolean {
  const total: Counts = { bytes: 0, terms: 0, wrong: 0 };
  // The base sampler's function has vectors as parameters, which an engine can't be given.
  const able = jobs.filter(
    (job) => isOnValues(job) && !needsSolver(job) && (job.instance.rows ?? 0) < 5,
  );
  for (const job of able) {
    const module = modules.get(job.module)!;
    const engine = new WebAssembly.Module(opened(module));
    const kernel = attempt(job, module);
    const counts: Counts = { bytes: 0, terms: 0, wrong: 0 };
    for (let turn = 0; turn < 4; turn++) {
      const values = new Values(inputsOf(turn, kernel.machine.terms));
      compareMemory(kernel, engine, values, counts);
      compareTerms(kernel, values, counts);
    }
    for (const key of ['bytes', 'terms', 'wrong'] as const) total[key] += counts[key];
    say(`${nameOf(job).padEnd(64)} ${summary(counts)}`);
  }
  say(`${able.length} of ${jobs.length} proofs: ${summary(total)}`);
  return total.wrong === 0;
}
