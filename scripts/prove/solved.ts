/** The proofs that need z3. */
import type { Value } from './execute.ts';
import { isStatic, type Kernel } from './kernel.ts';
import { BASE_SAMPLER, FALCON_Q } from './references.ts';
import { literal, Script } from './smt.ts';
import type { Statement } from './statements.ts';
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
 * in its first nine bytes. z0 is what the function squares first: both operands of a product.
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
  kernel.callFunction(
    index,
    parameters.map((_, i) => unknown(`parameter ${i}`)),
  );
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

export const SOLVED: Readonly<Record<string, Statement>> = { publicKey, baseSampler };
