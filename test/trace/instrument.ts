/**
 * Puts a call of the recorder (assembly/test/trace.ts) in front of every instruction whose time, or
 * whose trace in a cache, can depend on a value:
 *
 *   branch     if, br_if, br_table: the outcome                  (the ends of loops are branches)
 *   select     which of the two
 *   address    loads, stores, memory.copy, memory.fill: addresses and lengths
 *   division   division, remainder, square root: the operands
 *
 * Works on the bytes that the compiler wrote, instruction by instruction. So what runs is the
 * product's own code, and each place is named by the line of the sources that it comes from.
 */
import * as wasmCode from './wasmCode.ts';

export type Kind = 'branch' | 'select' | 'address' | 'division';

export interface Place {
  readonly kind: Kind;
  /** Of the module, which may have other functions inlined. */
  readonly function: string;
  /** The line of the sources, without white space around it. */
  readonly line: string;
}

/** Recorder functions in the order in which they are imported; type: parameters, results. */
const IMPORTS = [
  { name: 'condition', type: [0x60, 2, 0x7f, 0x7f, 1, 0x7f] },
  { name: 'address', type: [0x60, 2, 0x7f, 0x7f, 1, 0x7f] },
  { name: 'operand', type: [0x60, 2, 0x7e, 0x7f, 0] },
  { name: 'verdict', type: [0x60, 1, 0x7e, 1, 0x7e] },
  { name: 'settled', type: [0x60, 1, 0x7f, 1, 0x7f] },
  { name: 'restart', type: [0x60, 0, 0] },
] as const;
type ImportName = (typeof IMPORTS)[number]['name'];
const call = (name: ImportName) => [0x10, IMPORTS.findIndex((entry) => entry.name === name)];

/** Locals that are added to every function: three of each type. */
const ADDED = [0x7f, 0x7e, 0x7d, 0x7c, 0x7b] as const; // i32, i64, f32, f64, v128
const [I32, I64, F32, F64, V128] = ADDED;
type ValueType = (typeof ADDED)[number];

const SIMD = 0xfd * 4096;
const BULK = 0xfc * 4096;

/**
 * What stands above the address on the stack, for instructions that take one; undefined for all
 * others.
 */
function aboveAddress(code: number): readonly ValueType[] | undefined {
  if (code >= 0x28 && code <= 0x35) return [];
  if (code === 0x36 || code === 0x3a || code === 0x3b) return [I32];
  if (code === 0x37 || (code >= 0x3c && code <= 0x3e)) return [I64];
  if (code === 0x38) return [F32];
  if (code === 0x39) return [F64];
  const simd = code - SIMD;
  if ((simd >= 0 && simd <= 10) || simd === 92 || simd === 93) return [];
  if (simd === 11 || (simd >= 84 && simd <= 91)) return [V128];
  return undefined;
}

/** The type and number of operands of instructions whose time may depend on them. */
function dividing(code: number): { type: ValueType; count: number } | undefined {
  if (code >= 0x6d && code <= 0x70) return { type: I32, count: 2 };
  if (code >= 0x7f && code <= 0x82) return { type: I64, count: 2 };
  if (code === 0x95) return { type: F32, count: 2 };
  if (code === 0x91) return { type: F32, count: 1 };
  if (code === 0xa3) return { type: F64, count: 2 };
  if (code === 0x9f) return { type: F64, count: 1 };
  const simd = code - SIMD;
  if (simd === 231 || simd === 243) return { type: V128, count: 2 };
  if (simd === 227 || simd === 239) return { type: V128, count: 1 };
  return undefined;
}

function kindOf(code: number): Kind | undefined {
  if (code === 0x04 || code === 0x0d || code === 0x0e) return 'branch';
  if (code === 0x1b || code === 0x1c) return 'select';
  if (code === BULK + 10 || code === BULK + 11 || aboveAddress(code)) return 'address';
  return dividing(code) && 'division';
}

/**
 * Instructions that note what is on the stack and leave it there; `local` numbers the added locals.
 */
type Local = (type: ValueType, k: number) => number[];
function noting(code: number, place: number, local: Local): number[] {
  const site = [0x41, ...signedLeb(place)];
  const set = (type: ValueType, k: number) => [0x21, ...local(type, k)];
  const get = (type: ValueType, k: number) => [0x20, ...local(type, k)];
  const address = [...site, ...call('address')];
  if (code === BULK + 10 || code === BULK + 11) {
    const noted = code === BULK + 10 ? address : []; // the second operand of memory.fill is a value
    return [
      ...[...set(I32, 2), ...set(I32, 1), ...address],
      ...[...get(I32, 1), ...noted, ...get(I32, 2), ...address],
    ];
  }
  const above = aboveAddress(code);
  if (above) {
    return above.length === 0 ? address : [...set(above[0]!, 0), ...address, ...get(above[0]!, 0)];
  }
  const division = dividing(code);
  if (division) {
    const { type, count } = division;
    const operands = Array.from({ length: count }, (_, k) => k);
    const bits: number[][] = {
      [I32]: [[0xac]],
      [I64]: [[]],
      [F32]: [[0xbc, 0xac]],
      [F64]: [[0xbd]],
      [V128]: [
        [0xfd, 29, 0],
        [0xfd, 29, 1],
      ],
    }[type];
    return [
      ...operands.toReversed().flatMap((k) => set(type, k)),
      ...operands.flatMap((k) =>
        bits.flatMap((convert) => [...get(type, k), ...convert, ...site, ...call('operand')]),
      ),
      ...operands.flatMap((k) => get(type, k)),
    ];
  }
  // the index of a br_table is noted as it is
  return [...site, ...call(code === 0x0e ? 'address' : 'condition')];
}

