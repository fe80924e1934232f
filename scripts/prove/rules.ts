/**
 * The rules that bound polynomials and prove divisions exact. Each is a statement on bit vectors in
 * `ruleClaims.ts`, decided by z3 for all inputs, or interval arithmetic.
 */
import { evaluate, least, most } from './evaluate.ts';
import { addPoly, atomsOf, idsOf, mulPoly, type Poly, substitute } from './poly.ts';
import type { Term, Terms } from './terms.ts';

type Range = readonly [low: bigint, high: bigint];

const times = ([a, b]: Range, [c, d]: Range): Range => {
  const products = [a * c, a * d, b * c, b * d];
  return [least(...products), most(...products)];
};

function squareOf([a, b]: Range): Range {
  const [x, y] = [a * a, b * b];
  return [a <= 0n && b >= 0n ? 0n : least(x, y), most(x, y)];
}

/** Interval arithmetic, with some of the terms known more precisely. */
function naive(terms: Terms, poly: Poly, known?: ReadonlyMap<number, Range>): Range {
  let [low, high] = [0n, 0n];
  const rangeOf = (id: number): Range => {
    const { low, high } = terms.nodes[id]!;
    return known?.get(id) ?? [low, high];
  };
  for (const [monomial, coefficient] of poly) {
    const [a, b] = idsOf(monomial);
    let range: Range = [1n, 1n];
    if (b !== undefined) range = a === b ? squareOf(rangeOf(b)) : times(rangeOf(a!), rangeOf(b));
    else if (a !== undefined) range = rangeOf(a);
    const [x, y] = [coefficient * range[0], coefficient * range[1]];
    low += least(x, y);
    high += most(x, y);
  }
  return [low, high];
}

const isQuotient = ({ op }: Term): boolean => op === 'q15' || op === 'relaxedQ15';

/** The extremes of rule Q's quotient, which is monotonous in each operand. */
export function quotientBounds(a: Term, b: Term): [bigint, bigint] {
  const values = [a.low, a.high].flatMap((x) =>
    [b.low, b.high].map((y) => evaluate('q15', 16, [x, y], 0, 16)),
  );
  return [least(...values), most(...values)];
}

/**
 * Rule Q: replaces quotients by operands and remainders.
 *
 * @returns `scale` times the polynomial
 */
function withoutQuotients(terms: Terms, poly: Poly): { poly: Poly; scale: bigint } | undefined {
  let [expanded, scale] = [poly, 1n];
  for (const id of atomsOf(poly)) {
    const { definition } = terms.nodes[id]!;
    const atoms = definition === undefined ? [] : atomsOf(definition);
    if (atoms.length > 0 && atoms.every((atom) => isQuotient(terms.nodes[atom]!))) {
      expanded = substitute(expanded, id, definition!) ?? expanded;
    }
  }
  for (let turn = 0; turn < 8; turn++) {
    const id = atomsOf(expanded).find((atom) => isQuotient(terms.nodes[atom]!));
    if (id === undefined) return turn === 0 ? undefined : { poly: expanded, scale };
    const quotient = terms.nodes[id]!;
    const [a, b] = quotient.args;
    const right = terms.origin(b!).definition ?? terms.exact(b!);
    const operands = mulPoly(terms.exact(a!), right) ?? mulPoly(terms.exact(a!), terms.exact(b!));
    if (operands === undefined) return undefined;
    const value = addPoly(operands, terms.exact(terms.remainder(quotient)), -1n);
    const next = replaceScaled(expanded, id, value);
    if (next === undefined) return undefined;
    expanded = next;
    scale <<= 15n;
  }
  return undefined;
}

/** 2^15 times the polynomial, where 2^15 times the term is `value`. */
function replaceScaled(poly: Poly, id: number, value: Poly): Poly | undefined {
  const scaled = new Map<number, bigint>();
  const rest = new Map<number, bigint>();
  for (const [monomial, coefficient] of poly) {
    const ids = idsOf(monomial);
    if (ids.length === 2 && ids[0] === id && ids[1] === id) return undefined;
    if (ids.includes(id)) rest.set(monomial, coefficient);
    else scaled.set(monomial, coefficient << 15n);
  }
  const replaced = substitute(rest, id, value);
  return replaced && addPoly(scaled, replaced);
}

/**
 * The cases of a comparison with a constant, or of a sign: the ranges of x, and the term's value.
 */
