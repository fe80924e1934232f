/**
 * The functions of falcon.integer.wasm that compute on reals, as shipped, against exact numbers:
 * every operand in the range that realInteger.ts states, every result bit. `docs/assurance.md` says
 * which part z3 decides, and which is argued.
 */
import {
  asDouble,
  assertions,
  type Bits,
  type Claim,
  claimOf,
  denial,
  exponent,
  Formulas,
  formulasOf,
  isOf,
  isRounded,
  type Lanes,
  nodesOf,
  pairOf,
  resultOf,
  wide,
} from './bitvectors.ts';
import type { Module } from './decode.ts';
import { reciprocals, rootInvariants, roots } from './inequalities.ts';
import { openModule } from './modules.ts';
import { decide, hasZ3, literal } from './smt.ts';

/** Sums, |a| >= |b|: both are normal, or b is zero. */
function sumsBy(make: (name: string, ...more: string[]) => Claim, a: string, b: string): Claim[] {
  const isSorted = assertions(
    `normal_${a}`,
    `normal_${b}`,
    `(bvuge ((_ extract 62 0) ${a}) ((_ extract 62 0) ${b}))`,
  );
  const near = Array.from({ length: 64 }, (_, d) => {
    const width = 55 + d;
    const [ma, mb] = [wide(width, 53, `m_${a}`), wide(width, 53, `m_${b}`)];
    const shifted = `(bvshl ${ma} ${literal(d, width)})`;
    const exact = `(ite (= s_x s_y) (bvadd ${shifted} ${mb}) (bvsub ${shifted} ${mb}))`;
    return make(
      `${a} is the larger one, ${d} exponents apart`,
      ...isSorted,
      `(assert (= e_${a} (bvadd e_${b} ${literal(d, 11)})))`,
      `(define-fun exact () (_ BitVec ${width}) ${exact})`,
      denial(`(ite (= exact ${literal(0, width)}) (= r ${literal(0, 64)})
        (and (= ((_ extract 63 63) r) s_${a})
          ${isRounded('exact', exponent(`e_${b}`, -1075))}))`),
    );
  });
  const isFar = `(assert (bvugt (bvsub e_${a} e_${b}) ${literal(63, 11)}))`;
  const isAlone = assertions(`normal_${a}`, `zero_${b}`);
  return [
    ...near,
    make(`${a} is more than 63 exponents larger`, ...isSorted, isFar, denial(`(= r ${a})`)),
    make(`${b} is zero`, ...isAlone, denial(`(= r ${a})`)),
  ];
}

/**
 * Sums. |x| >= |y| and the fields differ by d, or the other way round; up to 63 the exact sum is an
 * integer of 55 + d bits. Beyond, y is less than 2^-10 of x's last bit: see `negligible`.
 */
function sums(module: Module): Claim[] {
  const [x, y] = [pairOf('x'), pairOf('y')];
  const result = resultOf(module, 'add', x, y) as Lanes;
  return ([0, 1] as const).flatMap((lane) => {
    const formulas = formulasOf(result[lane], { x: x[lane], y: y[lane] });
    const make = (name: string, ...more: string[]) =>
      claimOf(`add, lane ${lane}: ${name}`, formulas, ...more);
    const zeros = denial(`(= r (ite (= x y) x ${literal(0, 64)}))`);
    return [
      ...sumsBy(make, 'x', 'y'),
      ...sumsBy(make, 'y', 'x'),
      make('zeros', ...assertions('zero_x', 'zero_y'), zeros),
    ];
  });
}

/** What sums take for granted: m 2^64 +- e rounds to m 2^64, for all 0 <= e <= 2^53. */
function negligible(): Claim {
  const formulas = new Formulas();
  formulas.declare(118, 'm');
  formulas.declare(118, 'e');
  const rounded = (integer: string) => `((_ to_fp_unsigned 11 53) RNE ${integer})`;
  const m = `(bvshl m ${literal(64, 118)})`;
  const [low, high, most] = [52, 53, 53].map((bits) => literal(1n << BigInt(bits), 118));
  return claimOf(
    'a summand below 2^-10 of the last bit changes nothing',
    formulas,
    ...assertions(`(bvuge m ${low})`, `(bvult m ${high})`, `(bvule e ${most})`),
    denial(`(and (= ${rounded(`(bvadd ${m} e)`)} ${rounded(m)})
      (= ${rounded(`(bvsub ${m} e)`)} ${rounded(m)}))`),
  );
}

