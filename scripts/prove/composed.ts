/**
 * Statements on functions that call others. When a call ends, its results are compared with what it
 * is to compute, and get names; what follows is then about all values within their bounds.
 */
import type { Value } from './execute.ts';
import { functionNamed, type Kernel } from './kernel.ts';
import { Forms, isForm, pairKey, power, WideForms, wideKey } from './modular.ts';
import { FALCON_Q, falconRoot } from './references.ts';
import {
  compareInverse,
  compareTransform,
  inputNames,
  isSame,
  OWN,
  outputNames,
  type Statement,
} from './statements.ts';
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
    if (kernel.stated.has(term)) kernel.stated.set(term, BigInt(FALCON_Q));
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

/** The quotient of two transforms, and the status of a divisor with a value of 0. */
const quotient: Statement = (kernel) => {
  const [f, g] = ['f', 'g'].map((name) => kernel.inputs(name));
  const [out, tmp] = ['hNtt', 'tmp'].map((name) => kernel.address(name));
  const n = f!.length;
  let [divisor, inverse, factor]: (readonly Term[])[] = [[], [], []];
  let status: Value | undefined;
  watch(
    kernel,
    {},
    {
      ntt: () => {
        const isFirst = divisor!.length === 0;
        compareTransform(kernel, isFirst ? f! : g!, wordsAt(kernel, isFirst ? out! : tmp!, n));
        if (isFirst) divisor = kernel.name(out!, n, 32604n);
        else factor = kernel.name(tmp!, n, 32604n);
      },
      invertPoly: ([bad]) => {
        comparePowers(kernel, divisor!, wordsAt(kernel, out!, n));
        compareZeros(kernel, divisor!, bad as Term);
        inverse = kernel.name(out!, n, 13219n);
        status = bad;
      },
    },
  );
  const [result] = kernel.call();
  kernel.check(result === status, () => "the status isn't that of the inverse");
  compareProducts(kernel, [inverse!, factor!], kernel.outputs('hNtt'));
};

/** out = 1 / a, as a^(q - 2): each value is a power of its input; the status: whether one is 0. */
const power12287: Statement = (kernel) => {
  const inputs = [...kernel.inputs(inputNames(kernel)[0]!)];
  const [status] = kernel.call() as Term[];
  compareZeros(kernel, inputs, status!);
  comparePowers(kernel, inputs, kernel.outputs(outputNames(kernel)[0]!));
};

/** Whether terms are the powers to q - 2 of others. */
function comparePowers(kernel: Kernel, inputs: readonly Term[], outputs: readonly Term[]): void {
  const forms = new Forms(kernel.machine.terms, FALCON_Q);
  outputs.forEach((term, i) => {
    kernel.stated.set(term, BigInt(FALCON_Q));
    const monomial = forms.monomial(term);
    const isExpected =
      monomial?.key === inputs[i]!.key &&
      monomial.coefficient === 1 &&
      monomial.exponent === FALCON_Q - 2;
    kernel.check(isExpected, () => `output ${i} isn't the power of its input`);
  });
}

/** Whether a status is that one of the inputs is 0 modulo q. */
function compareZeros(kernel: Kernel, inputs: readonly Term[], status: Term): void {
  const forms = new Forms(kernel.machine.terms, FALCON_Q);
  const found = leavesOf(conditionOf(status), 'or').map(({ op, args: [a, b] }) => {
    const [value, zero] = a?.value === undefined ? [a, b] : [b, a];
    const isResidue = value && value.low > -FALCON_Q && value.high < FALCON_Q;
    const key =
      op === 'eq' && zero?.value === 0n && isResidue ? keyOfForm(forms, value) : undefined;
    kernel.check(key !== undefined, () => 'the status depends on more than values that are zero');
    return key;
  });
  const isWhole = found.length === inputs.length && inputs.every(({ key }) => found.includes(key));
  kernel.check(isWhole, () => 'the status is not of all values');
}

