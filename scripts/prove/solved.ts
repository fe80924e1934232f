/** The proofs that need z3. */
import { checkRoots, compareProducts, conditionOf, leavesOf, watch, wordsAt } from './composed.ts';
import { Stopped, type Value } from './execute.ts';
import { addressOf, functionNamed, isStatic, type Kernel } from './kernel.ts';
import { Forms, isForm } from './modular.ts';
import { BASE_SAMPLER, FALCON_Q, NORM_LIMITS } from './references.ts';
import { literal, Script } from './smt.ts';
import { compareInverse, compareTransform, type Statement } from './statements.ts';
import type { Term } from './terms.ts';

/** Bytes as one number, the first one being the most significant. */
const joined = (script: Script, bytes: readonly Term[]): string =>
  `(concat ${bytes.map((byte) => script.of(byte)).join(' ')})`;

/** E_PK_RANGE of the wire contract. */
const OUT_OF_RANGE = -2;

/**
 * Every 14-bit value below q is decoded and centred; the status is E_PK_RANGE if and only if one
 * isn't below q: per group of eight values, in terms of a maximum that is then compared.
 */
const publicKey: Statement = (kernel) => {
  const { terms, memory } = kernel.machine;
  const { logn } = kernel.instance;
  const n = 2 ** logn!;
  const at = kernel.address('pk');
  kernel.filled.add('pk');
  kernel.put(at, terms.constant(8, logn!));
  const input = (i: number) => {
    const term = terms.input(8, `pk[${i}]`, i);
    kernel.put(at + i, term);
    return term;
  };
  const bytes = Array.from({ length: (7 * n) / 4 }, (_, i) => input(1 + i));
  for (let i = 0; i < 2; i++) input(1 + bytes.length + i);
  const [status] = kernel.call() as Term[];
  const outputs = kernel.outputs('h');
  const q = literal(FALCON_Q, 16);
  const largest = maxima(status!);
  for (let group = 0; group < n / 8; group++) {
    const script = new Script();
    const bits = joined(script, bytes.slice(14 * group, 14 * group + 14));
    script.add(`(define-fun u () (_ BitVec 112) ${bits})`);
    const claims = Array.from({ length: 8 }, (_, k) => {
      const value = `((_ zero_extend 2) ((_ extract ${111 - 14 * k} ${98 - 14 * k}) u))`;
      const centred = `(ite (bvugt ${value} ${literal(6144, 16)}) (bvsub ${value} ${q}) ${value})`;
      const output = script.of(outputs[8 * group + k]!);
      const lane = largest?.lanes[k]?.[group];
      const isRead = lane === undefined ? 'false' : `(= ${script.of(lane)} ${value})`;
      return `(and ${isRead} (=> (bvult ${value} ${q}) (= ${output} ${centred})))`;
    });
    const holds = script.proves(`(and ${claims.join(' ')})`);
    kernel.check(holds, () => `values ${8 * group} to ${8 * group + 7} aren't decoded and centred`);
  }
  const isWhole = largest?.isStatus && largest.lanes.every((lane) => lane.length === n / 8);
  kernel.check(isWhole === true, () => 'the status is not that of a value out of range');
  const header = memory.load(at, 1);
  kernel.check(header.value === BigInt(logn!), () => 'the header was written to');
};

/**
 * Takes a status apart, -2 or 0 as one of eight lanes' maxima is at least q or none is. Each lane
 * is a chain max(max(max(0, a), b), ...), so it is at least q if and only if one value is.
 */
function maxima(status: Term): { lanes: Term[][]; isStatus: boolean } | undefined {
  const [condition, yes, no] = status.args;
  if (status.op !== 'select' || condition?.op !== 'bool') return undefined;
  const comparisons: Term[] = [];
  const collect = (term: Term): boolean => {
    if (term.op === 'or') return term.args.every(collect);
    comparisons.push(term);
    return term.op === 'le_s' && term.args[0]!.value === BigInt(FALCON_Q);
  };
  const isStatus =
    collect(condition.args[0]!) && yes?.value === BigInt(OUT_OF_RANGE) && no?.value === 0n;
  // The terms of the lanes were made in order.
  comparisons.sort((a, b) => a.args[1]!.id - b.args[1]!.id);
  const lanes = comparisons.map((comparison) => {
    const values: Term[] = [];
    let term = comparison.args[1]!;
    while (term.op === 'max_s') {
      values.unshift(term.args[1]!);
      term = term.args[0]!;
    }
    return term.value === 0n ? values : [term, ...values];
  });
  return { lanes, isStatus: isStatus && lanes.length === 8 };
}

