/**
 * Statements on functions that call others. When a call ends, its results are compared with what it
 * is to compute, and get names; what follows is then about all values within their bounds.
 */
import type { Value } from './execute.ts';
import { functionNamed, type Kernel } from './kernel.ts';
import { Forms, isForm, pairKey, power } from './modular.ts';
import { FALCON_Q, falconRoot } from './references.ts';
import { compareInverse, compareTransform, inputNames, type Statement } from './statements.ts';
import type { Term } from './terms.ts';

type Handler = (results: readonly Value[]) => void;

/** Runs handlers when calls of functions begin or end. */
export function watch(
  kernel: Kernel,
  begins: Readonly<Record<string, Handler>>,
  ends: Readonly<Record<string, Handler>>,
): void {
  const byIndex = (handlers: Readonly<Record<string, Handler>>) => {
    const entries = Object.entries(handlers).map(
      ([name, handler]) => [functionNamed(kernel.module, name), handler] as const,
    );
    const map = new Map(entries);
    return (index: number, values: readonly Value[]) => map.get(index)?.(values);
  };
  kernel.machine.onCall = byIndex(begins);
  kernel.machine.onReturn = byIndex(ends);
}

/** Where the first parameter of a call points to; `at` if the compiler has fixed it. */
export const pointerOf = (values: readonly Value[], at: number): number =>
  values.length > 1 ? Number((values[0] as Term).value) : at;

/** Coefficients of 16 bits in memory. */
export const wordsAt = ({ machine: { memory } }: Kernel, at: number, count: number): Term[] =>
  Array.from({ length: count }, (_, i) => memory.load(at + 2 * i, 2));

/** Whether terms are the products of others, value by value. */
export function compareProducts(
  kernel: Kernel,
  [a, b]: readonly [readonly Term[], readonly Term[]],
  outputs: readonly Term[],
): void {
  const forms = new Forms(kernel.machine.terms, FALCON_Q);
  outputs.forEach((term, i) => {
    const expected = new Map([[pairKey(a[i]!.key, b[i]!.key), 1]]);
    kernel.check(isForm(forms.of(term), expected), () => `value ${i} isn't the product`);
  });
}

/**
 * The transform takes values at n different roots of X^n + 1, so that products of values are those
 * of polynomials modulo X^n + 1.
 */
export function checkRoots(kernel: Kernel): void {
  const { logn } = kernel.instance;
  const n = 2 ** logn!;
  const roots = Array.from({ length: n }, (_, i) => falconRoot(logn!, i));
  const areRoots = roots.every((root) => power(root, n, FALCON_Q) === FALCON_Q - 1);
  kernel.check(areRoots && new Set(roots).size === n, () => 'the values are not at n roots');
}

/** The terms that are joined by an operation. */
export function leavesOf(term: Term, op: string): Term[] {
  return term.op === op ? term.args.flatMap((arg) => leavesOf(arg, op)) : [term];
}
