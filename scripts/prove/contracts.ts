/**
 * Contracts of kernels, parsed from doc blocks. A block with a `Proof:` line that names a proof has
 * a fixed grammar, so that no bound is written twice:
 *
 *   Shape:  coefs: i64[64] -> form: i16[6][64]      regions: names, type, dimensions
 *   Bounds: |coefs| <= 2^44 -> |form| <= (p + 1) / 2
 *   Memory: coefs, form, SCRATCH                    capitals: static memory that it may write
 *   Secret: coefs
 *   Proof:  ntt(), logn in {9, 10}                  a proof of statements.ts, and its instances
 *   Proof:  digits(), count bits in {4 11, 3 15}
 *   Proof:  sum(1), blocks in {2, 1..6940}          2, and by induction all numbers up to 6940
 *   Proof:  digits(), outStride in {128, any}       any distance of the rows of `out`
 *   Proof:  reveals(2), logn in {9, 10}             secret independence; the rest may be in words
 *   Proof:  none: the reason
 *   Builds: falcon, falcon.relaxed                  the proof before it: only these modules
 *
 * A function may have several proofs, for other instances or other builds.
 *
 * Bounds are `|x| <= e`, `x in [e, e]`, `x in [e, e)` or `any x`; p is the prime that belongs to
 * the first dimension, r the bound of its residues, n is 2^logn, q the modulus of the folder.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, ROOT } from '../generated.ts';
import { FALCON_Q, LABRADOR_Q } from './references.ts';

export type ElementType = 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64';

export interface Region {
  readonly name: string;
  readonly type: ElementType;
  readonly dimensions: readonly string[];
}

/** Both bounds are included. */
export interface Bound {
  readonly name: string;
  readonly low: string;
  readonly high: string;
}

export interface Side {
  readonly regions: readonly Region[];
  readonly bounds: readonly Bound[];
}

/** A number that an induction is over: from 1 to a bound. With bound 0, any distance of rows. */
export interface Range {
  readonly name: string;
  readonly most: number;
}

export interface Instance {
  /** Numbers by name; 1 for the one that an induction is over. */
  readonly numbers: Readonly<Record<string, number>>;
  readonly range: Range | undefined;
}

export interface Proof {
  readonly reference: string;
  readonly args: readonly string[];
  readonly instances: readonly Instance[];
}

export interface Contract {
  readonly name: string;
  readonly file: string;
  readonly parameters: readonly { name: string; type: string }[];
  readonly input: Side;
  readonly output: Side;
  /** Whether the function returns anything but OK. */
  readonly hasErrors: boolean;
  readonly hasScratch: boolean;
  readonly proof: Proof | undefined;
  /** The modules whose code the proof is about, unless it is about all. */
  readonly builds: readonly string[] | undefined;
  /** Why there is no proof. */
  readonly none: string | undefined;
  /** The doc block, for the lock. */
  readonly text: string;
}

/** Contracts of generated kernels. */
const ELSEWHERE = 'scripts/prove/elsewhere.ts';

const TITLES = ['Spec', 'Shape', 'Bounds', 'Memory', 'Secret', 'Errors', 'Proof', 'Builds'];

/** The fields of a doc block, in order; a field continues on lines that are indented further. */
function fieldsOf(block: string): [title: string, text: string][] {
  const fields: [string, string][] = [];
  let isOpen = false;
  for (const line of block.split('\n').map((text) => text.replace(/^\s*\* ?/, ''))) {
    const match = /^(\w+): +(.*)$/.exec(line);
    if (match && TITLES.includes(match[1]!)) {
      fields.push([match[1]!, match[2]!]);
      isOpen = true;
    } else if (isOpen && /^ {3}/.test(line)) fields.at(-1)![1] += ` ${line.trim()}`;
    else isOpen = false;
  }
  return fields;
}

/** The proofs of a doc block, and the builds that each is about. */
function proofsOf(block: string): Stated[] {
  const proofs: Stated[] = [];
  for (const [title, text] of fieldsOf(block)) {
    const last = proofs.at(-1);
    if (title === 'Proof') proofs.push({ proof: text });
    if (title === 'Builds' && last === undefined) throw new Error('Builds: of no proof');
    if (title === 'Builds') last!.builds = text.split(', ');
  }
  return proofs.length === 0 ? [{}] : proofs;
}

