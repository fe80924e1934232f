/**
 * The proofs that contracts name. Each one runs the kernel on unknowns and compares its outputs
 * with the mathematics, coefficient by coefficient. Terms that differ from the mathematics, or
 * whose values aren't known exactly, are failures.
 */
import { addressOf, functionNamed, type Kernel } from './kernel.ts';
import { Forms, inverse, isForm, linear, modulo, pairKey, power } from './modular.ts';
import {
  FALCON_Q,
  falconRoot,
  formRoot,
  inverseCofactor,
  LABRADOR_Q,
  PRIMES,
  PRODUCT,
} from './references.ts';
import type { Term } from './terms.ts';

/** Runs the kernel and records what doesn't hold. */
export type Statement = (kernel: Kernel, args: readonly string[]) => void;

/** Where proofs place what no region has. */
export const OWN = 4_000_000;

export const inputNames = ({ contract }: Kernel) => contract.input.regions.map(({ name }) => name);
export const outputNames = ({ contract }: Kernel) =>
  contract.output.regions.map(({ name }) => name);
const half = (p: number): number => (p + 1) / 2;

/** The linear form with these coefficients of the inputs. */
export function linearForm(
  inputs: readonly Term[],
  p: number,
  coefficient: (index: number) => number,
) {
  const form = new Map<number, number>();
  inputs.forEach((input, i) => {
    const value = coefficient(i) % p;
    if (value !== 0) form.set(input.key, value);
  });
  return form;
}

/** Checks outputs, of which each prime has a share, against forms modulo these primes. */
export function compare(
  kernel: Kernel,
  outputs: readonly Term[],
  primes: readonly number[],
  expected: (index: number, p: number, prime: number) => ReadonlyMap<number, number>,
): void {
  const share = outputs.length / primes.length;
  primes.forEach((p, prime) => {
    const forms = new Forms(kernel.machine.terms, p);
    for (let i = 0; i < share; i++) {
      const index = prime * share + i;
      kernel.stated.set(outputs[index]!, BigInt(p));
      const isExpected = isForm(forms.of(outputs[index]!), expected(index, p, prime));
      kernel.check(
        isExpected,
        () => `output ${index} isn't the form modulo ${p} that it should be`,
      );
    }
  });
}

/** A form: 2^-15 times the values of the sum of weighted parts at the roots of X^64 + 1. */
const toForm: Statement = (kernel, args) => {
  const inputs = kernel.inputs(inputNames(kernel)[0]!);
  kernel.call();
  const weights = args.map((text) => kernel.evaluate(text));
  compare(kernel, kernel.outputs(outputNames(kernel)[0]!), PRIMES, (index, p, prime) => {
    const root = formRoot(prime, index % 64);
    const scale = power(half(p), 15, p);
    return linearForm(inputs, p, (i) => {
      const weight = Number(modulo(weights[Math.floor(i / 64)]!, BigInt(p)));
      return (((scale * power(root, i % 64, p)) % p) * weight) % p;
    });
  });
};

/** Whether outputs are the transform of X^n + 1 mod 12289 of terms, in NTT order. */
export function compareTransform(
  kernel: Kernel,
  inputs: readonly Term[],
  outputs: readonly Term[],
): void {
  compare(kernel, outputs, [FALCON_Q], (index, p) => {
    const root = falconRoot(kernel.instance.logn!, index);
    let value = inverse(root, p);
    return linearForm(inputs, p, () => (value = (value * root) % p));
  });
}

/** Whether they are its inverse. */
export function compareInverse(
  kernel: Kernel,
  inputs: readonly Term[],
  outputs: readonly Term[],
): void {
  const roots = inputs.map((_, i) => inverse(falconRoot(kernel.instance.logn!, i), FALCON_Q));
  const powers = roots.map(() => inverse(inputs.length, FALCON_Q));
  compare(kernel, outputs, [FALCON_Q], (_, p) => {
    const form = linearForm(inputs, p, (i) => powers[i]!);
    roots.forEach((root, i) => {
      powers[i] = (powers[i]! * root) % p;
    });
    return form;
  });
}

/** One of them, in place or not. */
const transform =
  (comparison: typeof compareTransform): Statement =>
  (kernel) => {
    const inputs = [...kernel.inputs(inputNames(kernel)[0]!)];
    kernel.call();
    comparison(kernel, inputs, kernel.outputs(outputNames(kernel)[0]!));
  };