/** The products of halves of 2^10 m_x and 2^10 m_y: which halves, weight, and upper bound. */
const HALVES = [2n ** 31n - 1n, 2n ** 32n - 2n ** 10n] as const;
const PRODUCTS = [
  { name: 'high', halves: ['63 32', '63 32'], weight: 64, most: HALVES[0] * HALVES[0] },
  { name: 'cross', halves: ['63 32', '31 0'], weight: 32, most: HALVES[0] * HALVES[1] },
  { name: 'other', halves: ['31 0', '63 32'], weight: 32, most: HALVES[0] * HALVES[1] },
  { name: 'low', halves: ['31 0', '31 0'], weight: 0, most: HALVES[1] * HALVES[1] },
] as const;

/** The claims that a factor's operands are these halves, for the factor of which it is true. */
function placed(result: Bits, operands: Record<string, Bits>, title: string) {
  const factors = [...nodesOf(result)].filter((node) => isOf(node, 'bvmul'));
  return PRODUCTS.map(({ name, halves }) => {
    const claims = factors.map((factor) => {
      const formulas = formulasOf(result, operands);
      const equal = factor.args.map((arg, i) => {
        const mantissa = `(bvshl ${wide(64, 53, `m_${'xy'[i]}`)} ${literal(10, 64)})`;
        return `(= ${formulas.of(arg)} ${wide(64, 32, `((_ extract ${halves[i]}) ${mantissa})`)})`;
      });
      return claimOf(`${title}product ${name}`, formulas, denial(`(and ${equal.join(' ')})`));
    });
    const found = Math.max(0, claims.findIndex(isProved));
    return { name, factor: factors[found]!, claim: claims[found]! };
  });
}

/**
 * Products. N stands for m_x m_y: the four products of halves of 2^10 m are replaced by unknowns
 * whose weighted sum is 2^20 N. That they are products of these halves is proved first; the rest of
 * that step is distributivity.
 */
function products(module: Module): Claim[] {
  const [x, y] = [pairOf('x'), pairOf('y')];
  const result = resultOf(module, 'mul', x, y) as Lanes;
  return ([0, 1] as const).flatMap((lane) => {
    const title = `mul, lane ${lane}: `;
    const operands = { x: x[lane], y: y[lane] };
    const places = placed(result[lane], operands, title);
    const open = Object.fromEntries(places.map(({ name, factor }) => [name, factor]));
    const formulas = formulasOf(result[lane], operands, open);
    const sum = PRODUCTS.map(
      ({ name, weight }) => `(bvshl ${wide(128, 64, name)} ${literal(weight, 128)})`,
    );
    const fields = `(bvadd ${wide(64, 11, 'e_x')} ${wide(64, 11, 'e_y')} ${literal(-2150, 64)})`;
    const field = `(bvadd ${wide(12, 11, 'e_x')} ${wide(12, 11, 'e_y')})`;
    const rounded = claimOf(
      `${title}normal operands`,
      formulas,
      '(declare-const N (_ BitVec 106))',
      ...assertions(
        'normal_x',
        'normal_y',
        `(and (bvuge ${field} ${literal(1147, 12)}) (bvule ${field} ${literal(2945, 12)}))`,
        `(bvuge N ${literal(2n ** 104n, 106)})`,
        `(bvuge high ${literal(2n ** 60n, 64)})`,
        ...PRODUCTS.map(({ name, most }) => `(bvule ${name} ${literal(most, 64)})`),
        `(= (concat #b00 N ${literal(0, 20)}) (bvadd ${sum.join(' ')}))`,
      ),
      denial(`(and (= ((_ extract 63 63) r) (bvxor s_x s_y))
        ${isRounded('N', `(bvshl ${fields} ${literal(52, 64)})`)})`),
    );
    const zeros = claimOf(
      `${title}zeros`,
      formulas,
      ...assertions('(or (and zero_x (or zero_y normal_y)) (and normal_x zero_y))'),
      denial(`(= r (concat (bvxor s_x s_y) ${literal(0, 63)}))`),
    );
    return [...places.map(({ claim }) => claim), rounded, zeros];
  });
}

const integral = (mode: string) => `(fp.roundToIntegral ${mode} ${asDouble('x')})`;
const signed = (bits: number, mode: string) => `((_ fp.to_sbv ${bits}) ${mode} ${asDouble('x')})`;
const isBelow = (power: number) =>
  `(or zero_x (and normal_x (bvult e_x ${literal(1023 + power, 11)})))`;
const IS_REAL = '(or zero_x normal_x)';

const implication = (name: string, formulas: Formulas, premise: string, claim: string) =>
  claimOf(name, formulas, `(assert ${premise})`, denial(claim));

