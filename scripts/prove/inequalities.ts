/**
 * The reciprocal and the root, whose products z3 cannot decide bit by bit: as inequalities.
 *
 * `Exact` takes sums and products without a modulus. Where a shift to the right needs the number
 * itself, that it fits, perhaps after adding a multiple of 2^64, is a statement of its own. What a
 * shift drops is an unknown remainder.
 */
import {
  assertions,
  type Bits,
  type Claim,
  claimOf,
  denial,
  Formulas,
  formulasOf,
  functionOf,
  isOf,
  type Lanes,
  nodesOf,
  pairOf,
  Run,
  resultOf,
  unknown,
  type Value,
  wide,
} from './bitvectors.ts';
import type { Module } from './decode.ts';
import { literal } from './smt.ts';

const power = (k: bigint | number): string => `${2n ** BigInt(k)}.0`;

class Exact {
  readonly #known = new Map<Bits, string>();
  readonly lines: string[] = ['(set-logic QF_NRA)'];
  /** That what shifts take fits. */
  readonly obligations: Claim[] = [];
  /** Of shifts, what to add to their operand: a multiple of 2^64. */
  readonly #wraps: ReadonlyMap<Bits, bigint>;

  constructor(wraps: ReadonlyMap<Bits, bigint> = new Map()) {
    this.#wraps = wraps;
  }

  /** An unknown real, in place of a node. */
  declare(name: string, instead?: Bits): string {
    this.lines.push(`(declare-const ${name} Real)`);
    if (instead) this.#known.set(instead, name);
    return name;
  }

  assume(text: string): void {
    this.lines.push(`(assert ${text})`);
  }

  claim(name: string, text: string): Claim {
    return { name, lines: [...this.lines, `(assert (not ${text}))`] };
  }

  #define(node: Bits, text: string): string {
    const name = `v${this.#known.size}`;
    this.lines.push(`(define-fun ${name} () Real ${text})`);
    this.#known.set(node, name);
    return name;
  }

  /** The number that a node is, up to a multiple of 2^64. */
  of(node: Bits): string {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    if (node.value !== undefined) {
      const value = BigInt.asIntN(64, node.value);
      return value < 0n ? `(- ${-value}.0)` : `${value}.0`;
    }
    const operation = /^\((\w+) \$0 \$1\)$/.exec(node.format)?.[1];
    const plain = { bvadd: '+', bvsub: '-', bvmul: '*' }[operation ?? ''];
    const [a, b] = node.args;
    if (plain) {
      const [x, y] = [this.of(a!), this.of(b!)];
      return this.#define(node, `(${plain} ${x} ${y})`);
    }
    const count = b?.value;
    if (count === undefined) throw new Error(`${node.format} is no operation on numbers`);
    const x = this.of(a!);
    if (operation === 'bvshl') return this.#define(node, `(* ${x} ${power(count)})`);
    const wrap = this.#wraps.get(node) ?? 0n;
    const number = wrap === 0n ? x : `(+ ${x} ${wrap}.0)`;
    const isSigned = operation === 'bvashr';
    if (!isSigned && operation !== 'bvlshr') throw new Error(`${operation} is no operation`);
    const low = isSigned ? `(- ${power(63)})` : '0.0';
    const fits = `(and (<= ${low} ${number}) (< ${number} ${power(isSigned ? 63 : 64)}))`;
    this.obligations.push(this.claim(`shift ${this.obligations.length} is of what it seems`, fits));
    const name = this.declare(`v${this.#known.size}`, node);
    const scaled = `(* ${name} ${power(count)})`;
    this.assume(`(and (<= ${scaled} ${number}) (< ${number} (+ ${scaled} ${power(count)})))`);
    return name;
  }
}

/** The parts of `inverse1`: nodes of its formula, found by their operations. */
function partsOfInverse(module: Module) {
  const a = unknown(64, 'x');
  const result = resultOf(module, 'inverse1', a) as Bits;
  const nodes = [...nodesOf(result)];
  const only = (operation: string, second: number) =>
    nodes.find((one) => isOf(one, operation, second))!;
  const user = (operation: string, node: Bits) =>
    nodes.find((one) => isOf(one, operation) && one.args.includes(node))!;
  const steps = nodes
    .filter((one) => isOf(one, 'bvashr', 32))
    .map((step) => user('bvadd', step))
    .sort((one, other) => nodesOf(one).size - nodesOf(other).size);
  const d = only('bvlshr', 21);
  const f = user('bvadd', only('bvashr', 36));
  const x = [steps[0]!.args.find((one) => !isOf(one, 'bvashr', 32))!, ...steps];
  return { a, result, d, m: d.args[0]!, x, t: only('bvashr', 26), f, mf: user('bvmul', f) };
}