/**
 * z0 of each of four candidates is the number of entries of the table above the number of 72 bits
 * in its first nine bytes. z0 is what the function squares first: both operands of a product, after
 * which the run ends.
 */
const baseSampler: Statement = (kernel) => {
  const { terms } = kernel.machine;
  const { module, index } = kernel;
  const stream = streamOf(kernel);
  const bytes = Array.from({ length: 1088 }, (_, i) => {
    const term = terms.input(8, `stream[${i}]`, i);
    kernel.put(stream + i, term);
    return term;
  });
  const unknown = (name: string): Value => ({
    width: 64,
    lanes: [0, 1].map((i) => terms.input(64, `${name}[${i}]`, 5000 + i)),
  });
  const { parameters } = module.types[module.functions[index]!]!;
  kernel.machine.last = 'i32x4.dot_i16x8_s';
  try {
    kernel.callFunction(
      index,
      parameters.map((_, i) => unknown(`parameter ${i}`)),
    );
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  const squares = terms.nodes.filter((term) => term?.op === 'dot' && term.args[0] === term.args[1]);
  kernel.check(squares.length === 4, () => `${squares.length} squares instead of 4`);
  squares.forEach((square, candidate) => {
    const script = new Script();
    const own = bytes.slice(11 * candidate, 11 * candidate + 9).reverse();
    script.add(`(define-fun u () (_ BitVec 72) ${joined(script, own)})`);
    const count = BASE_SAMPLER.map(
      (entry) => `(ite (bvult u ${literal(entry, 72)}) ${literal(1, 16)} ${literal(0, 16)})`,
    ).reduce((a, b) => `(bvadd ${a} ${b})`);
    const [z0, , high] = square.args;
    for (const term of [z0!, high!]) kernel.stated.set(term, 0n);
    const claim = `(and (= ${script.of(z0!)} ${count}) (= ${script.of(high!)} ${literal(0, 16)}))`;
    kernel.check(script.proves(claim), () => `z0 of candidate ${candidate} is not the table's`);
  });
};

/** The lowest address that the function reads from the static memory. */
function streamOf(kernel: Kernel): number {
  const probe = kernel.newMachine();
  const zero = probe.terms.constant(64, 0);
  const { parameters } = kernel.module.types[kernel.module.functions[kernel.index]!]!;
  probe.memory.watch();
  probe.call(
    kernel.index,
    parameters.map(() => ({ width: 64, lanes: [zero, zero] })),
  );
  return [...probe.memory.read]
    .filter((at) => !isStatic(kernel.module, at))
    .reduce((a, b) => Math.min(a, b));
}

/** E_SIG_NORM of the wire contract. */
const TOO_LONG = -6n;

/**
 * For every encoded key that is accepted, every point c and every s2 within its bounds: the status
 * is OK if the squared norm of (c - s2 h mod q, centred, and s2) is at most the limit, otherwise
 * E_SIG_NORM.
 */
const verdict: Statement = (kernel) => {
  const { machine, instance } = kernel;
  const n = 2 ** instance.logn!;
  const product = kernel.address('PRODUCT');
  checkRoots(kernel);
  let source: readonly Term[] = [];
  let values: readonly Term[] = [];
  const compared = new Set<string>();
  /** Compares what the product's region holds, once, and names it. */
  const stage = (bound: bigint, compare: (words: Term[]) => void): void => {
    const words = wordsAt(kernel, product, n);
    const key = words.map(({ id }) => id).join();
    if (!compared.has(key)) compare(words);
    compared.add(key);
    values = kernel.name(product, n, bound);
  };
  let key: readonly Term[] = [];
  const begins = {
    intt: () => stage(13219n, (words) => compareProducts(kernel, [values, key], words)),
  };
  watch(kernel, begins, {
    decodePublicKey: () => {
      source = kernel.name(product, n, 6144n);
    },
    ntt: () => stage(32604n, (words) => compareTransform(kernel, source, words)),
    intt: () => stage(12288n, (words) => compareInverse(kernel, values, words)),
  });
  prepareKey(kernel, () => values.length === n);
  key = values;
  source = kernel.inputs('S2');
  kernel.filled.add('PRODUCT');
  const conditions = new Set<Term>();
  // One branch, on the sign bits that were collected.
  const [refused, accepted] = [true, false].map((isTaken) => {
    source.forEach((term, i) => {
      kernel.put(product + 2 * i, term);
    });
    machine.decide = (condition) => {
      conditions.add(condition);
      return isTaken;
    };
    return kernel.call()[0] as Term;
  });
  const [isShort, yes, no] = accepted!.args;
  const comparison = isShort?.args[0];
  const isComparison =
    conditions.size === 1 &&
    refused!.value === TOO_LONG &&
    accepted!.op === 'select' &&
    yes?.value === 0n &&
    no?.value === TOO_LONG &&
    isShort?.op === 'bool' &&
    comparison?.op === 'le_u' &&
    comparison.args[1]!.value === NORM_LIMITS[instance.logn!]!;
  kernel.check(isComparison, () => 'the status is not a comparison with the limit');
  checkNorm(kernel, [...conditions][0]!, comparison!.args[0]!, values);
};

/** Prepares an encoded key, of any values, from where the module reads it. */
function prepareKey(kernel: Kernel, isDone: () => boolean): void {
  const { module, machine, instance } = kernel;
  const n = 2 ** instance.logn!;
  const at = addressOf(module, 'PK');
  kernel.put(at, machine.terms.constant(8, instance.logn!));
  // Two bytes more are read.
  kernel.unknowns('pk', at + 1, (7 * n) / 4 + 2, 8);
  kernel.filled.add('prepared');
  const index = functionNamed(module, 'prepareInto');
  const isFixed = module.types[module.functions[index]!]!.parameters.length === 2;
  const args = [kernel.address('prepared'), ...(isFixed ? [] : [at]), instance.logn!];
  // One branch, on the status.
  for (const isTaken of [false, true]) {
    machine.decide = () => isTaken;
    kernel.callNamed('prepareInto', ...args);
    if (isDone()) return;
  }
}

/** The total is the squared norm, unless a bit of the mask is set: then it is above 2^31. */
function checkNorm(kernel: Kernel, mask: Term, total: Term, r: readonly Term[]): void {
  const [c, s] = ['cRaw', 'S2'].map((name) => kernel.inputs(name));
  const forms = new Forms(kernel.machine.terms, FALCON_Q);
  const lanes = leavesOf(total, 'add').map((lane) => lane.args[0]!);
  const bits = leavesOf(mask, 'or');
  kernel.check(lanes.length === 4 && bits.length === 4, () => 'there are not four sums');
  for (const bit of bits) {
    const i = bit.op === 'shl' ? bit.immediate : 0;
    const collected = new Set(leavesOf(signOf(bit), 'or'));
    let sum = lanes.find((lane) => collected.has(lane))!;
    for (let step = c!.length / 8 - 1; step >= 0; step--) {
      kernel.check(collected.has(sum), () => `the sign after step ${step} is not collected`);
      const [own, rest] = peel(sum);
      const [other, before] = rest === undefined ? [] : peel(rest);
      const squares = [own, other].sort((a, b) => a!.id - b!.id);
      const grown = squares.reduce((all, dot) => all + (dot?.high ?? 1n << 31n), 0n);
      kernel.check(grown < 1n << 31n, () => `step ${step} may add 2^31`);
      for (const half of [0, 1]) {
        const at = 8 * step + 2 * i + half;
        const isOwn = squares.some((dot) => isSquare(dot, half, s![at]!));
        const isCentred = squares.some((dot) => {
          const x = dot?.args[2 * half];
          return x && isSquare(dot, half, x) && isMagnitude(forms, x, c![at]!, r[at]!);
        });
        kernel.check(isOwn && isCentred, () => `coefficient ${at} is not squared`);
      }
      if (step > 0) sum = before!;
      else kernel.check(before === undefined, () => 'there is more in the sum');
    }
  }
  const own = new Set(bits.map((bit) => (bit.op === 'shl' ? bit.immediate : 0)));
  kernel.check(own.size === 4 && new Set(lanes).size === 4, () => 'a sum is missing');
}

/** The term whose sign a bit of a mask is. */
function signOf(bit: Term): Term {
  const flag = bit.op === 'shl' ? bit.args[0]! : bit;
  const comparison = flag.args[0]!;
  if (flag.op !== 'bool' || comparison.op !== 'lt_s' || comparison.args[1]!.value !== 0n) {
    throw new Error('a bit of the mask is not a sign');
  }
  return comparison.args[0]!;
}

/** A sum's last product, and the rest. */
function peel(sum: Term): [product: Term | undefined, rest: Term | undefined] {
  if (sum.op === 'dot') return [sum, undefined];
  const [a, b] = sum.args;
  if (sum.op !== 'add') return [undefined, undefined];
  return b!.op === 'dot' ? [b, a] : [a!.op === 'dot' ? a : undefined, b];
}

/** Whether one of two products is the square of a term. */
const isSquare = (dot: Term | undefined, half: number, term: Term): boolean =>
  dot?.op === 'dot' && dot.args[2 * half] === term && dot.args[2 * half + 1] === term;

/**
 * Whether a term is |c + 2^15 - r mod q|, centred: it is computed from a representative between -q
 * and q, and is right for each of these.
 */
function isMagnitude(forms: Forms, x: Term, c: Term, r: Term): boolean {
  const expected = new Map([
    [0, 32768 % FALCON_Q],
    [c.key, 1],
    [r.key, FALCON_Q - 1],
  ]);
  const limit = BigInt(FALCON_Q);
  const isRepresentative = (term: Term) =>
    term.width === 16 && term.low > -limit && term.high < limit && isForm(forms.of(term), expected);
  const near = [x, ...x.args, ...x.args.flatMap(({ args }) => args)];
  const y = near.find(isRepresentative);
  if (y === undefined) return false;
  const script = new Script();
  const name = script.declare(y);
  const value = script.of(x);
  const q = literal(FALCON_Q, 16);
  const rest = `(bvurem (bvadd ${name} ${q}) ${q})`;
  const isHigh = `(bvugt ${rest} ${literal((FALCON_Q - 1) / 2, 16)})`;
  const isWithin = `(bvslt ${literal(-limit, 16)} ${name}) (bvslt ${name} ${q})`;
  return script.proves(
    `(=> (and ${isWithin}) (= ${value} (ite ${isHigh} (bvsub ${q} ${rest}) ${rest})))`,
  );
}

/** Whether no coefficient of (c - r mod q, centred, and s2) is beyond a limit. */
const limited: Statement = (kernel, [limit]) => {
  const [c, r, s] = ['POINT', 'PRODUCT', 'S2'].map((name) => kernel.inputs(name));
  const [status] = kernel.resultsWith() as Term[];
  const forms = new Forms(kernel.machine.terms, FALCON_Q);
  const [isAny, zero] = status!.op === 'bool' ? status!.args[0]!.args : [];
  const isNot = status!.args[0]?.op === 'eq' && (zero?.value === 0n || isAny?.value === 0n);
  kernel.check(isNot, () => 'the status is not that no comparison holds');
  const lanes = leavesOf(conditionOf(zero?.value === 0n ? isAny! : zero!), 'or');
  kernel.check(lanes.length === 8, () => 'there are not eight lanes');
  const [own, seen] = [new Set<Term>(s), new Set<number>()];
  lanes.forEach((lane) => {
    const [most, largest] = lane.args;
    const isLimit = lane.op === 'lt_s' && most!.value === BigInt(limit!);
    kernel.check(isLimit, () => 'a lane is compared with another limit');
    const leaves = leavesOf(largest!, 'max_s').filter(({ value }) => value !== 0n);
    const magnitudes = leaves.filter((leaf) => leaf.op !== 'abs' || !own.delete(leaf.args[0]!));
    for (const magnitude of magnitudes) {
      const at = c!.findIndex((term, i) => isMagnitude(forms, magnitude, term, r![i]!));
      kernel.check(at >= 0 && !seen.has(at), () => 'a magnitude is another one');
      seen.add(at);
    }
  });
  kernel.check(own.size === 0 && seen.size === c!.length, () => 'a coefficient is left out');
};

export const SOLVED: Readonly<Record<string, Statement>> = {
  publicKey,
  baseSampler,
  verdict,
  limited,
};