function casesOf(terms: Terms, term: Term): [x: Term, cases: [Range, bigint][]] | undefined {
  if (term.low < -1n || term.high > 0n) return undefined;
  const [a, b] = term.args;
  const split = (x: Term, below: bigint, isBelow: bigint): [Term, [Range, bigint][]] => {
    const origin = terms.origin(x);
    const cases: [Range, bigint][] = [
      [[origin.low, least(origin.high, below)], isBelow],
      [[most(origin.low, below + 1n), origin.high], -1n - isBelow],
    ];
    return [origin, cases.filter(([[low, high]]) => low <= high)];
  };
  if (term.op === 'shr_s') return split(a!, -1n, -1n);
  if (term.op !== 'lt_s' && term.op !== 'le_s') return undefined;
  const less = term.op === 'lt_s' ? 1n : 0n;
  if (b!.value !== undefined) return split(a!, b!.value - less, -1n);
  if (a!.value !== undefined) return split(b!, a!.value - 1n + less, 0n);
  return undefined;
}

/** Rule C: a term that is -1 or 0 splits the range of what it compares. */
function byCases(terms: Terms, poly: Poly, id: number): Range | undefined {
  const split = casesOf(terms, terms.nodes[id]!);
  if (split === undefined) return undefined;
  const [x, cases] = split;
  const [atom] = atomsOf(terms.exact(x));
  // If x is a multiple of another term, that term's range isn't known to shrink.
  if (atom !== x.id) return undefined;
  const ranges = cases.map(([range, value]) => {
    const known = new Map<number, Range>([
      [x.id, range],
      [id, [value, value]],
    ]);
    return naive(terms, poly, known);
  });
  return [least(...ranges.map(([low]) => low)), most(...ranges.map(([, high]) => high))];
}

/** Rule L: x - 2^k (x >> k) is in [0, 2^k), where x is multiplied by c and x >> k by -2^k c. */
function byLowBits(terms: Terms, poly: Poly): Range | undefined {
  const isFloor = (id: number) => terms.nodes[id]!.op === 'shr_s' && terms.nodes[id]!.divides === 0;
  let expanded = poly;
  const atoms = atomsOf(poly);
  const isFloorOfAtom = (id: number) => isFloor(id) && atoms.includes(terms.nodes[id]!.args[0]!.id);
  for (const id of atoms) {
    const { definition } = terms.nodes[id]!;
    if (definition !== undefined && atomsOf(definition).some(isFloorOfAtom)) {
      expanded = substitute(expanded, id, definition) ?? expanded;
    }
  }
  for (const id of atomsOf(expanded).filter(isFloor)) {
    const { args, immediate } = terms.nodes[id]!;
    const factor = expanded.get(args[0]!.id);
    const span = 1n << BigInt(immediate);
    if (factor === undefined || expanded.get(id) !== -span * factor) continue;
    const rest = new Map(expanded);
    rest.delete(id);
    rest.delete(args[0]!.id);
    const [low, high] = naive(terms, rest);
    const [a, b] = times([factor, factor], [0n, span - 1n]);
    return [low + a, high + b];
  }
  return undefined;
}

const floorDiv = (a: bigint, b: bigint): bigint => (a - (((a % b) + b) % b)) / b;

/** The best bounds known for a polynomial's value. */
export function boundOf(terms: Terms, poly: Poly): Range {
  let [low, high] = naive(terms, poly);
  const meet = (range: Range | undefined): void => {
    if (range === undefined) return;
    low = most(low, range[0]);
    high = least(high, range[1]);
  };
  const expanded = withoutQuotients(terms, poly);
  if (expanded !== undefined) {
    const [a, b] = naive(terms, expanded.poly);
    meet([-floorDiv(-a, expanded.scale), floorDiv(b, expanded.scale)]);
  }
  meet(byLowBits(terms, poly));
  for (const id of atomsOf(poly)) meet(byCases(terms, poly, id));
  return [low, high];
}

/** Rule D: whether x, taken modulo 2^bits, is a polynomial whose coefficients all vanish. */
export function isDivisible(terms: Terms, x: Term, bits: number): boolean {
  let poly = x.definition ?? terms.exact(x);
  const hasRing = ({ definition, ring }: Term) => definition === undefined && ring !== undefined;
  for (const id of atomsOf(poly)) {
    const { definition } = terms.nodes[id]!;
    if (definition === undefined) continue;
    if (atomsOf(definition).some((atom) => hasRing(terms.nodes[atom]!))) {
      poly = substitute(poly, id, definition) ?? poly;
    }
  }
  for (const id of atomsOf(poly)) {
    const term = terms.nodes[id]!;
    if (hasRing(term) && term.ringBits >= bits) poly = substitute(poly, id, term.ring!) ?? poly;
  }
  const modulus = 1n << BigInt(bits);
  return [...poly.values()].every((coefficient) => coefficient % modulus === 0n);
}
