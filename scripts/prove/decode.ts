/**
 * Decodes a WebAssembly module into flat lists of instructions. The prover's results are about
 * these lists, so the decoder refuses whatever it doesn't know fully: sections, opcodes, types,
 * flags, and any section, body or module that doesn't end where it should.
 */
import { MEMORY, PLAIN, SATURATING, SIMD, VARIABLES } from './opcodes.ts';

/** Codes of types. */
export const I32 = 0x7f;
export const I64 = 0x7e;
export const F64 = 0x7c;
export const V128 = 0x7b;
const VALUE_TYPES = new Set([I32, I64, 0x7d, F64, V128]);

/** An instruction and its immediates. */
export interface Instruction {
  readonly op: string;
  /** Where it begins in the module. */
  readonly at: number;
  /** A variable, a function, a label. */
  index?: number;
  /** An offset of a load or store. */
  offset?: number;
  lane?: number;
  value?: bigint;
  /** The two halves of a `v128.const`. */
  halves?: readonly [bigint, bigint];
  /** The indices of a shuffle. */
  map?: number[];
  labels?: readonly number[];
  /** The number of results of a block. */
  results?: number;
  /** Index of the matching `end`, of blocks and `else`. */
  end?: number;
  /** Index of the `else` of an `if`. */
  otherwise?: number;
}

export interface Body {
  /** Types of the locals that aren't parameters. */
  readonly locals: readonly number[];
  readonly code: Instruction[];
  /** The bytes of the body. */
  readonly from: number;
  readonly to: number;
}

export interface FunctionType {
  readonly parameters: readonly number[];
  readonly results: readonly number[];
}

export interface Segment {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export interface Module {
  readonly bytes: Uint8Array;
  readonly types: FunctionType[];
  /** The type of each function. */
  readonly functions: number[];
  readonly globals: { type: number; isMutable: boolean; value: bigint }[];
  readonly exports: Map<string, { kind: number; index: number }>;
  readonly bodies: Body[];
  readonly data: Segment[];
  pages: number;
  /** The function that runs when the module is instantiated. */
  start?: number;
  readonly names: Map<number, string>;
  /** By function, the names of its locals. */
  readonly localNames: Map<number, Map<number, string>>;
}

const MAGIC = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

class Reader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at = 0;

  constructor(bytes: Uint8Array) {
    // A copy: `slice` of a Buffer shares its memory.
    this.bytes = new Uint8Array(bytes);
    this.view = new DataView(this.bytes.buffer);
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new Error('the module is truncated');
    return value;
  }

  /** An unsigned LEB128 number of at most 32 bits. */
  unsigned(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) {
        if (value >= 2 ** 32) break;
        return value;
      }
    }
    throw new Error(`byte ${this.at}: a number of more than 32 bits`);
  }

  signed(bits: number): bigint {
    let value = 0n;
    for (let shift = 0; shift < bits; shift += 7) {
      const byte = this.byte();
      value |= BigInt(byte & 127) << BigInt(shift);
      if (byte < 128) {
        if (byte & 64) value -= 1n << BigInt(shift + 7);
        if (BigInt.asIntN(bits, value) === value) return value;
        break;
      }
    }
    throw new Error(`byte ${this.at}: a number of more than ${bits} bits`);
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new Error('the module is truncated');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text(): string {
    return new TextDecoder('utf-8', { fatal: true }).decode(this.take(this.unsigned()));
  }

  type(): number {
    const type = this.byte();
    if (!VALUE_TYPES.has(type)) throw new Error(`byte ${this.at - 1}: type ${type} is unknown`);
    return type;
  }

  /** Demands a byte that has only one known value. */
  expect(value: number, what: string): void {
    if (this.byte() !== value) throw new Error(`byte ${this.at - 1}: ${what} is unknown`);
  }

  list<T>(item: () => T): T[] {
    return Array.from({ length: this.unsigned() }, item);
  }
}

