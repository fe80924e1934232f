/** Terms as formulas on bit vectors (SMT-LIB, QF_BV), decided by z3 for all inputs. */
import { spawnSync } from 'node:child_process';
import { unsigned } from './evaluate.ts';
import type { Term } from './terms.ts';

export const literal = (value: bigint | number, width: number): string =>
  `(_ bv${unsigned(width, BigInt(value))} ${width})`;

/** The lowest bits of an expression, or its sign-extension. */
function resized(text: string, from: number, to: number): string {
  if (from === to) return text;
  return from > to ? `((_ extract ${to - 1} 0) ${text})` : `((_ sign_extend ${to - from}) ${text})`;
}

const BINARY: Record<string, string> = {
  ...{ add: 'bvadd', sub: 'bvsub', mul: 'bvmul', and: 'bvand', or: 'bvor', xor: 'bvxor' },
  ...{ lt_s: 'bvslt', le_s: 'bvsle', lt_u: 'bvult', le_u: 'bvule', eq: '=', ne: 'distinct' },
};

/** A script that defines terms; each is written once. */
export class Script {
  readonly #lines: string[] = ['(set-logic QF_BV)'];
  readonly #names = new Map<number, string>();

  add(line: string): void {
    this.#lines.push(line);
  }

  /** Makes a term an unknown, whatever it is computed from. @returns its name */
  declare(term: Term): string {
    const name = `t${this.#names.size}`;
    this.#names.set(term.id, name);
    this.add(`(declare-const ${name} (_ BitVec ${term.width}))`);
    return name;
  }

  /** The name of a term. @throws Error if an operation has no formula */
  of(start: Term): string {
    const stack = [start];
    while (stack.length > 0) {
      const term = stack.at(-1)!;
      const open = this.#names.has(term.id)
        ? []
        : term.args.filter((arg) => !this.#names.has(arg.id));
      if (open.length > 0) {
        stack.push(...open);
        continue;
      }
      stack.pop();
      if (!this.#names.has(term.id)) this.#define(term);
    }
    return this.#names.get(start.id)!;
  }

  #define(term: Term): void {
    const { width, op, value, id } = term;
    if (value !== undefined) {
      this.#names.set(id, literal(value, width));
      return;
    }
    if (op === 'input') {
      this.declare(term);
      return;
    }
    const name = `t${this.#names.size}`;
    this.#names.set(id, name);
    this.add(`(define-fun ${name} () (_ BitVec ${width}) ${this.#formula(term)})`);
  }

  #formula({ op, width, args, immediate }: Term): string {
    const names = args.map((arg) => this.#names.get(arg.id)!);
    const [x, y, z] = names;
    const from = args[0]!.width;
    const choose = (condition: string, yes: bigint, no: bigint) =>
      `(ite ${condition} ${literal(yes, width)} ${literal(no, width)})`;
    const binary = BINARY[op];
    if (binary !== undefined) {
      const text = `(${binary} ${x} ${y})`;
      return binary.startsWith('bv') && !/^bv[us]l/.test(binary) ? text : choose(text, -1n, 0n);
    }
    const isNonZero = (text: string, bits: number) => `(distinct ${text} ${literal(0, bits)})`;
    switch (op) {
      case 'shl':
        return `(bvshl ${x} ${literal(immediate, width)})`;
      case 'shr_s':
        return `(bvashr ${x} ${literal(immediate, width)})`;
      case 'rotl':
        return `((_ rotate_left ${immediate}) ${x})`;
      case 'resize':
        return resized(x!, from, width);
      case 'concat':
        return `(concat ${y} ${x})`;
      case 'bool':
        return choose(isNonZero(x!, from), 1n, 0n);
      case 'select':
        return `(ite ${isNonZero(x!, from)} ${y} ${z})`;
      case 'abs':
        return `(ite (bvslt ${x} ${literal(0, width)}) (bvneg ${x}) ${x})`;
      case 'dot': {
        const [a, b, c, d] = names.map((name, i) => resized(name, args[i]!.width, width));
        return `(bvadd (bvmul ${a} ${b}) (bvmul ${c} ${d}))`;
      }
      case 'q15':
        return this.#quotient(x!, y!);
      case 'max_s':
        return `(ite (bvsgt ${x} ${y}) ${x} ${y})`;
      case 'min_s':
        return `(ite (bvslt ${x} ${y}) ${x} ${y})`;
      case 'field':
      case 'signedField':
        return this.#field(op, x!, from, width, immediate);
      default:
        throw new Error(`${op} has no formula`);
    }
  }

  /** Rule Q's quotient; it is saturated only for -2^15 and -2^15. */
  #quotient(x: string, y: string): string {
    const product = `(bvmul ${resized(x, 16, 32)} ${resized(y, 16, 32)})`;
    const quotient = `(bvashr (bvadd ${product} ${literal(16384, 32)}) ${literal(15, 32)})`;
    const isHighest = `(= ${quotient} ${literal(32768, 32)})`;
    return `(ite ${isHighest} ${literal(32767, 16)} ${resized(quotient, 32, 16)})`;
  }

  #field(op: string, x: string, from: number, width: number, immediate: number): string {
    const [low, high] = [immediate % 128, Math.floor(immediate / 128)];
    const wide = resized(x, from, Math.max(from, high));
    const bits = `((_ extract ${high - 1} ${low}) ${wide})`;
    const extend = op === 'field' ? 'zero_extend' : 'sign_extend';
    return high - low === width ? bits : `((_ ${extend} ${width - high + low}) ${bits})`;
  }

  /** Whether a claim holds for all inputs. */
  proves(claim: string, seconds = 120): boolean {
    const lines = [...this.#lines, `(assert (not ${claim}))`, '(check-sat)'];
    const text = lines.join('\n');
    const known = decided.get(text) ?? decide(lines, seconds);
    decided.set(text, known);
    return known === 'unsat';
  }
}

/** Terms are numbered by script, so that claims that differ only in inputs are decided once. */
const decided = new Map<string, string>();

/** z3's answer to a script. */
export function decide(lines: readonly string[], seconds: number): string {
  const { stdout, error } = spawnSync('z3', ['-in', `-T:${seconds}`], {
    input: `${lines.join('\n')}\n`,
    encoding: 'utf8',
  });
  if (error) throw error;
  const answer = stdout.trim().split('\n')[0] ?? '';
  if (answer.includes('error')) throw new Error(`z3: ${answer}`);
  return answer;
}

let isInstalled: boolean | undefined;

/** Whether z3 is installed. */
export function hasZ3(): boolean {
  isInstalled ??= spawnSync('z3', ['--version']).status === 0;
  return isInstalled;
}
