/**
 * Negative controls: changes an instruction or a table entry in the bytes of a module, one at a
 * time, and proves again. Where the proof still holds, the runs before and after the change are
 * compared.
 */
import { sha256 } from '../generated.ts';
import { decode, type Module } from './decode.ts';
import { Kernel } from './kernel.ts';
import { Lock } from './lock.ts';
import { withNames } from './modules.ts';
import { attempt, isOnValues, type Job, nameOf, needsSolver, run } from './prove.ts';
import { hasZ3, literal, Script } from './smt.ts';
import type { Term } from './terms.ts';
import { CODES, disagreements, inputsOf, Values } from './validate.ts';

/** Operations that are taken for each other: the first pattern that gives another one counts. */
const SWAPS: readonly (readonly [RegExp, string])[] = [
  [/\.add$/, '.sub'],
  [/\.(sub|mul)$/, '.add'],
  [/\.and$/, '.or'],
  [/\.(or|andnot)$/, '.and'],
  [/\.xor$/, '.or'],
  [/\.shl$/, '.shr_s'],
  [/\.shr_s$/, '.shr_u'],
  [/\.(shr_u|rotl)$/, '.shl'],
  [/\.(gt|lt)_/, '.ge_'],
  [/\.(ge|le)_/, '.gt_'],
  [/\.eq$/, '.ne'],
  [/\.ne$/, '.eq'],
  [/\.min_/, '.max_'],
  [/\.max_/, '.min_'],
  [/_low_/, '_high_'],
  [/_high_/, '_low_'],
  [/^i32x4\.dot_i16x8_s$/, 'i32x4.mul'],
  [/\.(relaxed_)?q15mulr(_sat)?_s$/, '.mul'],
  [/_s$/, '_u'],
  [/_u$/, '_s'],
];

function swapOf(op: string): string | undefined {
  const others = SWAPS.map(([pattern, to]) => op.replace(pattern, to));
  return others.find((other) => other !== op && CODES.has(other));
}

type Kind = 'opcode' | 'shuffle' | 'lane' | 'offset' | 'constant' | 'local' | 'table';

interface Place {
  readonly kind: Kind;
  /** A function and an instruction, or an address. */
  readonly index: number;
  readonly at: number;
}

/** The places of a proof that can be changed, by kind. */
function placesOf({ module, machine }: Kernel): Map<Kind, Place[]> {
  const places = new Map<Kind, Place[]>();
  const add = (kind: Kind, index: number, at: number) => {
    const list = places.get(kind) ?? [];
    list.push({ kind, index, at });
    places.set(kind, list);
  };
  for (const [index, marks] of machine.ran) {
    module.bodies[index]!.code.forEach((instruction, at) => {
      if (marks[at] === 0) return;
      const { op, map, offset, lane, value, halves } = instruction;
      if (swapOf(op) !== undefined) add('opcode', index, at);
      if (map !== undefined) add('shuffle', index, at);
      if (lane !== undefined) add('lane', index, at);
      if (offset !== undefined) add('offset', index, at);
      if (value !== undefined || halves !== undefined) add('constant', index, at);
      if (op === 'local.get') add('local', index, at);
    });
  }
  // Runs in search of addresses read other tables too.
  for (const at of machine.memory.everRead) {
    const isStored = module.data.some((one) => at >= one.at && at + 2 <= one.at + one.bytes.length);
    if (at % 2 === 0 && isStored) add('table', 0, at);
  }
  return places;
}

/** Bytes that take the place of others. */
interface Change {
  readonly at: number;
  readonly bytes: readonly number[];
  readonly what: string;
}

/** The length of a LEB128 number. */
function lengthAt(bytes: Uint8Array, at: number): number {
  let length = 1;
  while (bytes[at + length - 1]! >= 128) length++;
  return length;
}

/**
 * A number in place of a LEB128 number, in as many bytes.
 *
 * @returns undefined if it doesn't fit them
 */