/** @throws Error if anything in the module is unknown */
export function decode(source: Uint8Array): Module {
  const reader = new Reader(source);
  const { bytes } = reader;
  for (const value of MAGIC) reader.expect(value, 'the header');
  const module: Module = {
    ...{ bytes, types: [], functions: [], globals: [], exports: new Map(), bodies: [], data: [] },
    ...{ pages: 0, names: new Map(), localNames: new Map() },
  };
  let last = 0;
  while (reader.at < bytes.length) {
    const id = reader.byte();
    const size = reader.unsigned();
    const end = reader.at + size;
    if (end > bytes.length) throw new Error('the module is truncated');
    if (id !== 0) {
      // The count of data segments stands before the code.
      const place = id === 12 ? 9.5 : id;
      if (place <= last) throw new Error(`section ${id} is out of order`);
      last = place;
    }
    readSection(reader, module, id, end);
    if (reader.at !== end) throw new Error(`section ${id} doesn't end where it should`);
  }
  if (module.functions.length !== module.bodies.length) throw new Error('functions lack bodies');
  return module;
}

function readSection(reader: Reader, module: Module, id: number, end: number): void {
  if (id === 0) {
    if (reader.text() === 'name') readNames(reader, module, end);
    else reader.at = end;
  } else if (id === 1) {
    const types = reader.list(() => {
      reader.expect(0x60, 'the kind of a type');
      return {
        parameters: reader.list(() => reader.type()),
        results: reader.list(() => reader.type()),
      };
    });
    module.types.push(...types);
  } else if (id === 3) {
    module.functions.push(...reader.list(() => reader.unsigned()));
  } else if (id === 5) {
    reader.expect(1, 'the number of memories');
    const flags = reader.byte();
    if (flags > 1) throw new Error('the kind of memory is unknown');
    module.pages = reader.unsigned();
    if (flags === 1) reader.unsigned();
  } else if (id === 6) {
    module.globals.push(...reader.list(() => readGlobal(reader)));
  } else if (id === 7) {
    reader.list(() => {
      module.exports.set(reader.text(), { kind: reader.byte(), index: reader.unsigned() });
    });
  } else if (id === 8) {
    module.start = reader.unsigned();
  } else if (id === 10) {
    module.bodies.push(...reader.list(() => readBody(reader)));
  } else if (id === 11) {
    module.data.push(...reader.list(() => readSegment(reader)));
  } else if (id === 12) {
    reader.unsigned();
  } else {
    throw new Error(`section ${id} is unknown`);
  }
}

function readConstant(reader: Reader, type: number): bigint {
  let value: bigint;
  if (type === I32) {
    reader.expect(0x41, 'an initial value');
    value = reader.signed(32);
  } else if (type === I64) {
    reader.expect(0x42, 'an initial value');
    value = reader.signed(64);
  } else if (type === F64) {
    reader.expect(0x44, 'an initial value');
    value = reader.view.getBigInt64(reader.at, true);
    reader.take(8);
  } else throw new Error(`an initial value of type ${type}`);
  reader.expect(0x0b, 'an initial value');
  return value;
}

function readGlobal(reader: Reader) {
  const type = reader.type();
  const isMutable = reader.byte();
  if (isMutable > 1) throw new Error('a global of an unknown kind');
  return { type, isMutable: isMutable === 1, value: readConstant(reader, type) };
}

function readSegment(reader: Reader): Segment {
  reader.expect(0, 'the kind of a data segment');
  const at = Number(BigInt.asUintN(32, readConstant(reader, I32)));
  return { at, bytes: reader.take(reader.unsigned()).slice() };
}

/** Function names and names of locals; other names are skipped. */
function readNames(reader: Reader, module: Module, end: number): void {
  while (reader.at < end) {
    const kind = reader.byte();
    const size = reader.unsigned();
    const stop = reader.at + size;
    const named = (): [number, string] => [reader.unsigned(), reader.text()];
    if (kind === 1) for (const [index, name] of reader.list(named)) module.names.set(index, name);
    else if (kind === 2) {
      reader.list(() => module.localNames.set(reader.unsigned(), new Map(reader.list(named))));
    } else reader.at = stop;
    if (reader.at !== stop) throw new Error('a list of names has the wrong length');
  }
}

function readBody(reader: Reader): Body {
  const size = reader.unsigned();
  const from = reader.at;
  const to = from + size;
  const locals = reader.list(() => {
    const count = reader.unsigned();
    if (count > 50_000) throw new Error('too many locals');
    return Array<number>(count).fill(reader.type());
  });
  const code: Instruction[] = [];
  const open: number[] = [];
  let isOpen = true;
  while (isOpen) {
    if (reader.at >= to) throw new Error(`byte ${from}: a body without an end`);
    const instruction = readInstruction(reader);
    const { op } = instruction;
    if (op === 'block' || op === 'loop' || op === 'if') open.push(code.length);
    if (op === 'else') {
      const head = code[open.at(-1) ?? -1];
      if (head?.op !== 'if' || head.otherwise !== undefined) throw new Error('else without if');
      head.otherwise = code.length;
    }
    if (op === 'end') isOpen = close(code, open);
    code.push(instruction);
  }
  if (reader.at !== to) throw new Error(`byte ${from}: a body that doesn't end where it should`);
  return { locals: locals.flat(), code, from, to };
}