/** The primes of a region: six, or Falcon's. */
const primesOf = (kernel: Kernel, name: string): readonly number[] => {
  const { input, output } = kernel.contract;
  const region = [...input.regions, ...output.regions].find((one) => one.name === name)!;
  return region.dimensions[0] === '6' ? PRIMES : [FALCON_Q];
};

/** out = 2^s a b, value by value. */
const product: Statement = (kernel, [scale]) => {
  const [a, b] = inputNames(kernel).map((name) => [...kernel.inputs(name)]);
  kernel.call();
  const out = outputNames(kernel)[0]!;
  compare(kernel, kernel.outputs(out), primesOf(kernel, out), (index, p) => {
    return new Map([[pairKey(a![index]!.key, b![index]!.key), power(2, Number(scale), p)]]);
  });
};

/** out = a b, b having been prepared by another function. */
const preparedProduct: Statement = (kernel, [prepare]) => {
  const a = [...kernel.inputs(inputNames(kernel)[0]!)];
  kernel.filled.add('prepared');
  const b = kernel.unknowns('b', OWN, a.length, 16);
  kernel.callNamed(prepare!, kernel.address('prepared'), OWN, kernel.instance.logn!);
  kernel.call();
  compare(kernel, kernel.outputs(outputNames(kernel)[0]!), [FALCON_Q], (index) => {
    return new Map([[pairKey(a[index]!.key, b[index]!.key), 1]]);
  });
};

/** out = the sum of the inputs with these factors, modulo the primes; `sum(1)`: out = a. */
const sum: Statement = (kernel, factors) => {
  const inputs = inputNames(kernel).map((name) => [...kernel.inputs(name)]);
  kernel.call();
  const out = outputNames(kernel)[0]!;
  compare(kernel, kernel.outputs(out), primesOf(kernel, out), (index, p) => {
    const entry = (factor: string, i: number): [number, number] => [
      inputs[i]![index]!.key,
      Number(modulo(kernel.evaluate(factor), BigInt(p))),
    ];
    return new Map(factors.map(entry));
  });
};

/** The tables that a caller passes to a function for each prime. */
function tablesOf(kernel: Kernel, caller: string): number[] {
  const probe = kernel.newMachine();
  const tables: number[] = [];
  probe.onCall = (index, args) => {
    if (index === kernel.index) tables.push(Number((args[2] as Term).value));
  };
  const index = functionNamed(kernel.module, caller);
  const { parameters } = kernel.module.types[kernel.module.functions[index]!]!;
  // Two pointers; further parameters are counts.
  const args = parameters.map((_, i) => probe.terms.constant(32, [2_100_000, 2_200_000][i] ?? 1));
  probe.call(index, args);
  if (tables.length !== PRIMES.length) throw new Error(`${caller} passes ${tables.length} tables`);
  return tables;
}

/** Residues: the coefficients times the inverse cofactor, from values times 2^-scale. */
const residues: Statement = (kernel, [scale, caller]) => {
  const prime = kernel.instance.prime!;
  const inputs = kernel.inputs('a');
  kernel.values.set('table', tablesOf(kernel, caller!)[prime]!);
  kernel.call();
  const p = PRIMES[prime]!;
  const factor = (power(2, Number(scale), p) * inverse(64, p) * inverseCofactor(prime)) % p;
  const roots = inputs.map((_, position) => inverse(formRoot(prime, position), p));
  compare(kernel, kernel.outputs('out'), [p], (index) =>
    linearForm(inputs, p, (i) => (factor * power(roots[i]!, index, p)) % p),
  );
};

/**
 * out = sum of a_i P / p_i - k P mod q with k = floor((sum of a_i r_i + 2^27) / 2^28), r_i =
 * round(2^28 / p_i); and, in exact arithmetic, k is right if |x| < P / 2 (1 - 2^-12.4):
 * sum of a_i / p_i = x / P + k, and reciprocals are off by less than the rest.
 */