function leb(bytes: Uint8Array, at: number, value: bigint, isSigned: boolean) {
  const length = lengthAt(bytes, at);
  const fitting = isSigned ? BigInt.asIntN(7 * length, value) : BigInt.asUintN(7 * length, value);
  if (fitting !== value) return undefined;
  const part = (i: number) => Number((value >> BigInt(7 * i)) & 127n) | (i < length - 1 ? 128 : 0);
  return { at, bytes: Array.from({ length }, (_, i) => part(i)) };
}

/** Bytes that a load or store moves. */
function sizeOf(op: string): number {
  const [type, name] = op.split('.') as [string, string];
  const parts = /^(?:load|store)(\d+)(?:x(\d+))?/.exec(name);
  if (parts) return (Number(parts[1]) * Number(parts[2] ?? 1)) / 8;
  return Number(type.slice(1)) / 8;
}

/** Another local of the same type. */
function otherLocal(module: Module, index: number, local: number, random: () => number) {
  const { parameters } = module.types[module.functions[index]!]!;
  const types = [...parameters, ...module.bodies[index]!.locals];
  const others = types.flatMap((type, i) => (i !== local && type === types[local] ? [i] : []));
  return others[random() % others.length];
}

/** Where in the bytes of a module the data of an address is. */
function positionOf({ bytes, bodies, data }: Module, address: number): number {
  let from = bodies.at(-1)!.to;
  for (const segment of data) {
    from = Buffer.from(bytes.buffer).indexOf(segment.bytes, from);
    const isOwn = address >= segment.at && address < segment.at + segment.bytes.length;
    if (isOwn) return from + address - segment.at;
    from += segment.bytes.length;
  }
  throw new Error(`there is no data at ${address}`);
}

/** @returns undefined if the change doesn't fit the bytes */
function changeOf(module: Module, place: Place, random: () => number): Change | undefined {
  const { bytes } = module;
  if (place.kind === 'table') {
    const at = positionOf(module, place.at);
    const old = bytes[at]! | (bytes[at + 1]! << 8);
    const next = (old + (random() % 2 === 0 ? 1 : 65535)) & 65535;
    return { at, bytes: [next & 255, next >> 8], what: `table at ${place.at}: ${old} -> ${next}` };
  }
  const instruction = module.bodies[place.index]!.code[place.at]!;
  const { op, at, map, offset, lane, value, index } = instruction;
  const isPrefixed = bytes[at] === 0xfd;
  // Immediates: alignment and offset, and a lane; or another one.
  const first = isPrefixed ? at + 1 + lengthAt(bytes, at + 1) : at + 1;
  const second = first + lengthAt(bytes, first);
  const put = (change: Omit<Change, 'what'> | undefined, what: string) =>
    change && { ...change, what: `${op}${what}` };
  switch (place.kind) {
    case 'opcode': {
      const next = swapOf(op)!;
      const [prefix, code] = CODES.get(next)!;
      if ((prefix !== undefined) !== isPrefixed) return undefined;
      const change = isPrefixed ? leb(bytes, at + 1, BigInt(code), false) : { at, bytes: [code] };
      return put(change, ` -> ${next}`);
    }
    case 'shuffle': {
      const i = random() % 16;
      const next = (map![i]! + [1, 2, 16][random() % 3]!) % 32;
      return put({ at: first + i, bytes: [next] }, `[${i}]: ${map![i]} -> ${next}`);
    }
    case 'lane': {
      const own = offset === undefined ? first : second + lengthAt(bytes, second);
      return put({ at: own, bytes: [lane! ^ 1] }, ` ${lane} -> ${lane! ^ 1}`);
    }
    case 'offset': {
      const next = [sizeOf(op), -sizeOf(op)]
        .map((step) => BigInt(offset! + step))
        .find((one) => one >= 0n && leb(bytes, second, one, false) !== undefined);
      if (next === undefined) return undefined;
      return put(leb(bytes, second, next, false), `: offset ${offset} -> ${next}`);
    }
    case 'local': {
      const next = otherLocal(module, place.index, index!, random);
      if (next === undefined) return undefined;
      return put(leb(bytes, first, BigInt(next), false), ` ${index} -> ${next}`);
    }
    default: {
      if (value === undefined) {
        const i = random() % 16;
        const next = (bytes[first + i]! + 1) & 255;
        return put({ at: first + i, bytes: [next] }, `: byte ${i} -> ${next}`);
      }
      const next = [value + 1n, value - 1n].find((one) => leb(bytes, first, one, true));
      return next === undefined
        ? undefined
        : put(leb(bytes, first, next, true), ` ${value} -> ${next}`);
    }
  }
}

