/**
 * Canonical forms of 64-bit terms made of xor, and, or, not and rotations: an exclusive or of
 * atoms, each rotated, and a constant. Terms of equal forms have equal values. Atoms are inputs,
 * products of two forms, and names of sums that occur in products, so forms stay short.
 */
import { unsigned } from './evaluate.ts';
import { keccakConstants, keccakOffsets } from './references.ts';
import type { Term, Terms } from './terms.ts';

/** Sorted numbers, atom * 64 + rotation. */
export interface BitForm {
  readonly atoms: readonly number[];
  readonly constant: bigint;
}

const ONES = (1n << 64n) - 1n;
type Kind = 'input' | 'and' | 'name';

export class BitForms {
  readonly #terms: Terms;
  readonly #atoms: { level: number; kind: Kind }[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #known = new Map<number, BitForm>();

  constructor(terms: Terms) {
    this.#terms = terms;
  }

  #atom(key: string, level: number, kind: Kind): BitForm {
    let atom = this.#byKey.get(key);
    if (atom === undefined) {
      atom = this.#atoms.length;
      this.#atoms.push({ level, kind });
      this.#byKey.set(key, atom);
    }
    return { atoms: [64 * atom], constant: 0n };
  }

  input(term: Term): BitForm {
    return this.#atom(`input ${term.id}`, 0, 'input');
  }

  /** The highest level of products, or of other atoms; -1 without any. */
  #level(form: BitForm, isProduct: boolean): number {
    let level = -1;
    for (const entry of form.atoms) {
      const atom = this.#atoms[entry >> 6]!;
      if ((atom.kind === 'and') === isProduct) level = Math.max(level, atom.level);
    }
    return level;
  }

  /** The same value as a single atom, so that a new round starts from short forms. */
  #named(form: BitForm): BitForm {
    if (form.atoms.length < 2 && this.#level(form, true) < 0) return form;
    const level = Math.max(this.#level(form, true), this.#level(form, false));
    const { atoms } = this.#atom(`name ${form.atoms.join()}`, level, 'name');
    return { atoms, constant: form.constant };
  }

  xor(left: BitForm, right: BitForm): BitForm {
    const [p, q] = [this.#level(left, true), this.#level(right, true)];
    const [r, s] = [this.#level(left, false), this.#level(right, false)];
    const a = p >= 0 && (q >= 0 || p <= s) ? this.#named(left) : left;
    const b = q >= 0 && (p >= 0 || q <= r) ? this.#named(right) : right;
    const atoms: number[] = [];
    let [i, j] = [0, 0];
    while (i < a.atoms.length || j < b.atoms.length) {
      const [x, y] = [a.atoms[i] ?? Infinity, b.atoms[j] ?? Infinity];
      if (x !== y) atoms.push(Math.min(x, y));
      if (x <= y) i++;
      if (y <= x) j++;
    }
    return { atoms, constant: a.constant ^ b.constant };
  }

  not(form: BitForm): BitForm {
    return { atoms: form.atoms, constant: form.constant ^ ONES };
  }

  rotate({ atoms, constant }: BitForm, bits: number): BitForm {
    const k = BigInt(bits);
    const moved = atoms.map((entry) => (entry & ~63) | ((entry + bits) & 63));
    return {
      atoms: moved.sort((a, b) => a - b),
      constant: ((constant << k) | (constant >> (64n - k))) & ONES,
    };
  }

  and(left: BitForm, right: BitForm): BitForm {
    const a = this.#level(left, true) >= 0 ? this.#named(left) : left;
    const b = this.#level(right, true) >= 0 ? this.#named(right) : right;
    const [flipA, flipB] = [(a.constant & 1n) === 1n, (b.constant & 1n) === 1n];
    const [x, y] = [flipA ? this.not(a) : a, flipB ? this.not(b) : b];
    const keys = [x, y].map((form) => `${form.atoms.join()}^${form.constant}`).sort();
    const level = Math.max(this.#level(x, false), this.#level(y, false)) + 1;
    let result = this.#atom(`and ${keys.join('&')}`, level, 'and');
    // (x ^ 1)(y ^ 1) = xy ^ x ^ y ^ 1, and so on
    if (flipB) result = this.xor(result, x);
    if (flipA) result = this.xor(result, flipB ? this.not(y) : y);
    return result;
  }

  or(a: BitForm, b: BitForm): BitForm {
    return this.not(this.and(this.not(a), this.not(b)));
  }

  /** @throws Error if the term contains another operation */
  of(start: Term): BitForm {
    const term = this.#terms.origin(start);
    const known = this.#known.get(term.id);
    if (known !== undefined) return known;
    const form = this.#compute(term);
    this.#known.set(term.id, form);
    return form;
  }

  #compute(term: Term): BitForm {
    const [x, y] = term.args;
    switch (term.op) {
      case 'constant':
        return { atoms: [], constant: unsigned(64, term.value!) };
      case 'input':
        return this.input(term);
      case 'xor':
      case 'and':
      case 'or':
        return this[term.op](this.of(x!), this.of(y!));
      case 'rotl':
        return this.rotate(this.of(x!), term.immediate);
      default:
        throw new Error(`${term.op} isn't an operation on bits`);
    }
  }

  isEqual(a: BitForm, b: BitForm): boolean {
    return a.constant === b.constant && a.atoms.join() === b.atoms.join();
  }

  /** Keccak-f[1600]: FIPS 202, 3.3. */
  keccak(start: readonly BitForm[]): BitForm[] {
    const offsets = keccakOffsets();
    let a = [...start];
    for (const constant of keccakConstants()) {
      const columns = [0, 1, 2, 3, 4].map((x) =>
        [5, 10, 15, 20].reduce((sum, y) => this.xor(sum, a[x + y]!), a[x]!),
      );
      const theta = columns.map((_, x) =>
        this.xor(columns[(x + 4) % 5]!, this.rotate(columns[(x + 1) % 5]!, 1)),
      );
      const b: BitForm[] = [];
      for (let i = 0; i < 25; i++) {
        const [x, y] = [i % 5, Math.floor(i / 5)];
        b[y + 5 * ((2 * x + 3 * y) % 5)] = this.rotate(this.xor(a[i]!, theta[x]!), offsets[i]!);
      }
      a = b.map((lane, i) => {
        const [x, row] = [i % 5, i - (i % 5)];
        const product = this.and(this.not(b[row + ((x + 1) % 5)]!), b[row + ((x + 2) % 5)]!);
        return this.xor(lane, product);
      });
      a[0] = this.xor(a[0]!, { atoms: [], constant });
    }
    return a;
  }
}
