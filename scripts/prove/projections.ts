/**
 * The statements on projections, their transpose, functionals, norms and words: sums over many
 * inputs, exact or modulo q = 2^44 - 117, of which the bits of a stream are some.
 */
import { chachaState } from './hashing.ts';
import type { Kernel } from './kernel.ts';
import { inverse, WideForms, wideKey } from './modular.ts';
import { FALCON_Q, falconRoot, LABRADOR_Q } from './references.ts';
import { compare, inputNames, isSame, linearForm, OWN, type Statement } from './statements.ts';
import type { Term } from './terms.ts';

/** Rows of bits; one more row is known. */
const ROWS = 136;
/** Bytes of the bits of a polynomial: 17 blocks. */
const BITS = 1088;
/** Where the stream is written for comparison. */
const STREAM = 6_000_000;

/**
 * The bits of polynomials `first` to `first + count - 1`, by `xofBlocks`, which has a proof.
 *
 * @returns bit (polynomial, row, column): docs/protocol.md, 5.3
 */
function streamBits(kernel: Kernel): (polynomial: number, row: number, column: number) => Term {
  const { terms, memory } = kernel.machine;
  const { first = 0, count = 0 } = kernel.instance;
  kernel.callNamed('xofBlocks', STREAM, 17 * first, Math.ceil((17 * count) / 4));
  return (polynomial, row, column) => {
    const byte = 32 * (row >> 2) + 16 * (column >> 5) + (column & 15);
    const bit = (row & 3) + 4 * ((column >> 4) & 1);
    return terms.bits(8, memory.load(STREAM + BITS * polynomial + byte, 1), bit, bit + 1, false);
  };
}

/** y_j += <row j, s> and y*_j += <X^32 row j, s>, for any state of the stream. */
const projection: Statement = (kernel) => {
  const { terms } = kernel.machine;
  chachaState(kernel);
  const bit = streamBits(kernel);
  const [s, y] = [[...kernel.inputs('s')], [...kernel.inputs('y')]];
  kernel.call();
  const forms = new WideForms(terms, 0n);
  const one = terms.constant(8, 1);
  const zero = terms.constant(8, 0);
  kernel.outputs('y').forEach((term, i) => {
    const [row, isTurned] = [i >> 1, i % 2 === 1];
    const expected = new Map([[y[i]!.key, 1n]]);
    s.forEach(({ key }, at) => {
      const [polynomial, to] = [at >> 6, at & 63];
      const from = isTurned ? to ^ 32 : to;
      const sign = isTurned && to < 32 ? -1n : 1n;
      const known = from < 32 ? one : zero;
      for (const [atom, value] of forms.of(row < ROWS ? bit(polynomial, row, from) : known)) {
        forms.add(expected, wideKey(atom, key), sign * value);
      }
    });
    kernel.check(isSame(forms.of(term), expected), () => `sum ${i} isn't that of its row`);
  });
};

/**
 * F = sigma(G_0 + X^-32 G_1), G_i = sum of omega_ji row_j, for each lift, for one stream: addresses
 * depend on its bits.
 */
const collapse: Statement = (kernel, [prepare, lifts]) => {
  const { terms } = kernel.machine;
  const count = Number(lifts);
  const omega = kernel.unknowns('omega', OWN, 2 * 137 * count, 64, 2n ** 44n);
  kernel.callNamed(prepare!, OWN, count);
  const bit = streamBits(kernel);
  kernel.call();
  const forms = new WideForms(terms, LABRADOR_Q);
  kernel.outputs('out').forEach((term, i) => {
    kernel.stated.set(term, LABRADOR_Q);
    const [place, lift, polynomial] = [i & 63, (i >> 6) % count, Math.floor(i / 64 / count)];
    const column = (64 - place) & 63;
    const expected = new Map<number, bigint>();
    for (let row = 0; row <= ROWS; row++) {
      for (const half of [0, 1]) {
        const from = half === 0 ? column : column ^ 32;
        const isSet = row < ROWS ? bit(polynomial, row, from).value === 1n : from < 32;
        const sign = (half === 1 && column >= 32) !== column > 0 ? -1n : 1n;
        const { key } = omega[2 * (137 * lift + row) + half]!;
        if (isSet) forms.add(expected, key, sign);
      }
    }
    kernel.check(isSame(forms.of(term), expected), () => `coefficient ${i} isn't the sum`);
  });
};

/** coefs^(k) += sum of theta_j^(k) rho^(j), theta having been prepared by another function. */
const functionals: Statement = (kernel, [prepare]) => {
  const theta = kernel.unknowns('theta', OWN, 30, 64, 2n ** 44n);
  kernel.callNamed(prepare!, OWN);
  const [coefs, rho] = [[...kernel.inputs('coefs')], [...kernel.inputs('rho')]];
  kernel.call();
  const forms = new WideForms(kernel.machine.terms, LABRADOR_Q);
  kernel.outputs('coefs').forEach((term, i) => {
    kernel.stated.set(term, LABRADOR_Q);
    const expected = new Map([[coefs[i]!.key, 1n]]);
    for (let j = 0; j < 10; j++) {
      const pair = wideKey(theta[10 * (i >> 6) + j]!.key, rho[64 * j + (i & 63)]!.key);
      expected.set(pair, 1n);
    }
    kernel.check(isSame(forms.of(term), expected), () => `coefficient ${i} isn't the sum`);
  });
};

