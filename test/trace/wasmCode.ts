/**
 * Reads WebAssembly modules as far as the tracer needs it: sections, function bodies, one
 * instruction at a time, and where in the sources an instruction comes from. Knows the instructions
 * that AssemblyScript emits for this project, and throws at any other.
 */

/** A cursor over bytes. */
export class Reader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    return this.bytes[this.at++]!;
  }

  /** An unsigned number in LEB128; also skips a signed one. */
  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  take(length: number): Uint8Array {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text(): string {
    return new TextDecoder().decode(this.take(this.number()));
  }
}

export function leb(value: number): number[] {
  const bytes: number[] = [];
  do {
    bytes.push((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    value = Math.floor(value / 128);
  } while (value > 0);
  return bytes;
}

export interface Section {
  readonly id: number;
  /** Where its contents begin in the module. */
  readonly from: number;
  readonly bytes: Uint8Array;
}

export function sectionsOf(module: Uint8Array): Section[] {
  const reader = new Reader(module, 8);
  const sections: Section[] = [];
  while (reader.at < module.length) {
    const id = reader.byte();
    const length = reader.number();
    sections.push({ id, from: reader.at, bytes: reader.take(length) });
  }
  return sections;
}

/** @returns the names of the functions, from the section `name` of a debug build */
export function functionNames(module: Uint8Array): Map<number, string> {
  const names = new Map<number, string>();
  for (const { id, bytes } of sectionsOf(module)) {
    const reader = new Reader(bytes);
    if (id !== 0 || reader.text() !== 'name') continue;
    while (reader.at < bytes.length) {
      const kind = reader.byte();
      const end = reader.number() + reader.at;
      if (kind === 1) {
        for (let count = reader.number(); count > 0; count--) {
          names.set(reader.number(), reader.text());
        }
      }
      reader.at = end;
    }
  }
  return names;
}

export interface Body {
  /** Of the function, imports counted. */
  readonly index: number;
  /** Where its instructions begin and end in the module. */
  readonly from: number;
  readonly to: number;
  /** Runs of locals of one type, as they are declared. */
  readonly locals: readonly [count: number, type: number][];
  /** How many locals there are, parameters not counted. */
  readonly localCount: number;
}

/** @returns the bodies of a module without imported functions */
export function bodiesOf(module: Uint8Array): Body[] {
  const code = sectionsOf(module).find(({ id }) => id === 10)!;
  const reader = new Reader(module, code.from);
  return Array.from({ length: reader.number() }, (_, index) => {
    const length = reader.number();
    const to = reader.at + length;
    const locals = Array.from({ length: reader.number() }, (): [number, number] => [
      reader.number(),
      reader.byte(),
    ]);
    const from = reader.at;
    reader.at = to;
    const localCount = locals.reduce((sum, [count]) => sum + count, 0);
    return { index, from, to, locals, localCount };
  });
}

/** @returns how many parameters each function of the module has */
export function parameterCounts(module: Uint8Array): number[] {
  const sections = sectionsOf(module);
  const types = new Reader(sections.find(({ id }) => id === 1)!.bytes);
  const counts = Array.from({ length: types.number() }, () => {
    types.byte();
    const count = types.number();
    types.take(count);
    types.take(types.number());
    return count;
  });
  const functions = new Reader(sections.find(({ id }) => id === 3)!.bytes);
  return Array.from({ length: functions.number() }, () => counts[functions.number()]!);
}

export interface Instruction {
  readonly at: number;
  readonly end: number;
  /** The opcode; of prefixed instructions prefix * 4096 + number. */
  readonly code: number;
  /** Of a `call`: which function. */
  readonly callee?: number;
}

/** Instructions that carry something: what follows the opcode. */
type Immediate = 'none' | 'number' | 'two' | 'memory' | 'lane' | 'memoryLane' | 'table' | 'types';

const SIMD = 0xfd * 4096;
const BULK = 0xfc * 4096;

function immediateOf(code: number): Immediate {
  if (code >= SIMD) {
    const simd = code - SIMD;
    if (simd <= 11 || simd === 92 || simd === 93) return 'memory';
    if (simd >= 84 && simd <= 91) return 'memoryLane';
    if (simd >= 21 && simd <= 34) return 'lane';
    return 'none';
  }
  if (code >= BULK) {
    if (code - BULK <= 7) return 'none'; // saturating conversions
    if (code - BULK === 10) return 'two'; // memory.copy
    if (code - BULK === 11) return 'number'; // memory.fill
    throw new Error(`instruction ${code.toString(16)} is not known here`);
  }
  if (code === 0x0e) return 'table';
  if (code === 0x1c) return 'types';
  if (code >= 0x28 && code <= 0x3e) return 'memory';
  const numbers = [0x02, 0x03, 0x04, 0x0c, 0x0d, 0x10, 0x20, 0x21, 0x22, 0x23, 0x24, 0x3f, 0x40];
  if (numbers.includes(code) || code === 0x41 || code === 0x42) return 'number';
  const plain = [0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b];
  if (plain.includes(code) || (code >= 0x45 && code <= 0xc4)) return 'none';
  throw new Error(`instruction ${code.toString(16)} is not known here`);
}

function readInstruction(reader: Reader): Instruction {
  const at = reader.at;
  let code = reader.byte();
  if (code === 0x43) return { at, code, end: (reader.at += 4) };
  if (code === 0x44) return { at, code, end: (reader.at += 8) };
  if (code >= 0xfc) code = code * 4096 + reader.number();
  // a constant vector, a shuffle
  if (code === SIMD + 12 || code === SIMD + 13) return { at, code, end: (reader.at += 16) };
  let callee: number | undefined;
  switch (immediateOf(code)) {
    case 'none':
      break;
    case 'number': {
      const value = reader.number();
      if (code === 0x10) callee = value;
      break;
    }
    case 'two':
    case 'memory':
      reader.number();
      reader.number();
      break;
    case 'lane':
      reader.byte();
      break;
    case 'memoryLane':
      reader.number();
      reader.number();
      reader.byte();
      break;
    case 'table':
      for (let count = reader.number() + 1; count > 0; count--) reader.number();
      break;
    case 'types':
      reader.take(reader.number());
  }
  return { at, code, end: reader.at, ...(callee !== undefined && { callee }) };
}

export function instructionsOf(module: Uint8Array, { from, to }: Body): Instruction[] {
  const reader = new Reader(module, from);
  const list: Instruction[] = [];
  while (reader.at < to) list.push(readInstruction(reader));
  return list;
}

export interface Position {
  /** Relative to the project, as asc was given it. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** @returns where in the sources the byte at an offset of the module comes from */
export function sourcePositions(map: SourceMap): (offset: number) => Position | undefined {
  const offsets: number[] = [];
  const positions: (Position | undefined)[] = [];
  let [offset, source, line] = [0, 0, 0];
  for (const segment of map.mappings.split(',')) {
    const fields: number[] = [];
    let [value, shift] = [0, 0];
    for (const digit of segment) {
      const bits = BASE64.indexOf(digit);
      value += (bits & 31) << shift;
      shift += 5;
      if (bits < 32) {
        fields.push(value & 1 ? -(value >> 1) : value >> 1);
        [value, shift] = [0, 0];
      }
    }
    offset += fields[0]!;
    offsets.push(offset);
    if (fields.length === 1) {
      positions.push(undefined);
    } else {
      source += fields[1]!;
      line += fields[2]!;
      positions.push({ file: map.sources[source]!, line: line + 1 });
    }
  }
  return (wanted) => {
    let [low, high] = [0, offsets.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (offsets[middle]! <= wanted) low = middle + 1;
      else high = middle;
    }
    return positions[low - 1];
  };
}