function signedLeb(value: number): number[] {
  const bytes = wasmCode.leb(value);
  const last = bytes.length - 1;
  if (bytes[last]! & 0x40) {
    bytes[last]! |= 0x80;
    bytes.push(0);
  }
  return bytes;
}

const vector = (items: readonly (readonly number[])[]) => [
  ...wasmCode.leb(items.length),
  ...items.flat(),
];
const text = (value: string) => {
  const bytes = [...new TextEncoder().encode(value)];
  return [...wasmCode.leb(bytes.length), ...bytes];
};

/**
 * A call of the recorder beside an instruction: the first of its code that comes from this line of
 * the sources.
 */
export interface Hook {
  readonly line: string;
  readonly code: number;
  /** After it: what it leaves on the stack goes through the recorder. */
  readonly through?: ImportName;
  /** Before it. */
  readonly before?: ImportName;
}

export interface Instrumented {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly places: readonly Place[];
}

/**
 * @param module a debug build, without imports
 * @param map its source map
 * @param lineAt a line of the sources, trimmed
 */
export function instrument(
  module: Uint8Array,
  map: Parameters<typeof wasmCode.sourcePositions>[0],
  lineAt: (position: wasmCode.Position) => string,
  hooks: readonly Hook[] = [],
): Instrumented {
  const names = wasmCode.functionNames(module);
  const nameOf = (index: number) =>
    names.get(index)?.replace(/^assembly\/\w+\//, '') ?? `#${index}`;
  const parameters = wasmCode.parameterCounts(module);
  const positionOf = wasmCode.sourcePositions(map);
  const places: Place[] = [];

  const hooksLeft = new Set(hooks);
  let position: wasmCode.Position | undefined;

  const instructionBytes = (instruction: wasmCode.Instruction, body: wasmCode.Body): number[] => {
    const { at, end, code, callee } = instruction;
    // the compiler gives no position to the ends of loops: that of the condition before them is
    // theirs
    position = positionOf(at) ?? position;
    const line = position ? lineAt(position) : '?';
    const own =
      callee === undefined
        ? [...module.subarray(at, end)]
        : [0x10, ...wasmCode.leb(callee + IMPORTS.length)];
    for (const hook of hooksLeft) {
      if (hook.code !== code || hook.line !== line) continue;
      hooksLeft.delete(hook);
      if (hook.before) own.unshift(...call(hook.before));
      if (hook.through) own.push(...call(hook.through));
      break;
    }
    const kind = kindOf(code);
    if (kind === undefined) return own;
    const place = places.push({ kind, function: nameOf(body.index), line }) - 1;
    const first = parameters[body.index]! + body.localCount;
    const local = (type: ValueType, k: number) => wasmCode.leb(first + 3 * ADDED.indexOf(type) + k);
    return [...noting(code, place, local), ...own];
  };

  const bodies = wasmCode.bodiesOf(module).map((body) => {
    const locals = [...body.locals, ...ADDED.map((type) => [3, type] as const)];
    const code = vector(locals.map(([count, type]) => [...wasmCode.leb(count), type]));
    position = undefined;
    for (const instruction of wasmCode.instructionsOf(module, body)) {
      code.push(...instructionBytes(instruction, body));
    }
    return [...wasmCode.leb(code.length), ...code];
  });

  for (const { line } of hooksLeft) throw new Error(`no such place for a hook: ${line}`);
  return { bytes: withBodies(module, bodies), places };
}

/** The module with other function bodies, and the imports of the trace before its functions. */
function withBodies(module: Uint8Array, bodies: readonly (readonly number[])[]) {
  const output: number[] = [...module.subarray(0, 8)];
  const write = (id: number, bytes: readonly number[]) => {
    output.push(id, ...wasmCode.leb(bytes.length));
    for (const byte of bytes) output.push(byte);
  };
  let typeCount = 0;
  for (const { id, bytes } of wasmCode.sectionsOf(module)) {
    const reader = new wasmCode.Reader(bytes);
    if (id === 1) {
      typeCount = reader.number();
      const own = [...bytes.subarray(reader.at)];
      const added = IMPORTS.flatMap(({ type }) => [...type]);
      write(1, [...wasmCode.leb(typeCount + IMPORTS.length), ...own, ...added]);
      const imports = IMPORTS.map(({ name }, i) => [
        ...[...text('trace'), ...text(name)],
        ...[0, ...wasmCode.leb(typeCount + i)],
      ]);
      write(2, vector(imports));
    } else if (id === 7) {
      const exports = Array.from({ length: reader.number() }, () => {
        const [name, kind, index] = [reader.text(), reader.byte(), reader.number()];
        return [...text(name), kind, ...wasmCode.leb(kind === 0 ? index + IMPORTS.length : index)];
      });
      write(7, vector(exports));
    } else if (id === 8) {
      write(8, wasmCode.leb(reader.number() + IMPORTS.length));
    } else if (id === 10) {
      write(10, vector(bodies));
    } else if (id !== 0) {
      write(id, [...bytes]);
    }
  }
  return Uint8Array.from(output);
}