/** The term that a status compares with 0. */
export function conditionOf(status: Term): Term {
  const [a, b] = status.args;
  if (status.op === 'bool') return conditionOf(a!);
  if (status.op !== 'ne') return status;
  return b!.value === 0n ? conditionOf(a!) : a!.value === 0n ? conditionOf(b!) : status;
}

/** The key of the input that a term is congruent to. */
function keyOfForm(forms: Forms, term: Term): number | undefined {
  const form = forms.of(term);
  return form?.keys.length === 1 && form.values[0] === 1 ? form.keys[0] : undefined;
}

/** The key's coefficients, in [0, q). */
const canonicalKey: Statement = (kernel) => {
  const n = 2 ** kernel.instance.logn!;
  const product = kernel.address('PRODUCT');
  kernel.put(kernel.address('PK'), kernel.machine.terms.constant(8, kernel.instance.logn!));
  kernel.filled.add('PK');
  kernel.unknowns('pk', kernel.address('PK') + 1, (7 * n) / 4 + 2, 8);
  let values: readonly Term[] = [];
  let status: Value | undefined;
  watch(
    kernel,
    {},
    {
      decodePublicKey: ([result]) => {
        values = kernel.name(product, n, 6144n);
        status = result;
      },
    },
  );
  // One branch, on the status of the decoder.
  for (const isTaken of [false, true]) {
    kernel.machine.decide = () => isTaken;
    const [result] = kernel.call();
    kernel.check(result === status, () => "the status isn't that of the decoder");
    const outputs = wordsAt(kernel, product, n);
    if (outputs.some((term, i) => term !== values[i])) break;
  }
  const forms = new Forms(kernel.machine.terms, FALCON_Q);
  kernel.outputs('PRODUCT').forEach((term, i) => {
    kernel.stated.set(term, BigInt(FALCON_Q));
    const isSameKey = keyOfForm(forms, term) === values[i]!.key;
    kernel.check(isSameKey, () => `coefficient ${i} isn't the key's`);
  });
};

/** F h mod q, centred, in 8 bits; and whether a coefficient is beyond 127. */
const productOfSmall: Statement = (kernel) => {
  const [F, h] = ['F', 'hNtt'].map((name) => kernel.inputs(name));
  const tmp = kernel.address('tmp');
  const n = F!.length;
  let values: readonly Term[] = [];
  const begins = {
    intt: () => {
      compareProducts(kernel, [values, h!], wordsAt(kernel, tmp, n));
      values = kernel.name(tmp, n, 13219n);
    },
  };
  watch(kernel, begins, {
    ntt: () => {
      compareTransform(kernel, F!, wordsAt(kernel, tmp, n));
      values = kernel.name(tmp, n, 32604n);
    },
    intt: () => {
      compareInverse(kernel, values, wordsAt(kernel, tmp, n));
      values = kernel.name(tmp, n, 12288n);
    },
  });
  const [status] = kernel.call() as Term[];
  const forms = new Forms(kernel.machine.terms, FALCON_Q);
  const beyond = new Set(magnitudesBeyond(status!, 127n));
  kernel.outputs('G').forEach((term, i) => {
    const [centred] = term.op === 'narrow_s' ? term.args : [];
    const isCentred = centred && centred.low >= -6144n && centred.high <= 6144n;
    const isProduct = isCentred && keyOfForm(forms, centred) === values[i]!.key;
    kernel.check(isProduct === true, () => `coefficient ${i} isn't the product's`);
    kernel.check(beyond.delete(centred!), () => `the status doesn't depend on coefficient ${i}`);
  });
  kernel.check(beyond.size === 0, () => 'the status depends on more');
};