/** Splits at a separator outside brackets. */
function splitTop(text: string, separator: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const letter of text) {
    if ('([{'.includes(letter)) depth++;
    if (')]}'.includes(letter)) depth--;
    if (letter === separator && depth === 0) parts.push('');
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function parseShape(text: string): Region[] {
  return splitTop(text, ';').flatMap((entry) => {
    const match = /^([\w, ]+): ([iu]\d+)((?:\[[^\]]+\])+)$/.exec(entry);
    if (!match) throw new Error(`Shape: ${entry}`);
    const dimensions = [...match[3]!.matchAll(/\[([^\]]+)\]/g)].map(([, size]) => size!);
    return match[1]!.split(',').map((name) => ({
      ...{ name: name.trim(), type: match[2] as ElementType, dimensions },
    }));
  });
}

function parseBounds(text: string): Bound[] {
  return splitTop(text, ',').flatMap((entry) => {
    const any = /^any (\w+)$/.exec(entry);
    if (any) return [];
    const size = /^\|(\w+)\| <= (.+)$/.exec(entry);
    if (size) return [{ name: size[1]!, low: `0 - (${size[2]})`, high: size[2]! }];
    const range = /^(\w+) in \[(.+)([\])])$/.exec(entry);
    const [low, high] = range ? splitTop(range[2]!, ',') : [];
    if (!range || high === undefined) throw new Error(`Bounds: ${entry}`);
    return [{ name: range[1]!, low: low!, high: range[3] === ')' ? `(${high}) - 1` : high }];
  });
}

const isRange = (text: string): boolean => text === 'any' || text.startsWith('1..');

/** The range that a number of an instance is, if it is one. */
function rangeOf(name: string, text: string): Range[] {
  if (!isRange(text)) return [];
  const isAny = text === 'any';
  if (isAny && !isStride(name)) throw new Error(`Proof: any ${name}`);
  return [{ name, most: isAny ? 0 : Number(evaluateBound(text.slice(3), {})) }];
}

function parseProof(text: string): Proof {
  const [head, ...lists] = splitTop(text, ',');
  const match = /^(\w+)\((.*)\)$/.exec(head!);
  if (!match) throw new Error(`Proof: ${text}`);
  let instances: Instance[] = [{ numbers: {}, range: undefined }];
  for (const list of lists) {
    const values = /^([\w ]+) in \{(.*)\}$/.exec(list);
    if (!values) throw new Error(`Proof: ${list}`);
    const names = values[1]!.split(' ');
    const choices = values[2]!.split(',').map((choice): Instance => {
      const all = choice.trim().split(' ');
      if (all.length !== names.length) throw new Error(`Proof: ${list}`);
      const ranges = all.flatMap((text, i) => rangeOf(names[i]!, text));
      if (ranges.length > 1) throw new Error('Proof: an induction over two numbers');
      const numbers = all.map((text) => (isRange(text) ? 1 : Number(text)));
      return {
        numbers: Object.fromEntries(names.map((name, i) => [name, numbers[i]!])),
        range: ranges[0],
      };
    });
    instances = instances.flatMap((one) => choices.map((choice) => joined(one, choice)));
  }
  return { reference: match[1]!, args: splitTop(match[2]!, ','), instances };
}

/** Both; by induction distances between rows are any, and have no number. */
function joined(a: Instance, b: Instance): Instance {
  if (a.range && b.range) throw new Error('Proof: an induction over two numbers');
  const range = a.range ?? b.range;
  const entries = Object.entries({ ...a.numbers, ...b.numbers });
  const isKept = ([name]: [string, number]) => range === undefined || !isStride(name);
  return { numbers: Object.fromEntries(entries.filter(isKept)), range };
}

export const isStride = (name: string): boolean => /stride$/i.test(name);

interface Stated {
  proof?: string;
  builds?: string[];
}

