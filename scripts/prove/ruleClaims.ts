/** The rules of terms.ts and rules.ts as claims on bit vectors, which z3 decides for all inputs. */
import { PRIMES } from './references.ts';
import { decide, hasZ3, literal } from './smt.ts';

interface Claim {
  readonly name: string;
  /** Names and widths of the unknowns, or `Real`. */
  readonly unknowns: Readonly<Record<string, number | 'Real'>>;
  readonly claim: string;
}

const sign = (bits: number, text: string) => `((_ sign_extend ${bits}) ${text})`;
const zero = (bits: number, text: string) => `((_ zero_extend ${bits}) ${text})`;
const cut = (high: number, low: number, text: string) => `((_ extract ${high} ${low}) ${text})`;
const ab = `(bvmul ${sign(16, 'a')} ${sign(16, 'b')})`;
/** The quotient of the specification, before saturation, in 32 bits. */
const quotientOf = (product: string) =>
  `(bvashr (bvadd ${product} ${literal(16384, 32)}) ${literal(15, 32)})`;
const quotient = quotientOf(ab);
const isLowest = (name: string) => `(= ${name} ${literal(-32768, 16)})`;

const floored = (bits: number, text: string, width: number) =>
  `(bvashr ${text} ${literal(bits, width)})`;
const shifted = (bits: number, text: string, width: number) =>
  `(bvshl ${text} ${literal(bits, width)})`;
const isMask = (c: string, width: number) =>
  `(or (= ${c} ${literal(0, width)}) (= ${c} ${literal(-1, width)}))`;
const RULES: Claim[] = [
  {
    name: 'Q: 2^15 quotient = a b - s, -2^14 <= s < 2^14',
    unknowns: { a: 16, b: 16 },
    claim: `(let ((s (bvsub ${ab} (bvshl ${quotient} ${literal(15, 32)}))))
      (and (bvsle ${literal(-16384, 32)} s) (bvslt s ${literal(16384, 32)})))`,
  },
  {
    name: 'Q: the quotient fits 16 bits unless a = b = -2^15',
    unknowns: { a: 16, b: 16 },
    claim: `(or (and ${isLowest('a')} ${isLowest('b')})
      (= ${quotient} ${sign(16, cut(15, 0, quotient))}))`,
  },
  {
    name: 'Q: products are monotonous in an operand',
    unknowns: { a: 'Real', b: 'Real', c: 'Real' },
    claim: `(=> (<= a c) (ite (>= b 0.0) (<= (* a b) (* c b)) (>= (* a b) (* c b))))`,
  },
  {
    name: 'Q: the quotient is monotonous in the product',
    unknowns: { x: 32, y: 32 },
    claim: `(=> (and (bvsle x y) (bvsle y ${literal(2n ** 30n, 32)}))
      (bvsle ${quotientOf('x')} ${quotientOf('y')}))`,
  },
  {
    name: 'D: if 2^16 divides x, then x = 2^16 (x >> 16)',
    unknowns: { x: 32 },
    claim: `(=> (= ${cut(15, 0, 'x')} ${literal(0, 16)})
      (= x (bvshl (bvashr x ${literal(16, 32)}) ${literal(16, 32)})))`,
  },
  {
    name: 'C: c & k = -c k for c in {0, -1}',
    unknowns: { c: 16, k: 16 },
    claim: `(=> (or (= c ${literal(0, 16)}) (= c ${literal(-1, 16)}))
      (= (bvand c k) (bvneg (bvmul c k))))`,
  },
  {
    name: 'xor with the lowest value: the unsigned value less 2^15',
    unknowns: { x: 16 },
    claim: `(= ${sign(16, `(bvxor x ${literal(-32768, 16)})`)}
      (bvsub ${zero(16, 'x')} ${literal(32768, 32)}))`,
  },
  {
    name: 'concat: the unsigned low half, and 2^32 times the high half',
    unknowns: { x: 32, y: 32 },
    claim: `(= (concat y x) (bvadd ${zero(32, 'x')} (bvshl ${sign(32, 'y')} ${literal(32, 64)})))`,
  },
  {
    name: 'L: a number in [0, 2^32) that is congruent to x is its unsigned value',
    unknowns: { x: 32, u: 64 },
    claim: `(=> (and (bvult u ${literal(2n ** 32n, 64)}) (= ${cut(31, 0, 'u')} x))
      (= u ${zero(32, 'x')}))`,
  },
  {
    name: 'the two parts of a rotation',
    unknowns: { x: 64 },
    claim: `(= (bvor (bvshl x ${literal(13, 64)}) (bvlshr x ${literal(51, 64)}))
      ((_ rotate_left 13) x))`,
  },
  {
    name: 'or of bits that do not overlap is a sum',
    unknowns: { x: 32, y: 32 },
    claim: `(=> (bvult y ${literal(1024, 32)})
      (= (bvor (bvshl x ${literal(10, 32)}) y) (bvadd (bvshl x ${literal(10, 32)}) y)))`,
  },
  {
    name: 'and with -2^k takes the low bits off',
    unknowns: { x: 32 },
    claim: `(= (bvand x ${literal(-4096, 32)}) (bvsub x (bvand x ${literal(4095, 32)})))`,
  },
];

