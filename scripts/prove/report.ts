/** The table of proofs, and how much of each module they cover. */
import type { Module } from './decode.ts';
import { isCovered, type Job, numbersOf, type Outcome } from './prove.ts';

/** Functions and instructions, vector instructions separately, and how many are proved. */
export interface Coverage {
  functions: [number, number];
  instructions: [number, number];
  vectors: [number, number];
  /** Vector instructions of functions without floating point, outside key generation. */
  integers: [number, number];
}

const KEY_GENERATION = /\/falcon\/(keygen|draftKeygen|gaussianF|ntru\w*|rns\w*|zint\w*)\//;

/** Whether statements on integers could be about a function. */
const isOnIntegers = ({ bodies, names }: Module, index: number): boolean =>
  !KEY_GENERATION.test(names.get(index) ?? '') &&
  !bodies[index]!.code.some(({ op }) => /f(32|64)/.test(op));

export const isVectorOperation = (op: string): boolean => /^(v128|[if]\d+x\d+)\./.test(op);

/** An instruction counts as covered if a proof executes it on unknowns. */
export function coverageOf(module: Module, outcomes: readonly Outcome[]): Coverage {
  const result: Coverage = {
    ...{ functions: [0, 0], instructions: [0, 0], vectors: [0, 0], integers: [0, 0] },
  };
  const count = (kind: keyof Coverage, isProved: boolean) => {
    result[kind][1]++;
    if (isProved) result[kind][0]++;
  };
  const proved = outcomes.filter(({ failure }) => failure === '');
  module.bodies.forEach(({ code }, index) => {
    const packed = proved.flatMap(({ covered }) => covered[index] ?? []);
    const isCounted = isOnIntegers(module, index);
    count('functions', packed.length > 0);
    code.forEach(({ op }, at) => {
      const isProved = packed.some((bits) => isCovered(bits, at));
      count('instructions', isProved);
      if (!isVectorOperation(op)) return;
      count('vectors', isProved);
      if (isCounted) count('integers', isProved);
    });
  });
  return result;
}

const share = ([part, whole]: [number, number]): string =>
  `${part} of ${whole} (${whole === 0 ? 0 : Math.floor((100 * part) / whole)} %)`;

export const coverageLine = (name: string, coverage: Coverage): string =>
  `${name}: ${share(coverage.functions)} functions, ${share(coverage.instructions)} ` +
  `instructions, ${share(coverage.vectors)} vector instructions; without floating point and key ` +
  `generation ${share(coverage.integers)}`;

/** One line of the table. */
export function row(job: Job, outcome: Outcome, isKnown: boolean): string {
  const { contract, module } = job;
  const { reference, args } = contract.proof!;
  const state = outcome.isSkipped ? 'SKIPPED' : outcome.failure === '' ? 'proved' : 'NOT PROVED';
  const columns = [
    module.padEnd(23),
    `${contract.name} ${numbersOf(job).join(' ')}`.trim().padEnd(40),
    `${reference}(${args.filter((text) => !text.startsWith('after ')).join(', ')})`.padEnd(28),
    `${isKnown ? 'in the lock' : `${outcome.seconds.toFixed(1)} s`}`.padStart(11),
    `${outcome.checks} checks`.padStart(13),
    state,
  ];
  return `${columns.join(' ')}${outcome.failure === '' ? '' : `: ${outcome.failure}`}`;
}