function parseContract(
  file: string,
  block: string,
  name: string,
  parameters: string,
  { proof, builds }: Stated,
): Contract {
  const fields = new Map(fieldsOf(block));
  const none = proof === undefined ? undefined : /^none: +(.+)$/.exec(proof)?.[1];
  const isProved = proof !== undefined && none === undefined;
  // Paths are about all memory: their contracts may be in words.
  const isExact = isProved && !proof.startsWith('reveals(');
  const sides = (title: string) => (isExact ? (fields.get(title) ?? '') : '').split('->');
  const [shape, bounds] = [sides('Shape'), sides('Bounds')];
  const side = (i: number): Side => ({
    regions: parseShape(shape[i] ?? ''),
    bounds: parseBounds(bounds[i] ?? ''),
  });
  const contract = {
    ...{ name, file, none, builds, text: `${block}${name}(${parameters})` },
    parameters: splitTop(parameters.replaceAll(/\s+/g, ' '), ',').map((text) => {
      const [parameter, type] = text.split(':').map((part) => part.trim());
      return { name: parameter!, type: type! };
    }),
    ...{ input: side(0), output: side(1) },
    hasErrors: fields.has('Errors'),
    hasScratch: /\b[A-Z][A-Z_]+\b/.test(fields.get('Memory') ?? ''),
    proof: isProved ? parseProof(proof) : undefined,
  };
  for (const { input, output } of [contract]) {
    for (const { regions, bounds } of [input, output]) {
      const names = new Set(regions.map((region) => region.name));
      const unknown = bounds.find((bound) => !names.has(bound.name));
      if (unknown) throw new Error(`Bounds: ${unknown.name} has no shape`);
    }
  }
  return contract;
}

const FUNCTION = new RegExp(
  [
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*/,
    /(?:\/\/ @ts-ignore: decorator\n@inline\n)?/,
    /(?:export )?(?:declare )?function (\w+)\(([^)]*)\)/,
  ]
    .map(({ source }) => source)
    .join(''),
  'g',
);

/** The contracts in the text of a file. @throws Error if a line breaks the grammar */
export function parseContracts(file: string, text: string): Contract[] {
  const contracts: Contract[] = [];
  for (const [, block, name, parameters] of text.matchAll(FUNCTION)) {
    if (!/^ \* (Proof|Bounds|Secret):/m.test(block!)) continue;
    try {
      for (const one of proofsOf(block!)) {
        contracts.push(parseContract(file, block!, name!, parameters!, one));
      }
    } catch (error) {
      throw new Error(`${file}, ${name}: ${(error as Error).message}`);
    }
  }
  return contracts;
}

/** All contracts. @throws Error if a function has two */
export function readContracts(): Contract[] {
  const sources = filesBelow('assembly').filter(
    (path) => path.endsWith('.ts') && !/\.gen\.ts$|^assembly\/test\//.test(path),
  );
  const read = (path: string) => parseContracts(path, readFileSync(join(ROOT, path), 'utf8'));
  const elsewhere = read(ELSEWHERE);
  const own = sources.flatMap(read);
  const twice = own.find(({ name }) => elsewhere.some((contract) => contract.name === name));
  if (twice) throw new Error(`${twice.name} has a contract in ${ELSEWHERE} too`);
  return [...own, ...elsewhere];
}

/** The modulus called q in the contracts of a file. */
export const modulusOf = (file: string): bigint =>
  file.includes('/labrador/') ? LABRADOR_Q : BigInt(FALCON_Q);

/** Evaluates an expression of integers, names, + - * / ^ and brackets. */
export function evaluateBound(text: string, names: Readonly<Record<string, bigint>>): bigint {
  const tokens = text.match(/\d+|\w+|[-+*/^()]/g) ?? [];
  let at = 0;
  const primary = (): bigint => {
    const token = tokens[at++];
    if (token === '(') {
      const value = sum();
      if (tokens[at++] !== ')') throw new Error(`a bracket isn't closed: ${text}`);
      return value;
    }
    if (token !== undefined && /^\d/.test(token)) return BigInt(token);
    const value = names[token ?? ''];
    if (value === undefined) throw new Error(`${token} is unknown: ${text}`);
    return value;
  };
  const power = (): bigint => {
    const base = primary();
    return tokens[at] === '^' && at++ >= 0 ? base ** power() : base;
  };
  const product = (): bigint => {
    let value = power();
    while (tokens[at] === '*' || tokens[at] === '/') {
      value = tokens[at++] === '*' ? value * power() : value / power();
    }
    return value;
  };
  const sum = (): bigint => {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '-') {
      value = tokens[at++] === '+' ? value + product() : value - product();
    }
    return value;
  };
  const value = sum();
  if (at !== tokens.length) throw new Error(`not an expression: ${text}`);
  return value;
}