/** Roundings to integers that remain reals, against the theory of floating point. */
function roundings(module: Module): Claim[] {
  const x = pairOf('x');
  const single = (name: string) => formulasOf(resultOf(module, name, x[0]) as Bits, { x: x[0] });
  const product = `((_ fp.to_ubv 64) RTZ ${asDouble(`(bvadd x ${literal(55n << 52n, 64)})`)})`;
  const [least, most] = [1029n, 1031n].map((e) => literal(e << 52n, 64));
  const top = literal(2n ** 63n - 1n, 64);
  return [
    implication('nearest', single('nearest1'), IS_REAL, `(= ${asDouble('r')} ${integral('RNE')})`),
    implication(
      'times55',
      single('times55'),
      `(and (bvuge x ${least}) (bvule x ${most}))`,
      `(= r (ite (bvugt ${product} ${top}) ${top} ${product}))`,
    ),
    ...(resultOf(module, 'trunc', x) as Lanes).map((result, lane) =>
      implication(
        `trunc, lane ${lane}`,
        formulasOf(result, { x: x[lane]! }),
        isBelow(53),
        `(= ${asDouble('r')} ${integral('RTZ')})`,
      ),
    ),
  ];
}

/** Conversions from and to integers of 32 bits, both of which are in the lower lane. */
function conversions(module: Module): Claim[] {
  const [x, z] = [pairOf('x'), pairOf('z')];
  const [summed, integers, numbers] = [
    resultOf(module, 'floorPlus', x, z) as Lanes,
    resultOf(module, 'toI32', x) as Lanes,
    resultOf(module, 'fromI32', z) as Lanes,
  ];
  const [least, most] = [-(2 ** 31), 2 ** 31 - 1].map((value) => literal(value, 32));
  const real = (integer: string) => `((_ to_fp 11 53) RNE ${integer})`;
  const saturated = `(ite (fp.gt ${integral('RNE')} ${real(most!)}) ${most}
    (ite (fp.lt ${integral('RNE')} ${real(least!)}) ${least} ${signed(32, 'RNE')}))`;
  return ([0, 1] as const).flatMap((lane) => {
    const word = (text: string) => `((_ extract ${32 * lane + 31} ${32 * lane}) ${text})`;
    const floor = [...nodesOf(summed[lane])].find((node) => isOf(node, 'bvashr', 32))!;
    const others = { other: x[1 - lane]!, z: z[0] };
    const of = (result: Bits, open: Record<string, Bits> = others) =>
      formulasOf(result, { x: x[lane] }, open);
    const isInRange = `(and (bvsle ((_ sign_extend 32) ${least}) floor)
      (bvslt floor ${literal(2 ** 31, 64)}))`;
    const sum = `(bvadd floor ((_ sign_extend 32) ${word('z')}))`;
    const isFloor = `(= r ((_ sign_extend 30) ${signed(34, 'RTN')}))`;
    const [added, made] = [of(summed[lane], { ...others, floor }), of(numbers[lane])];
    const is = (integer: string) => `(= ${asDouble('r')} ${real(integer)})`;
    return [
      implication(`floor, lane ${lane}`, of(floor), isBelow(31), isFloor),
      implication(`floorPlus, lane ${lane}`, added, isInRange, is(sum)),
      implication(`toI32, lane ${lane}`, of(integers[0]), IS_REAL, `(= ${word('r')} ${saturated})`),
      implication(`fromI32, lane ${lane}`, made, 'true', is(word('z'))),
    ];
  });
}

const proved = new Map<string, boolean>();

/** Lanes have the same formulas, which are decided once. */
export function isProved({ lines }: Claim): boolean {
  const text = lines.join('\n');
  const known = proved.get(text) ?? decide([...lines, '(check-sat)'], SECONDS) === 'unsat';
  proved.set(text, known);
  return known;
}

/** Wall time: far more than a statement needs, even on a busy machine. */
const SECONDS = 1800;

/** Every statement, the quick ones first. */
export const claimsOf = (module: Module): Claim[] => [
  ...reciprocals(module),
  ...rootInvariants(),
  ...roots(module),
  ...roundings(module),
  ...conversions(module),
  ...products(module),
  negligible(),
  ...sums(module),
];

/** Decides every statement. @returns whether all hold */
export async function decideReals(say: (text: string) => void): Promise<boolean> {
  if (!hasZ3()) {
    say('SKIPPED: arithmetic on reals, because z3 is not installed');
    return true;
  }
  const claims = claimsOf(await openModule('falcon.integer'));
  let count = 0;
  for (const claim of claims) {
    const start = performance.now();
    const holds = isProved(claim);
    if (holds) count++;
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    say(`${holds ? 'proved' : 'NOT PROVED'}  ${seconds} s  ${claim.name}`);
  }
  say(`\n${count} of ${claims.length} statements proved`);
  return count === claims.length;
}