/**
 * The module with a place changed in its bytes.
 *
 * @returns undefined if the change doesn't fit, or no engine accepts it
 */
export function changedAt(module: Module, place: Place, random: () => number) {
  const change = changeOf(module, place, random);
  if (change === undefined) return undefined;
  const bytes = module.bytes.slice();
  bytes.set(change.bytes, change.at);
  if (!WebAssembly.validate(bytes)) return undefined;
  const mutant = withNames(decode(bytes), [...module.names.values()]);
  const name = module.names.get(place.index)!.split('/').at(-1)!;
  const where = place.kind === 'table' ? '' : `${name}, byte ${change.at}: `;
  return { module: mutant, what: `${where}${change.what}` };
}

/** Tries a changed module. @returns why it is refused, or undefined if the proof still holds */
export function refusal(job: Job, module: Module): string | undefined {
  try {
    return attempt(job, module).failures[0];
  } catch (error) {
    return (error as Error).message;
  }
}

/** Tries a changed module in haste. @returns undefined if it is refused */
function survivor(job: Job, module: Module, original: Kernel): Kernel | undefined {
  try {
    const kernel = new Kernel(module, job.contract, job.instance, true, original.binding);
    kernel.machine.limit = 2 * original.machine.steps;
    run(job, kernel);
    return kernel.failures.length === 0 ? kernel : undefined;
  } catch {
    return undefined;
  }
}

const COMMUTATIVE = new Set(['add', 'mul', 'and', 'or', 'xor', 'eq', 'ne']);

/** A number for each term of a run: terms of the same shape have the same, in all runs. */
function shapesOf({ machine: { terms } }: Kernel, numbers: Map<string, number>) {
  const shapes = new Map<Term, number>();
  for (const term of terms.nodes.slice(1)) {
    const { op, width, immediate, value, name, key, args } = term;
    const parts = args.map((arg) => shapes.get(arg)!);
    if (COMMUTATIVE.has(op)) parts.sort((a, b) => a - b);
    const text = [op, width, immediate, value, name, key, ...parts].join();
    if (!numbers.has(text)) numbers.set(text, numbers.size);
    shapes.set(term, numbers.get(text)!);
  }
  return shapes;
}

const SAME = 'the same terms';
/** Where the compiler has fixed a pointer, the prover finds out the address, and demands none. */
const MOVED = 'the same terms, in a region that is elsewhere';
/** Inputs on which values are compared: the extremes, and random ones. */
const TURNS = 6;

/** Terms of two runs, of which the statement is exact (0) or modulo a number. */
interface Pair {
  readonly term: Term;
  readonly changed: Term;
  readonly modulus: bigint;
}

/**
 * Why a change that is still proved leaves the contract true, checked on the two runs: all that the
 * statement is about has the same terms, or has equal values, as z3 decides, or, where it is stated
 * modulo a number, is congruent: for all inputs by the proof, and here computed for some.
 *
 * @returns undefined if it isn't so
 */