type Text = readonly [name: string, unknowns: string, claim: string];

const field = (width: number, high: number, low: number, text: string, isSigned: boolean) =>
  (isSigned ? sign : zero)(width - (high - low), cut(high - 1, low, text));

/** Shifts and fields. */
function fieldRules(w: number): Text[] {
  const [half, third] = [w / 2, w / 4];
  const isWhole = `(= x ${floored(third, shifted(third, 'x', w), w)})`;
  const left = shifted(third, 'x', w);
  return [
    [
      'L: floor of floor',
      'x',
      `(= ${floored(half, floored(third, 'x', w), w)} ${floored(half + third, 'x', w)})`,
    ],
    [
      'L: floor of a shift to the left that loses nothing',
      'x',
      `(=> ${isWhole} (= ${floored(half, shifted(third, 'x', w), w)}
          ${floored(half - third, 'x', w)}))`,
    ],
    [
      'L: floor of any shift to the left',
      'x',
      `(= ${floored(half, shifted(third, 'x', w), w)}
          ${field(w, w - third, half - third, 'x', true)})`,
    ],
    [
      'L: bits of a shift to the left',
      'x',
      `(and (= ${cut(w - 1, half, left)} ${cut(w - 1 - third, half - third, 'x')})
          (= ${cut(third - 1, 0, left)} ${literal(0, third)}))`,
    ],
    ...[true, false].map(
      (isSigned): Text => [
        `L: bits of ${isSigned ? 'a signed' : 'an unsigned'} field`,
        'x',
        `(and (= ${cut(half - 1, 1, field(w, w - 1, third, 'x', isSigned))}
            ${cut(half + third - 1, third + 1, 'x')})
          (= ${floored(1, field(w, w - 1, third, 'x', isSigned), w)}
            ${field(w, w - 1, third + 1, 'x', isSigned)}))`,
      ],
    ),
    [
      'L: a signed field of the lowest bits is congruent to the term',
      'x',
      `(= ${cut(third - 1, 0, field(w, third, 0, 'x', true))} ${cut(third - 1, 0, 'x')})`,
    ],
  ];
}

/** Halves, masks, signs and bounds. */
function maskRules(w: number): Text[] {
  const [half, third] = [w / 2, w / 4];
  const zeros = literal(0, w);
  return [
    [
      'concat: the highest bits of two halves',
      'x y',
      `(= ((_ extract ${w - 1} 0) (bvashr (concat y x) ${literal(w + third, 2 * w)}))
          ${floored(third, 'y', w)})`,
    ],
    [
      'concat: two parts in the other order are a rotation',
      'x',
      `(= (concat ${cut(half - 1, 0, 'x')} ${cut(w - 1, half, 'x')})
          ((_ rotate_left ${half}) x))`,
    ],
    [
      'C: whether a mask is not zero is its negative',
      'c',
      `(=> ${isMask('c', w)}
          (= (ite (distinct c ${zeros}) ${literal(1, w)} ${zeros}) (bvneg c)))`,
    ],
    [
      'C: a sign is -1 for negative numbers',
      'x',
      `(let ((s ${floored(third, 'x', w)}))
          (=> ${isMask('s', w)} (= (= s ${literal(-1, w)}) (bvslt x ${zeros}))))`,
    ],
    [
      'C: x < k if x <= k - 1; x <= k if not k < x',
      'x k',
      `(and (=> (distinct k ${literal(1n << BigInt(w - 1), w)})
            (= (bvslt x k) (bvsle x (bvsub k ${literal(1, w)}))))
          (= (bvsle x k) (not (bvslt k x))))`,
    ],
    [
      'select: b + c (a - b) for c in {0, 1}',
      'a b c',
      `(=> (bvule c ${literal(1, w)})
          (= (ite (distinct c ${zeros}) a b) (bvadd b (bvmul c (bvsub a b)))))`,
    ],
    [
      'bounds of and, or',
      'x y',
      `(and (=> (bvsge x ${zeros}) (and (bvsge (bvand x y) ${zeros}) (bvsle (bvand x y) x)))
          (=> (and (bvult x ${literal(1n << BigInt(half), w)})
            (bvult y ${literal(1n << BigInt(half), w)}))
            (bvult (bvor x y) ${literal(1n << BigInt(half), w)})))`,
    ],
    ['not x = -1 - x', 'x', `(= (bvnot x) (bvsub ${literal(-1, w)} x))`],
  ];
}