const reconstruct: Statement = (kernel) => {
  const { terms } = kernel.machine;
  const inputs = [...kernel.inputs('residues')];
  kernel.call();
  const reciprocals = PRIMES.map((p) => Math.round(2 ** 28 / p));
  kernel.outputs('out').forEach((term, c) => {
    kernel.stated.set(term, LABRADOR_Q);
    const own = PRIMES.map((_, i) => inputs[64 * i + c]!.key);
    const expected = new Map(
      PRIMES.map((p, i) => [own[i]!, modulo(PRODUCT / BigInt(p), LABRADOR_Q)]),
    );
    const form = linear(terms, term, LABRADOR_Q);
    const quotient = terms.nodes[-[...form.keys()].find((key) => key < 0)!];
    if (quotient !== undefined) expected.set(-quotient.id, modulo(-PRODUCT, LABRADOR_Q));
    kernel.check(isSame(form, expected), () => `coefficient ${c} isn't the sum`);
    const inner = quotient?.op === 'shr_s' && quotient.immediate === 28 && quotient.args[0]!;
    const rounded = new Map(reciprocals.map((value, i) => [own[i]!, BigInt(value)]));
    rounded.set(0, 2n ** 27n);
    const isRounded = inner && isSame(linear(terms, inner, 0n), rounded);
    kernel.check(isRounded === true, () => `coefficient ${c} has another quotient`);
  });
  // 2 * sum of (largest residue) |r_i p_i - 2^28| / (2^28 p_i) < 1 / 5405 < 2^-12.4
  const errors = PRIMES.map((p, i) => {
    const error = BigInt(Math.abs(reciprocals[i]! * p - 2 ** 28));
    return (inputs[64 * i]!.high * error * PRODUCT) / BigInt(p) + 1n;
  }).reduce((a, b) => a + b);
  const isExact = 2n * errors * 5405n < 2n ** 28n * PRODUCT;
  kernel.check(isExact, () => 'the quotient may be wrong for integers in the range');
  kernel.check(5405n ** 5n > 2n ** 62n, () => '1 / 5405 is not below 2^-12.4');
};

export function isSame(a: ReadonlyMap<number, bigint>, b: ReadonlyMap<number, bigint>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}

/** Where in a block the element pair of a position stands: quarter, pair of columns, lane. */
const inBlock = (position: number, pair: number, column: number): number =>
  512 * (position >> 4) + 32 * pair + 2 * (position & 15) + column;

/** sums += 2^-16 times the sum over the 32 columns of products with the last input. */
const blockSums: Statement = (kernel) => {
  const names = inputNames(kernel);
  const shared = kernel.inputs(names.at(-1)!);
  const before = outputNames(kernel).map((out) => [...kernel.inputs(out)]);
  kernel.call();
  outputNames(kernel).forEach((out, k) => {
    const factors = kernel.inputs(names[outputNames(kernel).length + k]!);
    compare(kernel, kernel.outputs(out), PRIMES, (index, p, prime) => {
      const form = new Map([[before[k]![index]!.key, 1]]);
      for (let column = 0; column < 32; column++) {
        const at = 2048 * prime + inBlock(index % 64, column >> 1, column & 1);
        form.set(pairKey(factors[at]!.key, shared[at]!.key), power(half(p), 16, p));
      }
      return form;
    });
  });
};

/** sums[i][j] += the sum over all blocks and columns of x_i y_j, as in `blockSums`. */
const rowProducts: Statement = (kernel, [symmetric]) => {
  const { xRows = 0, yRows = 0, rows = 0, blocks = 0 } = kernel.instance;
  const names = inputNames(kernel);
  const before = [...kernel.inputs('sums')];
  const [x, y] = symmetric ? ['s', 's'] : ['x', 'y'];
  const [left, right] = [kernel.inputs(x), kernel.inputs(y)];
  for (const name of names) kernel.inputs(name);
  kernel.call();
  const pairs: [number, number][] = [];
  for (let i = 0; i < (symmetric ? rows : xRows); i++) {
    for (let j = symmetric ? i : 0; j < (symmetric ? rows : yRows); j++) pairs.push([i, j]);
  }
  const outputs = kernel.outputs('sums');
  pairs.forEach(([i, j], pair) => {
    const part = outputs.slice(384 * pair, 384 * pair + 384);
    compare(kernel, part, PRIMES, (index, p, prime) => {
      const form = new Map([[before[384 * pair + index]!.key, 1]]);
      const scale = power(half(p), 16, p);
      for (let column = 0; column < 32 * blocks; column++) {
        const inside = inBlock(index % 64, (column >> 1) & 15, column & 1);
        const at = (row: number) => 12288 * (row * blocks + (column >> 5)) + 2048 * prime + inside;
        const key = pairKey(left[at(i)]!.key, right[at(j)]!.key);
        form.set(key, ((form.get(key) ?? 0) + scale) % p);
      }
      return form;
    });
  });
};

