/** The vector instructions on lists of lanes. */
import type { Instruction } from './decode.ts';
import { lowest } from './evaluate.ts';
import type { Frame, Vector } from './execute.ts';
import type { Term } from './terms.ts';

const WIDTHS: Record<string, number> = { i8x16: 8, i16x8: 16, i32x4: 32, i64x2: 64 };

const isKnown = ({ lanes }: Vector): boolean => lanes.every(({ value }) => value !== undefined);

/** The widest lanes in which none of the unknown vectors is joined. */
function common(...vectors: Vector[]): number {
  return Math.min(64, ...vectors.filter((vector) => !isKnown(vector)).map(({ width }) => width));
}

/**
 * Lanes in which each mask takes one field, if there are such: a mask of several fields is one of
 * single fields in narrower lanes. Not for masks of all bits or none, which take any constant.
 */
function maskWidth(frame: Frame, left: Vector, right: Vector): number {
  const whole = common(left, right);
  const [known, other] = isKnown(left) ? [left, right] : [right, left];
  const isChoice = other.lanes.every(({ low, high }) => low >= -1n && high <= 0n);
  if (!isKnown(known) || isKnown(other) || isChoice) return whole;
  const isFit = (width: number) =>
    frame.lanes(known, width).every(({ value }) => isField(value!) || isField(-1n - value!));
  return [64, 32, 16, 8].find((width) => width <= whole && isFit(width)) ?? whole;
}

/** Lanes in which an exclusive or changes the highest bit alone, if there are such. */
function signWidth(frame: Frame, left: Vector, right: Vector): number {
  const whole = common(left, right);
  const known = [left, right].find(isKnown);
  const isSign = (width: number) =>
    frame.lanes(known!, width).every(({ value }) => value === lowest(width));
  return (known && [64, 32, 16, 8].find((width) => width <= whole && isSign(width))) ?? whole;
}

/** Whether a number has ones only at its low end. */
const isField = (value: bigint): boolean => value >= 0n && (value & (value + 1n)) === 0n;

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** @throws Error if the instruction isn't modelled */
export function simd(frame: Frame, instruction: Instruction, type: string, op: string): void {
  const width = WIDTHS[type];
  const isDone =
    type === 'v128'
      ? memoryOperation(frame, instruction, op) || bitwise(frame, op)
      : width !== undefined &&
        (moves(frame, instruction, width, op) ||
          conversions(frame, width, op) ||
          lanewise(frame, width, op));
  if (!isDone) throw new Error(`${instruction.op} isn't modelled`);
}

function loadVector(frame: Frame, at: number): Vector {
  const width = frame.memory.widthAt(at);
  const size = width / 8;
  return { width, lanes: range(16 / size).map((i) => frame.memory.load(at + i * size, size)) };
}

function memoryOperation(frame: Frame, instruction: Instruction, op: string): boolean {
  const { memory, terms } = frame;
  if (op === 'load') {
    frame.push(loadVector(frame, frame.address(instruction)));
    return true;
  }
  if (op === 'store') {
    const { width, lanes } = frame.vector();
    const at = frame.address(instruction);
    lanes.forEach((term, i) => {
      memory.store(at + (i * width) / 8, term);
    });
    return true;
  }
  if (op === 'const') {
    const lanes = instruction.halves!.map((half) => terms.constant(64, half));
    frame.push({ width: 64, lanes });
    return true;
  }
  const extending = /^load(\d+)x(\d+)_([su])$/.exec(op);
  if (extending) {
    const [width, count] = [Number(extending[1]), Number(extending[2])];
    const at = frame.address(instruction);
    const lanes = range(count).map((i) =>
      terms.extend(2 * width, memory.load(at + (i * width) / 8, width / 8), extending[3] === 's'),
    );
    frame.push({ width: 2 * width, lanes });
    return true;
  }
  const match = /^(load|store)(\d+)_(splat|zero|lane)$/.exec(op);
  if (!match) return false;
  const width = Number(match[2]);
  const old = match[3] === 'lane' ? frame.lanes(frame.vector(), width) : [];
  const at = frame.address(instruction);
  if (match[1] === 'store') {
    memory.store(at, old[instruction.lane!]!);
    return true;
  }
  const term = memory.load(at, width / 8);
  const zero = terms.constant(width, 0);
  const lanes = range(128 / width).map((i) => {
    if (match[3] === 'lane') return i === instruction.lane ? term : old[i]!;
    return match[3] === 'splat' || i === 0 ? term : zero;
  });
  frame.push({ width, lanes });
  return true;
}