/** Rules on terms of any width, at those that lanes and numbers have. */
const widthClaims = (): Claim[] =>
  [8, 16, 32, 64].flatMap((w) =>
    [...fieldRules(w), ...maskRules(w)].map(([name, unknowns, claim]) => ({
      name: `${name}, ${w} bits`,
      unknowns: Object.fromEntries(unknowns.split(' ').map((unknown) => [unknown, w])),
      claim,
    })),
  );

/** Rule L at the fields that occur, in twice the width. */
function fieldClaims(): Claim[] {
  const fields: [number, number, number][] = [
    ...[
      [32, 0, 15],
      [32, 0, 14],
      [32, 15, 32],
      [32, 0, 16],
      [32, 16, 32],
      [64, 0, 5],
    ],
    ...[
      [64, 0, 11],
      [64, 0, 14],
      [64, 14, 30],
      [64, 30, 46],
      [64, 0, 44],
      [64, 15, 31],
    ],
  ].map(([w, from, to]) => [w!, from!, to!]);
  return fields.flatMap(([width, from, to]) => {
    const floor = (bits: number) => `(bvashr ${sign(width, 'x')} ${literal(bits, 2 * width)})`;
    const span = literal(1n << BigInt(to - from), 2 * width);
    const field = cut(to - 1, from, 'x');
    const unsigned = `(bvsub ${floor(from)} (bvmul ${span} ${floor(to)}))`;
    const top = `(bvsub ${floor(to - 1)} (bvmul ${literal(2, 2 * width)} ${floor(to)}))`;
    const rest = 2 * width - (to - from);
    return [
      {
        name: `L: bits ${from} to ${to} of ${width}, unsigned`,
        unknowns: { x: width },
        claim: `(= ${zero(rest, field)} ${unsigned})`,
      },
      {
        name: `L: bits ${from} to ${to} of ${width}, signed`,
        unknowns: { x: width },
        claim: `(= ${sign(rest, field)} (bvsub ${unsigned} (bvmul ${span} ${top})))`,
      },
    ];
  });
}

/** Montgomery's reduction leaves no rest: D's premise for each prime. */
function montgomeryClaims(): Claim[] {
  return PRIMES.map((p) => {
    let inverse = 1;
    for (let turn = 0; turn < 5; turn++) {
      inverse = Math.imul(inverse, 2 - Math.imul(p, inverse)) & 0xffff;
    }
    const m = `(bvmul ${cut(15, 0, 'x')} ${literal(inverse, 16)})`;
    const rest = `(bvsub x (bvmul ${sign(16, m)} ${literal(p, 32)}))`;
    return {
      name: `D: 2^16 divides x - p m, p = ${p}`,
      unknowns: { x: 32 },
      claim: `(= ${cut(15, 0, rest)} ${literal(0, 16)})`,
    };
  });
}

/** Decides every rule. @returns whether all hold */
export function decideRules(say: (text: string) => void): boolean {
  if (!hasZ3()) {
    say('SKIPPED: the rules, because z3 is not installed');
    return true;
  }
  const claims = [...RULES, ...widthClaims(), ...fieldClaims(), ...montgomeryClaims()];
  let isProved = true;
  for (const { name, unknowns, claim } of claims) {
    const start = performance.now();
    const declared = Object.entries(unknowns).map(
      ([unknown, width]) =>
        `(declare-const ${unknown} ${width === 'Real' ? width : `(_ BitVec ${width})`})`,
    );
    const logic = Object.values(unknowns).includes('Real') ? 'QF_NRA' : 'QF_BV';
    const script = [`(set-logic ${logic})`, ...declared, `(assert (not ${claim}))`, '(check-sat)'];
    const answer = decide(script, 120);
    if (answer !== 'unsat') isProved = false;
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    say(`${answer === 'unsat' ? 'proved' : `NOT PROVED (${answer})`}  ${seconds} s  ${name}`);
  }
  return isProved;
}