export function explanation(original: Kernel, mutant: Kernel): string | undefined {
  const [own, other] = [[...original.stated], [...mutant.stated]];
  if (own.length !== other.length) return undefined;
  const numbers = new Map<string, number>();
  const [shapes, shapesOfOther] = [shapesOf(original, numbers), shapesOf(mutant, numbers)];
  const pairs = own.flatMap(([term, modulus], i): Pair[] => {
    const [changed] = other[i]!;
    const isSame = shapes.get(term) === shapesOfOther.get(changed);
    return isSame ? [] : [{ term, changed, modulus }];
  });
  const isMoved = regionsOf(original).some((at, i) => at !== regionsOf(mutant)[i]);
  if (pairs.length === 0) return isMoved ? MOVED : SAME;
  if (isMoved) return undefined;
  for (let turn = 0; turn < TURNS; turn++) {
    const [values, others] = [original, mutant].map(
      ({ machine: { terms } }) => new Values(inputsOf(turn, terms)),
    );
    const isAlike = ({ term, changed, modulus }: Pair) => {
      const gap = values!.of(term) - others!.of(changed);
      return (modulus === 0n ? gap : gap % modulus) === 0n;
    };
    if (!pairs.every(isAlike)) return undefined;
  }
  const exact = pairs.filter(({ modulus }) => modulus === 0n);
  if (exact.length === 0) return 'other representatives, within the bounds';
  if (!hasZ3()) return 'SKIPPED: equal values are decided by z3, which is not installed';
  return areEqual(original, mutant, exact, [shapes, shapesOfOther])
    ? 'other terms of equal values'
    : undefined;
}

/** The addresses of a contract's regions. */
const regionsOf = (kernel: Kernel): number[] => {
  const { input, output } = kernel.contract;
  return [...input.regions, ...output.regions].map(({ name }) => kernel.address(name));
};

/** Beyond the numbers of all terms of a run. */
const APART = 2 ** 26;

/** Whether terms of two runs are equal for all inputs within their bounds. */
function areEqual(
  original: Kernel,
  mutant: Kernel,
  pairs: readonly Pair[],
  [shapes, shapesOfOther]: readonly ReadonlyMap<Term, number>[],
): boolean {
  const [nodes, others] = [original, mutant].map(({ machine: { terms } }) => terms.nodes.slice(1));
  const byShape = new Map(nodes!.map((term) => [shapes!.get(term)!, term]));
  const inputs = nodes!.filter(({ op }) => op === 'input');
  // The other run's terms, as functions of the first one's terms and inputs.
  const copies = new Map<Term, Term>();
  const common = new Set<Term>();
  let count = 0;
  for (const term of others!) {
    const args = term.args.map((arg) => copies.get(arg)!);
    const own = byShape.get(shapesOfOther!.get(term)!);
    if (own) common.add(own);
    const copy = { ...term, id: term.id + APART, args };
    copies.set(term, term.op === 'input' ? inputs[count++]! : (own ?? copy));
  }
  return pairs.every(({ term, changed }) => {
    const copy = copies.get(changed)!;
    return isEqual(term, copy, common) || isEqual(term, copy, new Set());
  });
}

/** Whether z3 decides that terms are equal, for all values of the unknowns within their bounds. */
function isEqual(term: Term, other: Term, unknowns: ReadonlySet<Term>): boolean {
  const script = new Script();
  const below = new Set([term, other]);
  const bounds: string[] = [];
  for (const one of below) {
    const isUnknown = unknowns.has(one) && one.value === undefined;
    if (one.op !== 'input' && !isUnknown) for (const arg of one.args) below.add(arg);
    else bounds.push(withinBounds(one, script.declare(one)));
  }
  const claim = `(= ${script.of(term)} ${script.of(other)})`;
  return script.proves(`(=> (and true ${bounds.join(' ')}) ${claim})`);
}

function withinBounds({ low, high, width }: Term, name: string): string {
  return `(and (bvsle ${literal(low, width)} ${name}) (bvsle ${name} ${literal(high, width)}))`;
}

/** Numbers that depend on a text alone. */
function generator(text: string): () => number {
  let state = Number.parseInt(sha256(text).slice(0, 8), 16);
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8;
}

/** The modules that are changed: the others have the same statements, on the same sources. */
const MODULES = ['labrador', 'falcon', 'labrador.relaxed', 'falcon.relaxed'];
/** Mutants of a relaxed module for one of the other. */
const SHARE_OF_RELAXED = 0.2;
/** Terms of a statement of which every mutant is tried; longer ones have fewer. */
const TERMS = 60_000;

export const REFUSED = 'refused';
export const UNEXPLAINED = 'NOT EXPLAINED';

/** A mutant, and what became of it. */
export interface Tried {
  readonly kind: Kind;
  readonly verdict: string;
  readonly what: string;
}