/** The terms of which a status is whether the magnitude of one is above a limit. */
function magnitudesBeyond(status: Term, limit: bigint): Term[] {
  return leavesOf(conditionOf(status), 'or').flatMap(({ op, args: [a, b] }) => {
    const isAbove = op === 'lt_s' && a!.value === limit;
    return isAbove
      ? leavesOf(b!, 'max_s').map(({ op, args }) => (op === 'abs' ? args[0]! : b!))
      : [];
  });
}

/** s1 = c - s2 h mod q, centred, for any point c. */
const remainder: Statement = (kernel) => {
  const n = 2 ** kernel.instance.logn!;
  const [product, prepared] = ['PRODUCT', 'PREPARED'].map((name) => kernel.address(name));
  const s = kernel.inputs('S2');
  kernel.filled.add('PREPARED');
  kernel.partial.add('SIG');
  const h = kernel.unknowns('h', OWN, n, 16);
  kernel.callNamed('preparePoly', prepared!, OWN, kernel.instance.logn!);
  // The hash is proved elsewhere: here, no word is rejected.
  kernel.machine.onMask = (lanes) =>
    lanes.reduce((mask, { value }, i) => mask | (value === undefined ? 1 << i : 0), 0);
  let [point, values]: (readonly Term[])[] = [[], []];
  const begins = {
    intt: () => {
      compareProducts(kernel, [values!, h], wordsAt(kernel, product!, n));
      values = kernel.name(product!, n, 13219n);
    },
  };
  watch(kernel, begins, {
    makePoint: () => (point = kernel.name(kernel.address('POINT'), n, 32768n)),
    ntt: () => {
      compareTransform(kernel, s, wordsAt(kernel, product!, n));
      values = kernel.name(product!, n, 32604n);
    },
    intt: () => {
      compareInverse(kernel, values!, wordsAt(kernel, product!, n));
      values = kernel.name(product!, n, 12288n);
    },
  });
  kernel.call();
  const forms = new Forms(kernel.machine.terms, FALCON_Q);
  kernel.outputs('PRODUCT').forEach((term, i) => {
    kernel.stated.set(term, BigInt(FALCON_Q));
    const expected = new Map([
      [0, 32768 % FALCON_Q],
      [point![i]!.key, 1],
      [values![i]!.key, FALCON_Q - 1],
    ]);
    kernel.check(isForm(forms.of(term), expected), () => `coefficient ${i} isn't the difference`);
  });
};

/** Whether the magnitude of some input is at least the limit. */
const reaching: Statement = (kernel) => {
  const inputs = new Set(kernel.inputs('a'));
  const limit = kernel.instance.limit!;
  const [status] = kernel.resultsWith() as Term[];
  for (const lane of leavesOf(conditionOf(status!), 'or')) {
    const [least, largest] = lane.args;
    const isLimit = lane.op === 'le_u' && Number(BigInt.asUintN(8, least!.value!)) === limit;
    kernel.check(isLimit, () => 'a lane is compared with another limit');
    for (const { op, value, args } of leavesOf(largest!, 'max_u')) {
      const isOwn = value === 0n || (op === 'abs' && inputs.delete(args[0]!));
      kernel.check(isOwn, () => 'a magnitude is another one');
    }
  }
  kernel.check(inputs.size === 0, () => 'an input is left out');
};

/** The sum of the squares. */
const sumOfSquares: Statement = (kernel) => {
  const inputs = kernel.inputs('a');
  const [total] = kernel.resultsWith() as Term[];
  const forms = new WideForms(kernel.machine.terms, 0n);
  const expected = new Map(inputs.map(({ key }) => [wideKey(key, key), 1n]));
  kernel.check(isSame(forms.of(total!), expected), () => 'the sum is another one');
};

export const COMPOSED: Readonly<Record<string, Statement>> = {
  ...{ power12287, quotient, canonicalKey, productOfSmall, remainder, reaching, sumOfSquares },
};

/** The terms that are joined by an operation. */
export function leavesOf(term: Term, op: string): Term[] {
  return term.op === op ? term.args.flatMap((arg) => leavesOf(arg, op)) : [term];
}