function bitwise(frame: Frame, op: string): boolean {
  const { terms } = frame;
  if (op === 'not') {
    const { width, lanes } = frame.vector();
    const ones = terms.constant(width, -1);
    frame.push({ width, lanes: lanes.map((term) => terms.xor(width, term, ones)) });
    return true;
  }
  if (op === 'any_true') {
    const { width, lanes } = frame.vector();
    const all = lanes.reduce((a, b) => terms.or(width, a, b));
    frame.push(terms.bool(all));
    return true;
  }
  if (op === 'bitselect') {
    const vectors = [frame.vector(), frame.vector(), frame.vector()] as const;
    const width = common(...vectors);
    const [c, b, a] = vectors.map((vector) => frame.lanes(vector, width));
    const lanes = a!.map((term, i) => {
      const mask = c![i]!;
      if (mask.value === -1n) return term;
      return mask.value === 0n ? b![i]! : terms.opaque('bitselect', width, [term, b![i]!, mask]);
    });
    frame.push({ width, lanes });
    return true;
  }
  if (op !== 'and' && op !== 'or' && op !== 'xor' && op !== 'andnot') return false;
  const [right, left] = [frame.vector(), frame.vector()];
  const choose = { and: maskWidth, xor: signWidth }[op as string];
  const width = choose?.(frame, left, right) ?? common(left, right);
  const [a, b] = [frame.lanes(left, width), frame.lanes(right, width)];
  const ones = terms.constant(width, -1);
  const lanes = a.map((term, i) =>
    op === 'andnot'
      ? terms.and(width, term, terms.xor(width, b[i]!, ones))
      : terms[op](width, term, b[i]!),
  );
  frame.push({ width, lanes });
  return true;
}

/** Rearranged bytes, in wider lanes again where these are terms that need no joining. */
function rejoined(frame: Frame, vector: Vector, width: number): Vector {
  if (vector.width >= width) return vector;
  const lanes = frame.lanes(vector, width);
  return lanes.some(({ op }) => op === 'concat') ? vector : { width, lanes };
}

/** The widest lanes that a shuffle moves as a whole. */
function shuffleWidth(map: readonly number[]): number {
  for (const width of [64, 32, 16]) {
    const size = width / 8;
    const isWhole = (index: number, i: number) =>
      i % size === 0 ? index % size === 0 : index === map[i - 1]! + 1;
    if (map.every(isWhole)) return width;
  }
  return 8;
}

function moves(frame: Frame, instruction: Instruction, width: number, op: string): boolean {
  const { terms, machine } = frame;
  if (op === 'shuffle') {
    const [right, left] = [frame.vector(), frame.vector()];
    const map = instruction.map!;
    const whole = common(left, right);
    const part = Math.min(shuffleWidth(map), whole);
    const all = [...frame.lanes(left, part), ...frame.lanes(right, part)];
    const size = part / 8;
    const lanes = range(16 / size).map((i) => all[map[i * size]! / size]!);
    frame.push(rejoined(frame, { width: part, lanes }, whole));
    return true;
  }
  if (op === 'swizzle' || op === 'relaxed_swizzle') {
    const indices = frame
      .lanes(frame.vector(), 8)
      .map((term) => machine.known(term, 'an index') & 255);
    const source = frame.vector();
    if (op !== 'swizzle' && indices.some((index) => index >= 16 && index < 128)) {
      terms.faults.push('relaxed swizzle: an index from 16 to 127');
    }
    const bytes = frame.lanes(source, 8);
    const lanes = indices.map((index) => bytes[index] ?? terms.constant(8, 0));
    frame.push(rejoined(frame, { width: 8, lanes }, source.width));
    return true;
  }
  if (op === 'splat') {
    const term = frame.term();
    const lane = terms.extract(width, term, 0);
    frame.push({ width, lanes: range(128 / width).map(() => lane) });
    return true;
  }
  const extract = /^extract_lane_?([su]?)$/.exec(op);
  if (extract) {
    const lane = frame.lanes(frame.vector(), width)[instruction.lane!]!;
    frame.push(width >= 32 ? lane : terms.extend(32, lane, extract[1] === 's'));
    return true;
  }
  if (op !== 'replace_lane') return false;
  const term = frame.term();
  const lanes = frame
    .lanes(frame.vector(), width)
    .map((old, i) => (i === instruction.lane ? terms.extract(width, term, 0) : old));
  frame.push({ width, lanes });
  return true;
}