/**
 * out = <a, b>, or <a, a>, added to the input `out` if there is one. By induction: a turn adds this
 * to the total of the sums that it passes on, and out is the last total.
 */
const innerProduct: Statement = (kernel) => {
  const names = inputNames(kernel);
  const factors = names.filter((name) => name !== 'out').map((name) => [...kernel.inputs(name)]);
  const products = new Map<number, bigint>();
  const forms = new WideForms(kernel.machine.terms, 0n);
  factors[0]!.forEach(({ key }, i) => {
    forms.add(products, wideKey(key, factors.at(-1)![i]!.key), 1n);
  });
  kernel.call();
  const { before = [], after = [] } = kernel.turn ?? {};
  const total = (terms: readonly Term[], start: ReadonlyMap<number, bigint>) => {
    const sum = new Map(start);
    for (const term of terms) for (const [key, by] of forms.of(term)) forms.add(sum, key, by);
    return sum;
  };
  const isTurn =
    kernel.turn === undefined || isSame(total(after, new Map()), total(before, products));
  kernel.check(isTurn, () => "a turn doesn't add the products of its block");
  const inputs = names.includes('out') ? kernel.inputs('out') : [];
  const [out] = kernel.outputs('out');
  const expected = total([...inputs, ...before], products);
  kernel.check(isSame(forms.of(out!), expected), () => 'the sum of products is another one');
};

/** Words of 44 bits, reduced modulo q. */
const words: Statement = (kernel) => {
  const { terms } = kernel.machine;
  const bytes = [...kernel.inputs('from')];
  const zero = terms.constant(8, 0);
  // Eleven bytes have two words; 16 are read.
  kernel.partial.add('from');
  kernel.call();
  const forms = new WideForms(terms, LABRADOR_Q);
  kernel.outputs('coefs').forEach((term, i) => {
    kernel.stated.set(term, LABRADOR_Q);
    const first = (44 * i) >> 3;
    const own = [...bytes.slice(first, first + 6), zero, zero];
    // Half of a byte belongs to the word before or after this one.
    const from = (44 * i) & 7;
    if (from === 0) own[5] = terms.bits(8, own[5]!, 0, 4, false);
    const [low, high] = [0, 4].map((at) => {
      const [a, b] = [0, 2].map((k) => terms.concat(own[at + k]!, own[at + k + 1]!));
      return terms.concat(a!, b!);
    });
    const word = terms.bits(64, terms.concat(low!, high!), from, 64, false);
    const expected = forms.of(word);
    kernel.check(isSame(forms.of(term), expected), () => `word ${i} isn't the stream's`);
  });
};

/** The transform of a(X^-1): the values of a prepared polynomial, without their companions. */
const reversedTransform: Statement = (kernel) => {
  const { logn } = kernel.instance;
  const inputs = [...kernel.inputs(inputNames(kernel)[0]!)];
  kernel.call();
  const [values, companions] = [0, 8].map((half) =>
    kernel.outputs('prepared').filter((_, i) => (i & 8) === half),
  ) as [Term[], Term[]];
  // They follow the representatives; `functionalParts` is about what they are good for.
  for (const term of companions) kernel.stated.delete(term);
  compare(kernel, values, [FALCON_Q], (index, p) => {
    const root = inverse(falconRoot(logn!, index), p);
    let value = inverse(root, p);
    return linearForm(inputs, p, () => (value = (value * root) % p));
  });
};

/**
 * rho' = rho sigma(h) mod 12289 for one h, known and prepared by another function, and sigma of the
 * parts of rho and rho': coefficient 64 - t of part k is minus coefficient K t + k.
 */
const partsOfProduct: Statement = (kernel, [prepare]) => {
  const { terms } = kernel.machine;
  const rho = [...kernel.inputs('rho')];
  const n = rho.length;
  const p = FALCON_Q;
  kernel.filled.add('prepared');
  const h = rho.map((_, i) => (((i * 7919) ^ (i << 4)) % p) - 6144);
  h.forEach((value, i) => {
    kernel.put(OWN + 2 * i, terms.constant(16, value));
  });
  kernel.callNamed(prepare!, kernel.address('prepared'), OWN, kernel.instance.logn!);
  kernel.call();
  // sigma(h): coefficient n - j is minus h_j.
  const factor = h.map((_, k) => (k === 0 ? h[0]! : -h[n - k]!)).map((value) => (value + p) % p);
  const formOf = (i: number, sign: number) =>
    linearForm(rho, p, (j) => {
      const value = i >= j ? factor[i - j]! : p - factor[n + i - j]!;
      return (value * (p + sign)) % p;
    });
  compare(kernel, kernel.outputs('rhoPrime'), [p], (i) => formOf(i, 1));
  compare(kernel, kernel.outputs('parts'), [p], (at) => {
    const [part, place] = [(at >> 6) % (n / 64), at & 63];
    const [row, sign] = [(64 - place) & 63, place === 0 ? 1 : -1];
    const i = (n / 64) * row + part;
    return at < n ? new Map([[rho[i]!.key, (p + sign) % p]]) : formOf(i, sign);
  });
};

/** By the name in `Proof:`. */
export const PROJECTIONS: Readonly<Record<string, Statement>> = {
  ...{ projection, collapse, functionals, innerProduct, words, reversedTransform, partsOfProduct },
};