let lock: Lock | undefined;

/** Statements whose proofs can be controlled: not those of paths alone. */
export const hasMutants = (job: Job): boolean =>
  MODULES.includes(job.module) && isOnValues(job) && (!needsSolver(job) || hasZ3());

/**
 * Changes what a statement executes and reads, `share` times at most. A change is refused by the
 * statement, or by another one of the module that depends on the same place; otherwise it must have
 * an explanation.
 */
export function tryMutants(job: Job, module: Module, jobs: readonly Job[], share: number): Tried[] {
  const random = generator(nameOf(job));
  const original = attempt(job, module);
  if (original.failures.length > 0) throw new Error(`${nameOf(job)}: ${original.failures[0]}`);
  const kinds = [...placesOf(original).values()];
  const part = job.module.endsWith('relaxed') ? SHARE_OF_RELAXED : 1;
  const size = original.machine.terms.nodes.length;
  const most = Math.ceil(Math.min(1, TERMS / size) * part * share);
  const seen = new Set<string>();
  const tried: Tried[] = [];
  const start = random() % kinds.length;
  for (let i = 0; tried.length < most && i < 4 * share; i++) {
    const list = kinds[(start + i) % kinds.length]!;
    const place = list[random() % list.length]!;
    const changed = changedAt(module, place, random);
    if (changed === undefined || seen.has(changed.what)) continue;
    seen.add(changed.what);
    const verdict = verdictOn(job, jobs, original, changed.module, place);
    tried.push({ kind: place.kind, verdict, what: changed.what });
  }
  return tried;
}

function verdictOn(
  job: Job,
  jobs: readonly Job[],
  original: Kernel,
  module: Module,
  place: Place,
): string {
  const kernel = survivor(job, module, original);
  if (kernel === undefined) return REFUSED;
  const reason = explained(original, kernel);
  if (reason === undefined) {
    lock ??= new Lock();
    const seconds = (one: Job) => lock!.entries.get(nameOf(one))?.seconds ?? 0;
    const others = jobs
      .filter((one) => one !== job && hasMutants(one) && dependsOn(lock!, one, place))
      .sort((a, b) => seconds(a) - seconds(b));
    if (others.some((one) => refusal(one, module) !== undefined)) return `${REFUSED} by another`;
  }
  if (reason === undefined) return UNEXPLAINED;
  // The engine has the last word on what the executor takes the bytes for.
  return disagreements(kernel) === 0 ? reason : UNEXPLAINED;
}

function explained(original: Kernel, mutant: Kernel): string | undefined {
  try {
    return explanation(original, mutant);
  } catch {
    // There are operations without a formula.
    return undefined;
  }
}

/** Whether a proof ran the function, or read the table, that is changed. */
function dependsOn({ entries }: Lock, job: Job, { kind, index, at }: Place): boolean {
  const entry = entries.get(nameOf(job));
  if (entry === undefined) return false;
  if (kind !== 'table') return entry.functions.includes(index);
  return entry.ranges.some(([from, to]) => at >= from && at < to);
}

/** The table of a campaign. @returns whether every mutant is refused or explained */
export function report(tried: readonly Tried[], say: (text: string) => void): boolean {
  const verdicts = [...new Set(tried.map(({ verdict }) => verdict))].sort();
  for (const kind of [...new Set(tried.map((one) => one.kind))].sort()) {
    const own = tried.filter((one) => one.kind === kind);
    const counts = verdicts.flatMap((verdict) => {
      const count = own.filter((one) => one.verdict === verdict).length;
      return count === 0 ? [] : [`${count} ${verdict}`];
    });
    say(`${kind.padEnd(9)} ${String(own.length).padStart(5)}: ${counts.join('; ')}`);
  }
  const totals = verdicts.map(
    (verdict) => `${tried.filter((one) => one.verdict === verdict).length} ${verdict}`,
  );
  say(`${tried.length} mutants: ${totals.join('; ')}`);
  return !tried.some(({ verdict }) => verdict === UNEXPLAINED);
}