/** Ends the innermost block. @returns whether there was one */
function close(code: Instruction[], open: number[]): boolean {
  const head = code[open.pop() ?? -1];
  if (head === undefined) return false;
  head.end = code.length;
  if (head.otherwise !== undefined) code[head.otherwise]!.end = code.length;
  return true;
}

function readInstruction(reader: Reader): Instruction {
  const at = reader.at;
  const code = reader.byte();
  const make = (op: string, more: Partial<Instruction> = {}): Instruction => ({ op, at, ...more });
  const plain = PLAIN.get(code);
  if (plain !== undefined) return make(plain);
  const variable = VARIABLES.get(code);
  if (variable !== undefined) return make(variable, { index: reader.unsigned() });
  const memory = MEMORY.get(code);
  if (memory !== undefined) return make(memory, { offset: readOffset(reader) });
  switch (code) {
    case 0x02:
    case 0x03:
    case 0x04: {
      const op = ['block', 'loop', 'if'][code - 2]!;
      if (reader.bytes[reader.at] === 0x40) {
        reader.at++;
        return make(op, { results: 0 });
      }
      reader.type();
      return make(op, { results: 1 });
    }
    case 0x05:
      return make('else');
    case 0x0b:
      return make('end');
    case 0x0c:
      return make('br', { index: reader.unsigned() });
    case 0x0d:
      return make('br_if', { index: reader.unsigned() });
    case 0x0e: {
      const labels = reader.list(() => reader.unsigned());
      return make('br_table', { labels: [...labels, reader.unsigned()] });
    }
    case 0x10:
      return make('call', { index: reader.unsigned() });
    case 0x1c:
      reader.expect(1, 'a select');
      reader.type();
      return make('select');
    case 0x3f:
    case 0x40:
      reader.expect(0, 'a memory');
      return make(code === 0x3f ? 'memory.size' : 'memory.grow');
    case 0x41:
      return make('i32.const', { value: reader.signed(32) });
    case 0x42:
      return make('i64.const', { value: reader.signed(64) });
    case 0x44: {
      const value = new DataView(reader.take(8).slice().buffer).getBigInt64(0, true);
      return make('f64.const', { value });
    }
    case 0xfc:
      return make(readBulk(reader));
    case 0xfd:
      return { at, ...readSimd(reader) };
    default:
      throw new Error(`byte ${at}: opcode ${code} is unknown`);
  }
}

function readOffset(reader: Reader): number {
  if (reader.unsigned() > 4) throw new Error(`byte ${reader.at}: an alignment is unknown`);
  return reader.unsigned();
}

function readBulk(reader: Reader): string {
  const code = reader.unsigned();
  const saturating = SATURATING.get(code);
  if (saturating !== undefined) return saturating;
  if (code === 10 || code === 11) {
    reader.expect(0, 'a memory');
    if (code === 10) reader.expect(0, 'a memory');
    return code === 10 ? 'memory.copy' : 'memory.fill';
  }
  throw new Error(`byte ${reader.at}: opcode 0xfc ${code} is unknown`);
}

function readSimd(reader: Reader): Omit<Instruction, 'at'> {
  const code = reader.unsigned();
  const op = SIMD.get(code);
  if (op === undefined) throw new Error(`byte ${reader.at}: opcode 0xfd ${code} is unknown`);
  if (code <= 11 || code === 92 || code === 93) return { op, offset: readOffset(reader) };
  if (code === 12) {
    const view = new DataView(reader.take(16).slice().buffer);
    return { op, halves: [view.getBigInt64(0, true), view.getBigInt64(8, true)] };
  }
  if (code === 13) {
    const map = [...reader.take(16)];
    if (map.some((index) => index > 31)) throw new Error('a shuffle with an index above 31');
    return { op, map };
  }
  if (code >= 21 && code <= 34) return { op, lane: reader.byte() };
  if (code >= 84 && code <= 91) return { op, offset: readOffset(reader), lane: reader.byte() };
  return { op };
}