/** |x y - goal| <= bound goal */
const isNear = (x: string, y: string, goal: bigint, bound: string) =>
  `(and (<= (- (* ${x} ${y}) ${goal}.0) (* ${bound} ${goal}.0))
    (<= (- ${goal}.0 (* ${x} ${y})) (* ${bound} ${goal}.0)))`;

/** Bounds of |1 - d x / 2^63| at first and after each Newton step, and of |1 - m x / 2^84|. */
const BOUNDS = ['0.0588235304', '0.00347', '0.0000121', `(/ 1.0 ${2n ** 30n}.0)`];
const ETA = '0.0000000016'; // 2^-29.2

/** What f is: floor(2^106 / m), or one less. In the steps of the comment of `inverse1`. */
function reciprocalBounds(module: Module): Claim[] {
  const { d, m, x, t, mf } = partsOfInverse(module);
  const claims: Claim[] = [];
  const step = (
    name: string,
    target: Bits,
    known: Readonly<Record<string, Bits>>,
    facts: readonly string[],
    claim: (of: string) => string,
  ) => {
    const exact = new Exact(new Map([[t, 2n ** 84n]]));
    for (const [text, node] of Object.entries(known)) exact.declare(text, node);
    for (const fact of facts) exact.assume(fact);
    const of = exact.of(target);
    for (const one of exact.obligations) {
      claims.push({ ...one, name: `inverse: ${name}, ${one.name}` });
    }
    claims.push(exact.claim(`inverse: ${name}`, claim(of)));
  };
  const isUpper = ['(<= 2147483648.0 d)', '(< d 4294967296.0)'];
  const near = (of: string, i: number) => isNear('d', of, 2n ** 63n, BOUNDS[i]!);
  step('the first x', x[0]!, { d }, isUpper, (of) => near(of, 0));
  for (let i = 1; i < 4; i++) {
    const facts = [...isUpper, '(> x 0.0)', near('x', i - 1)];
    step(`Newton step ${i}`, x[i]!, { d, x: x[i - 1]! }, facts, (of) => near(of, i));
  }
  const isMantissa = [`(<= ${2n ** 52n}.0 m)`, `(< m ${2n ** 53n}.0)`, '(> x 0.0)'];
  const lower = ['(<= (* d 2097152.0) m)', '(<= m (+ (* d 2097152.0) 2097151.0))'];
  const whole = isNear('m', 'x', 2n ** 84n, ETA);
  const remainder = new Exact();
  for (const name of ['m', 'd', 'x']) remainder.declare(name);
  for (const fact of [...isMantissa, ...isUpper, ...lower, near('x', 3)]) remainder.assume(fact);
  claims.push(remainder.claim('inverse: m x', whole));
  const isFloor = (of: string) =>
    `(and (<= ${of} ${2n ** 106n}.0) (< (- ${2n ** 106n}.0 ${of}) (* 2.0 m)))`;
  step('the quotient', mf, { m, x: x[3]! }, [...isMantissa, whole], isFloor);
  return claims;
}

/** The reciprocal: its bounds, what they are about, and the rounding. */
export function reciprocals(module: Module): Claim[] {
  const { a, result, d, m, f, mf } = partsOfInverse(module);
  const head = formulasOf(result, { x: a });
  const bits = `(and (= ${head.of(m)} ${wide(64, 53, 'm_x')})
    (= ${head.of(d)} (bvlshr ${head.of(m)} ${literal(21, 64)})))`;
  const tail = formulasOf(result, { x: a }, { m, f, mf });
  const rest = '(bvneg mf)';
  const one = literal(1, 64);
  const floor = `(ite (bvuge ${rest} m) (bvadd f ${one}) f)`;
  const rounded = `(bvlshr (bvadd ${floor} ${one}) ${one})`;
  const field = `(bvsub ${literal(2044, 64)} ${wide(64, 11, 'e_x')})`;
  const value = `(bvadd (bvshl ${field} ${literal(52, 64)}) ${rounded}
    (concat s_x ${literal(0, 63)}))`;
  const facts = [`(bvult ${rest} (bvshl m ${one}))`, `(bvult m ${literal(2n ** 53n, 64)})`];
  const pairs = pairOf('x');
  const both = resultOf(module, 'inverse', pairs) as Lanes;
  return [
    claimOf('inverse: the mantissa and its upper bits', head, denial(bits)),
    ...reciprocalBounds(module),
    claimOf('inverse: rounding', tail, ...assertions(...facts), denial(`(= r ${value})`)),
    ...both.map((lane, i) => {
      const own = formulasOf(lane, { x: pairs[i]! });
      const isSame = String(own.lines.join() === head.lines.slice(0, own.lines.length).join());
      return claimOf(`inverse, lane ${i}: is inverse1`, new Formulas(), denial(isSame));
    }),
  ];
}

/** Locals of the loop in `sqrt`; a wrong number is no proof. */
const [ROOT, REST] = [1, 2];