function conversions(frame: Frame, width: number, op: string): boolean {
  const { terms } = frame;
  const half = (lanes: readonly Term[], part: string) => {
    const middle = lanes.length / 2;
    return part === 'low' ? lanes.slice(0, middle) : lanes.slice(middle);
  };
  const extend = /^extend_(low|high)_i\d+x\d+_([su])$/.exec(op);
  if (extend) {
    const lanes = half(frame.lanes(frame.vector(), width / 2), extend[1]!);
    const isSigned = extend[2] === 's';
    frame.push({ width, lanes: lanes.map((term) => terms.extend(width, term, isSigned)) });
    return true;
  }
  const product = /^extmul_(low|high)_i\d+x\d+_([su])$/.exec(op);
  if (product) {
    const [b, a] = [frame.vector(), frame.vector()].map((vector) =>
      half(frame.lanes(vector, width / 2), product[1]!).map((term) =>
        terms.extend(width, term, product[2] === 's'),
      ),
    );
    frame.push({ width, lanes: a!.map((term, i) => terms.mul(width, term, b![i]!)) });
    return true;
  }
  const narrow = /^narrow_i\d+x\d+_([su])$/.exec(op);
  if (!narrow) return false;
  const [right, left] = [frame.vector(), frame.vector()];
  const wide = [...frame.lanes(left, 2 * width), ...frame.lanes(right, 2 * width)];
  frame.push({ width, lanes: wide.map((term) => terms.narrow(width, term, narrow[1] === 's')) });
  return true;
}

function unary(frame: Frame, width: number, op: string): boolean {
  const { terms } = frame;
  const zero = terms.constant(width, 0);
  if (/^sh/.test(op)) {
    const bits = frame.machine.known(frame.term(), 'a shift count') % width;
    const lanes = frame.lanes(frame.vector(), width);
    const shift = op as 'shl' | 'shr_s' | 'shr_u';
    frame.push({ width, lanes: lanes.map((term) => terms[shift](width, term, bits)) });
    return true;
  }
  if (op === 'neg' || op === 'abs') {
    const lanes = frame.lanes(frame.vector(), width);
    const result = (term: Term) =>
      op === 'neg' ? terms.sub(width, zero, term) : terms.abs(width, term);
    frame.push({ width, lanes: lanes.map(result) });
    return true;
  }
  if (op === 'bitmask') {
    const lanes = frame.lanes(frame.vector(), width);
    const chosen = frame.machine.onMask?.(lanes);
    if (chosen !== undefined) {
      frame.push(terms.constant(32, chosen));
      return true;
    }
    const bits = lanes.map((term, i) =>
      terms.shl(32, terms.bool(terms.compare('lt_s', width, term, zero)), i),
    );
    frame.push(bits.reduce((a, b) => terms.or(32, a, b)));
    return true;
  }
  if (op === 'all_true') {
    const bits = frame.lanes(frame.vector(), width).map((term) => terms.bool(term));
    frame.push(bits.reduce((a, b) => terms.and(32, a, b)));
    return true;
  }
  return false;
}

function lanewise(frame: Frame, width: number, op: string): boolean {
  if (unary(frame, width, op)) return true;
  const { terms } = frame;
  const operands = (lane: number) => {
    const [right, left] = [frame.vector(), frame.vector()];
    return [frame.lanes(left, lane), frame.lanes(right, lane)] as const;
  };
  if (op === 'dot_i16x8_s') {
    const [a, b] = operands(16);
    const lanes = [0, 2, 4, 6].map((i) => terms.dot(a[i]!, b[i]!, a[i + 1]!, b[i + 1]!));
    frame.push({ width: 32, lanes });
    return true;
  }
  const operation = binary(frame, width, op);
  if (operation === undefined) return false;
  const [a, b] = operands(width);
  frame.push({ width, lanes: a.map((term, i) => operation(term, b[i]!)) });
  return true;
}

function binary(
  { terms }: Frame,
  width: number,
  op: string,
): ((a: Term, b: Term) => Term) | undefined {
  switch (op) {
    case 'q15mulr_sat_s':
      return (a, b) => terms.quotient('q15', a, b);
    case 'relaxed_q15mulr_s':
      return (a, b) => terms.quotient('relaxedQ15', a, b);
    case 'add':
    case 'sub':
    case 'mul':
      return (a, b) => terms[op](width, a, b);
    case 'min_s':
    case 'max_s':
      return (a, b) => terms.extreme(op, width, a, b);
    case 'min_u':
    case 'max_u':
      return (a, b) => terms.opaque(op, width, [a, b]);
    default:
      if (!/^(eq|ne|(lt|gt|le|ge)_[su])$/.test(op)) return undefined;
      return (a, b) => terms.compare(op, width, a, b);
  }
}