/** out = 2^15 times the sum of c_r x_r over the rows, for each value of a block. */
const combination: Statement = (kernel) => {
  const { terms } = kernel.machine;
  const rows = kernel.instance.rows!;
  const [c, x] = [kernel.inputs('c'), kernel.inputs('x')];
  const list = addressOf(kernel.module, 'ROWS');
  const prepared = 7_000_000;
  for (let row = 0; row < rows; row++) {
    kernel.put(list + 4 * row, kernel.pointer('x', row, 24576));
    for (let i = 0; i < 384; i++) {
      const at = prepared + 3072 * (row >> 1) + 8 * i + 2 * (row & 1);
      for (const copy of [0, 4]) kernel.put(at + copy, c[384 * row + i]!);
    }
  }
  kernel.values.set('coefficients', prepared);
  kernel.call();
  const outputs = kernel.outputs('out');
  PRIMES.forEach((p, prime) => {
    const forms = new Forms(terms, p);
    const scale = power(2, 15, p);
    for (let at = 0; at < 2048; at++) {
      const position = 16 * (at >> 9) + ((at >> 1) & 15);
      const expected = new Map<number, number>();
      for (let row = 0; row < rows; row++) {
        const factor = c[384 * row + 64 * prime + position]!;
        expected.set(pairKey(factor.key, x[12288 * row + 2048 * prime + at]!.key), scale);
      }
      kernel.stated.set(outputs[2048 * prime + at]!, BigInt(p));
      const isExpected = isForm(forms.of(outputs[2048 * prime + at]!), expected);
      kernel.check(isExpected, () => `value ${at} modulo ${p} isn't the combination`);
      forms.clear();
    }
  });
};

/**
 * The input is the sum of 2^(bits j) digit_j, all digits but the last within their bounds. The
 * status is 1 if and only if a last one doesn't fit 16 bits: it is whether any of these comparisons
 * holds.
 */
const digits: Statement = (kernel) => {
  const { terms } = kernel.machine;
  const { count, bits } = kernel.instance;
  const inputs = [...kernel.inputs('coefs')];
  const [status] = kernel.call() as Term[];
  const outputs = kernel.outputs('out');
  const needed = new Set<Term>();
  inputs.forEach((input, c) => {
    const total = new Map<number, bigint>();
    for (let j = 0; j < count!; j++) {
      const isLast = j === count! - 1;
      let digit = outputs[inputs.length * j + c]!;
      const isCut = isLast && digit.op === 'signedField' && digit.immediate === 16 * 128;
      if (isCut) digit = digit.args[0]!;
      const limit = 1n << BigInt(isLast ? 15 : bits! - 1);
      if (isLast && digit.low < -limit)
        needed.add(terms.compare('lt_s', 64, digit, terms.constant(64, -limit)));
      if (isLast && digit.high >= limit)
        needed.add(terms.compare('lt_s', 64, terms.constant(64, limit - 1n), digit));
      const isWithin = isCut || (digit.low >= -limit && digit.high < limit);
      kernel.check(isWithin, () => `digit ${j} of ${c} is in [${digit.low}, ${digit.high}]`);
      for (const [key, value] of linear(terms, digit, 0n)) {
        const next = (total.get(key) ?? 0n) + (value << BigInt(bits! * j));
        if (next === 0n) total.delete(key);
        else total.set(key, next);
      }
    }
    kernel.check(
      isSame(total, new Map([[input.key, 1n]])),
      () => `the digits of ${c} don't add up`,
    );
  });
  // By induction, the status of earlier turns is one more of these flags.
  const { before = [], after = [] } = kernel.turn ?? {};
  for (const flag of before) needed.add(flag);
  for (const term of [status!, ...after]) {
    const found = flagsIn(term);
    const isStatus = found.size === needed.size && [...needed].every((flag) => found.has(flag));
    kernel.check(isStatus, () => 'the status is not that of a last digit beyond 16 bits');
  }
};

/** The flags of which a term says whether one is set. */
function flagsIn(term: Term, found = new Set<Term>()): Set<Term> {
  const [condition, yes, no] = term.args;
  if (term.op === 'or' || term.op === 'bool') for (const arg of term.args) flagsIn(arg, found);
  else if (term.op === 'select' && yes!.value === 1n && no!.value === 0n) {
    flagsIn(condition!, found);
  } else if (term.value !== 0n) found.add(term);
  return found;
}

/**
 * Weighted parts of the input add up to it: `parts(1, 2^14, 2^30)`. One more argument is added to
 * the sum.
 */