/** A round of the root: root and rest are replaced by unknowns. */
function rootRound(
  i: number,
  before: Lanes | undefined,
  rest: Bits,
  after: readonly Bits[],
  lane: 0 | 1,
) {
  const formulas = new Formulas();
  const r = before ? formulas.declare(64, 'root', before[lane]) : literal(2n ** 59n, 64);
  formulas.declare(64, 'rest', rest);
  const bit = literal(2n ** BigInt(59 - i), 64);
  const t = `(bvadd ${r} ${r} ${bit})`;
  const twice = '(bvadd rest rest)';
  const isLess = `(bvugt ${t} ${twice})`;
  const [nextRoot, nextRest] = after.map((node) => formulas.of(node));
  return claimOf(
    `sqrt, lane ${lane}: round ${i}`,
    formulas,
    ...assertions(
      `(bvult ${r} ${literal(2n ** 60n, 64)})`,
      `(bvult rest ${literal(2n ** 62n, 64)})`,
    ),
    denial(`(and (= ${nextRoot} (ite ${isLess} ${r} (bvadd ${r} ${bit})))
      (= ${nextRest} (ite ${isLess} ${twice} (bvsub ${twice} ${t}))))`),
  );
}

/** The root on bit vectors: the radicand, the step of each round, and the rounding. */
export function roots(module: Module): Claim[] {
  const x = pairOf('x');
  const states: Value[][] = [];
  const run = new Run(module, functionOf(module, 'sqrt'), [x], (locals) => {
    states.push([...locals]);
  });
  const at = (round: number, local: number) => states[round]![local] as Lanes;
  const one = literal(1, 64);
  return ([0, 1] as const).flatMap((lane) => {
    const start = formulasOf(at(0, REST)[lane], { x: x[lane] });
    const places = `(ite (= ((_ extract 52 52) x) #b1) ${literal(7, 64)} ${literal(8, 64)})`;
    const radicand = `(bvshl ${wide(64, 53, 'm_x')} ${places})`;
    const isFirst = `(= r (bvsub ${radicand} ${literal(2n ** 59n, 64)}))`;
    const end = formulasOf(
      (run.results[0] as Lanes)[lane],
      { x: x[lane] },
      {
        root: at(53, ROOT)[lane],
      },
    );
    const rounded = `(bvlshr (bvadd (bvlshr root ${literal(6, 64)}) ${one}) ${one})`;
    const field = `(bvlshr (bvadd ${wide(64, 11, 'e_x')} ${literal(1021, 64)}) ${one})`;
    const value = `(bvadd (bvshl ${field} ${literal(52, 64)}) ${rounded})`;
    const isLast = `(= r (bvor ${value} (concat s_x ${literal(0, 63)})))`;
    const rounds = Array.from({ length: 53 }, (_, i) => {
      const before = i === 0 ? undefined : at(i, ROOT);
      const after = [at(i + 1, ROOT)[lane], at(i + 1, REST)[lane]];
      return rootRound(i + 1, before, at(i, REST)[lane], after, lane);
    });
    return [
      claimOf(`sqrt, lane ${lane}: the radicand`, start, denial(isFirst)),
      ...rounds,
      claimOf(`sqrt, lane ${lane}: rounding`, end, denial(isLast)),
    ];
  });
}

/** The invariant of the root's rounds, in numbers: root^2 <= 2^59 X < (root + bit)^2. */
export function rootInvariants(): Claim[] {
  return Array.from({ length: 53 }, (_, i) => {
    const [b, p, unit] = [2n ** BigInt(58 - i), 2n ** BigInt(i), 2n ** 59n];
    const holds = (root: string, rest: string, bit: bigint, factor: bigint) =>
      `(and (= (* ${factor}.0 (- (* ${unit}.0 X) (* ${root} ${root}))) (* ${unit}.0 ${rest}))
        (>= ${rest} 0.0) (> (* (+ ${root} ${bit}.0) (+ ${root} ${bit}.0)) (* ${unit}.0 X)))`;
    const t = `(+ root root ${b}.0)`;
    const taken = holds(`(+ root ${b}.0)`, `(- (* 2.0 rest) ${t})`, b, 2n * p);
    const left = holds('root', '(* 2.0 rest)', b, 2n * p);
    const exact = new Exact();
    for (const name of ['X', 'root', 'rest']) exact.declare(name);
    exact.assume(holds('root', 'rest', 2n * b, p));
    exact.assume(`(and (>= root ${unit}.0) (< X ${4n * unit}.0))`);
    const bounds = `(and (< root ${2n * unit}.0) (<= rest (+ root root ${2n * b}.0)))`;
    return exact.claim(
      `sqrt: invariant of round ${i + 1}`,
      `(and ${bounds} (ite (> ${t} (* 2.0 rest)) ${left} ${taken}))`,
    );
  });
}
