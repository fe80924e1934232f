/** One proof: a kernel of a module, under one instance of its contract. */
import { sha256 } from '../generated.ts';
import { COMPOSED } from './composed.ts';
import type { Contract, Range } from './contracts.ts';
import type { Module } from './decode.ts';
import { HASHING } from './hashing.ts';
import { byInduction } from './induction.ts';
import { Kernel, runsOf } from './kernel.ts';
import { PATHS } from './paths.ts';
import { PROJECTIONS } from './projections.ts';
import { hasZ3 } from './smt.ts';
import { SOLVED } from './solved.ts';
import { STATEMENTS, type Statement } from './statements.ts';

const ALL: Readonly<Record<string, Statement>> = {
  ...{ ...STATEMENTS, ...PROJECTIONS, ...SOLVED, ...PATHS, ...HASHING, ...COMPOSED },
};

export interface Job {
  readonly module: string;
  readonly contract: Contract;
  readonly instance: Readonly<Record<string, number>>;
  /** What an induction is over. */
  readonly range: Range | undefined;
}

/** What a proof depends on and covers. */
export interface Outcome {
  readonly checks: number;
  readonly seconds: number;
  /** Why it is no proof; empty for a proof. */
  readonly failure: string;
  readonly isSkipped: boolean;
  /** Functions that ran, in proofs or in search of addresses. */
  readonly functions: readonly number[];
  /** Ranges of initial memory that were read. */
  readonly ranges: readonly [from: number, to: number][];
  /** By function, the instructions that were executed on unknowns, as hexadecimal bits. */
  readonly covered: Readonly<Record<string, string>>;
}

/** The numbers of an instance, as text. */
export const numbersOf = ({ instance, range }: Job): string[] => {
  const { name, most = 0 } = range ?? {};
  const numbers = Object.entries(instance).filter(([one]) => one !== name);
  const last = range && `${name}=${most === 0 ? 'any' : `1..${most}`}`;
  return [...numbers.map(([one, value]) => `${one}=${value}`), ...(last ? [last] : [])];
};

export const nameOf = (job: Job): string =>
  [job.module, job.contract.name, ...numbersOf(job)].join(' ');

export const needsSolver = ({ contract }: Job): boolean =>
  Object.hasOwn(SOLVED, contract.proof!.reference);

/** Whether the statement is about values, and not about paths alone. */
export const isOnValues = ({ contract }: Job): boolean =>
  !Object.hasOwn(PATHS, contract.proof!.reference);

/** The jobs of a module. @throws Error if a proof is unknown, or two have the same name */
export function jobsOf(module: string, decoded: Module, contracts: readonly Contract[]): Job[] {
  const present = new Set([...decoded.names.values()].map((name) => name.split('/').at(-1)));
  const jobs = contracts.flatMap((contract) => {
    if (contract.proof === undefined || !present.has(contract.name)) return [];
    if (contract.builds?.includes(module) === false) return [];
    const { reference, instances } = contract.proof;
    if (!Object.hasOwn(ALL, reference)) {
      throw new Error(`${contract.name}: there is no proof ${reference}`);
    }
    return instances.map(({ numbers, range }) => ({ module, contract, instance: numbers, range }));
  });
  const names = jobs.map(nameOf);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new Error(`${twice}: two proofs`);
  return jobs;
}

/**
 * Runs the statement, on each way to bind parameters until one holds.
 *
 * @returns the kernel; its failures say what doesn't hold
 */
export function attempt(job: Job, module: Module): Kernel {
  let first: Kernel | undefined;
  for (let binding = 0; ; binding++) {
    let kernel: Kernel;
    try {
      kernel = new Kernel(module, job.contract, job.instance, false, binding);
    } catch (error) {
      if (first === undefined) throw error;
      return first;
    }
    try {
      run(job, kernel);
    } catch (error) {
      kernel.failures.push((error as Error).message);
    }
    if (kernel.failures.length === 0) return kernel;
    first ??= kernel;
    // Nothing is bound where all memory is unknown.
    if (!isOnValues(job)) return first;
  }
}

/** Runs the statement on a kernel. */
export function run({ contract, range }: Job, kernel: Kernel): void {
  const { reference, args } = contract.proof!;
  const statement = (one: Kernel) => ALL[reference]!(one, args);
  if (range === undefined) statement(kernel);
  else byInduction(range, kernel, statement);
  kernel.finish();
  if (kernel.checks === 0) kernel.failures.push('nothing was checked');
}

export function prove(job: Job, module: Module): Outcome {
  const start = performance.now();
  const none = { checks: 0, functions: [], ranges: [], covered: {}, isSkipped: false };
  const seconds = () => Math.round(performance.now() - start) / 1000;
  if (needsSolver(job) && !hasZ3()) {
    return { ...none, isSkipped: true, failure: 'z3 is not installed', seconds: 0 };
  }
  try {
    const kernel = attempt(job, module);
    const failure = kernel.failures[0] ?? '';
    const { checks, machine } = kernel;
    const covered = Object.fromEntries(
      [...machine.ran].map(([index, marks]) => [index, pack(marks)]),
    );
    return { ...none, ...dependencies(kernel), checks, failure, covered, seconds: seconds() };
  } catch (error) {
    return { ...none, failure: (error as Error).message, seconds: seconds() };
  }
}

/** Bits, four to a hexadecimal digit; `all` if all are set. */
function pack(marks: Uint8Array): string {
  if (marks.every((mark) => mark === 1)) return 'all';
  let text = '';
  for (let i = 0; i < marks.length; i += 4) {
    const bits = [0, 1, 2, 3].map((k) => (marks[i + k] ?? 0) << k);
    text += bits.reduce((a, b) => a | b).toString(16);
  }
  return text;
}

/** Whether an instruction is among packed bits. */
export const isCovered = (packed: string, at: number): boolean =>
  packed === 'all' || ((Number.parseInt(packed[at >> 2] ?? '0', 16) >> (at & 3)) & 1) === 1;

function dependencies({ machines }: Kernel): Pick<Outcome, 'functions' | 'ranges'> {
  const functions = new Set(machines.flatMap(({ touched }) => [...touched]));
  const read = new Set(machines.flatMap(({ memory }) => [...memory.everRead]));
  const ranges = runsOf(read);
  return { functions: [...functions].sort((a, b) => a - b), ranges };
}

/**
 * The hash of all that a proof depends on: the prover, the contract, the bytes and names of the
 * functions that ran, the memory that was read, globals and types. As addresses and branches
 * don't depend on inputs, equal hashes have equal runs.
 */
export function keyOf(
  job: Job,
  module: Module,
  prover: string,
  { functions, ranges }: Pick<Outcome, 'functions' | 'ranges'>,
): string {
  const code = functions.map((index) => {
    const body = module.bodies[index];
    const bytes = body && module.bytes.subarray(body.from, body.to);
    return [index, module.names.get(index), module.functions[index], bytes && sha256(bytes)];
  });
  const memory = new Uint8Array(module.pages * 65536);
  for (const { at, bytes } of module.data) memory.set(bytes, at);
  const data = ranges.map(([from, to]) => [from, to, sha256(memory.subarray(from, to))]);
  const globals = module.globals.map(({ value }) => String(value));
  const parts = { name: nameOf(job), text: job.contract.text, prover, code, data, globals };
  const { types, exports, start } = module;
  return sha256(JSON.stringify({ ...parts, types, exports: [...exports], start }));
}