const parts: Statement = (kernel, args) => addUp(kernel, args, 0n);

/** The same modulo q = 2^44 - 117. */
const partsModQ: Statement = (kernel, args) => addUp(kernel, args, LABRADOR_Q);

function addUp(kernel: Kernel, args: readonly string[], modulus: bigint): void {
  const { terms } = kernel.machine;
  const weights = args.map((text) => kernel.evaluate(text));
  const inputs = [...kernel.inputs(inputNames(kernel)[0]!)];
  kernel.call();
  const outputs = outputNames(kernel).flatMap((name) => [...kernel.outputs(name)]);
  const count = outputs.length / inputs.length;
  inputs.forEach((input, i) => {
    const total = new Map<number, bigint>();
    const add = (key: number, value: bigint) => {
      const exact = (total.get(key) ?? 0n) + value;
      const next = modulus > 0n ? modulo(exact, modulus) : exact;
      if (next === 0n) total.delete(key);
      else total.set(key, next);
    };
    add(0, weights[count] ?? 0n);
    for (let part = 0; part < count; part++) {
      for (const [key, value] of linear(terms, outputs[inputs.length * part + i]!, modulus)) {
        add(key, value * weights[part]!);
      }
    }
    kernel.check(isSame(total, new Map([[input.key, 1n]])), () => `the parts of ${i} don't add up`);
  });
}

/** out = weight * in + offset modulo q. */
const affineModQ: Statement = (kernel, [weight, offset]) => {
  const inputs = [...kernel.inputs(inputNames(kernel)[0]!)];
  const q = kernel.evaluate('q');
  kernel.call();
  kernel.outputs(outputNames(kernel)[0]!).forEach((term, i) => {
    kernel.stated.set(term, q);
    const expected = new Map([
      [inputs[i]!.key, kernel.evaluate(weight!)],
      [0, modulo(kernel.evaluate(offset!), q)],
    ]);
    const form = linear(kernel.machine.terms, term, q);
    kernel.check(isSame(form, expected), () => `output ${i} isn't the form`);
  });
};

/** Outputs that are inputs at other places. */
function moved(kernel: Kernel, source: (index: number) => Term): void {
  const { terms } = kernel.machine;
  kernel.outputs(outputNames(kernel)[0]!).forEach((term, i) => {
    kernel.check(
      terms.origin(term) === source(i),
      () => `output ${i} isn't the input it should be`,
    );
  });
}

/** The 64 values of each prime, reversed. */
const reversedForm: Statement = (kernel) => {
  const inputs = [...kernel.inputs(inputNames(kernel)[0]!)];
  kernel.call();
  moved(kernel, (i) => inputs[(i & ~63) + 63 - (i & 63)]!);
};

/** Columns of a vector: stored from forms, or loaded into one. */
const columns: Statement = (kernel, [direction]) => {
  const names = inputNames(kernel);
  const inputs = new Map(names.map((name) => [name, [...kernel.inputs(name)]]));
  const column = kernel.instance.column!;
  kernel.partial.add('vec');
  const place = (i: number, of: number) =>
    12288 * (of >> 5) + 2048 * Math.floor(i / 64) + inBlock(i % 64, (of >> 1) & 15, of & 1);
  kernel.call();
  if (direction === 'load') return moved(kernel, (i) => inputs.get('vec')![place(i, column)]!);
  const expected = [...inputs.get('vec')!];
  const forms = names.filter((name) => name !== 'vec');
  forms.forEach((name, k) => {
    inputs.get(name)!.forEach((term, i) => {
      expected[place(i, column + k)] = term;
    });
  });
  moved(kernel, (i) => expected[i]!);
};

/** Per prime and position (a, b, a, b). */
const alternating: Statement = (kernel) => {
  const [a, b] = inputNames(kernel).map((name) => [...kernel.inputs(name)]);
  kernel.call();
  moved(kernel, (i) => (i % 2 === 0 ? a! : b!)[Math.floor(i / 4)]!);
};

/** By the name in `Proof:`. */
export const STATEMENTS: Readonly<Record<string, Statement>> = {
  ...{ ntt: transform(compareTransform), intt: transform(compareInverse) },
  ...{ toForm, product, preparedProduct, sum, residues, reconstruct },
  ...{
    blockSums,
    rowProducts,
    combination,
    digits,
    parts,
    partsModQ,
    affineModQ,
    reversedForm,
    columns,
    alternating,
  },
};
