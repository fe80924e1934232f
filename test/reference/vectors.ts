/**
 * Writes test/vectors/proof.json, the test vectors of docs/protocol.md, section 14:
 *
 *   node test/reference/vectors.ts
 *   node test/reference/vectors.ts DIR      into DIR
 *
 * Bytes are hexadecimal, integers are numbers. To be run again whenever the table changes.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hex } from '../support/hex.ts';
import { headerOf, type SetName, signedItem, signedItems } from './items.ts';
import {
  alpha,
  amortising,
  JL_ROWS,
  keyRow,
  projectionOf,
  rho,
  scalars,
  short,
  tau,
} from './prover/challenges.ts';
import { BitWriter } from './prover/encode.ts';
import { gaussianField } from './prover/gaussian.ts';
import { messagesShown, recomposedMessage } from './prover/hiddenIdentities.ts';
import type { ShownOrdinary } from './prover/identities.ts';
import { readParameters } from './prover/parameters.ts';
import { proveReference } from './prover/prove.ts';
import {
  BETA_SQ,
  centred,
  digits,
  inverse,
  multiply,
  normSq,
  type Poly,
  Q,
} from './prover/ring.ts';
import { stepsOf } from './prover/runs.ts';
import { cutLow } from './prover/steps.ts';
import { chacha8 } from './prover/streams.ts';
import type { LevelView, Trace, TraceEvent } from './prover/trace.ts';
import { Transcript } from './prover/transcript.ts';
import { epsilon } from './prover/witness.ts';
import { hashOfRow, tableRow } from './table.ts';
import type { TableRow } from './tableRow.ts';
import { VECTOR_ROW } from './vectorRow.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);
const LONG = Uint8Array.from({ length: 200 }, (_, i) => i);
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const numbers = (list: readonly bigint[]): number[] => list.map(Number);

function transcripts() {
  const calls = [
    ['absorb', 'retry'],
    ['absorb', 'uA'],
    ['absorb', 'falconry/proof/v3'],
    ['seal', 't'],
    ['seal', 'h'],
    ['seal', 'retry'],
  ] as const;
  const withData = calls.flatMap(([call, label]) =>
    [new Uint8Array(0), LONG].map((data) => {
      const transcript = new Transcript();
      if (call === 'seal')
        return { call, label, data: hex(data), out: hex(transcript.seal(label, data)) };
      transcript.absorb(label, data);
      return { call, label, data: hex(data), out: hex(transcript.st) };
    }),
  );
  const seeds = ['alpha', 'jl', 'amortise'].map((label) => ({
    call: 'seed',
    label,
    out: hex(new Transcript().seed(label)),
  }));
  return [...withData, ...seeds];
}

/** Six words of which the second, q, and the fifth, 2^44 - 1, are skipped. */
function scalarsOfSyntheticStream() {
  const words = [1n, Q, Q - 1n, 0n, 2n ** 44n - 1n, 2n, 3n, 4n, 5n, 6n];
  const writer = new BitWriter();
  for (const word of words) writer.write(word, 44);
  const bytes = writer.bytes();
  let at = 0;
  const source = { bytes: (count: number) => bytes.slice(at, (at += count)) };
  return { stream: hex(bytes), scalars: numbers(scalars(source, 8)) };
}

const rowsOf = (entries: Int8Array): number[][] =>
  Array.from({ length: JL_ROWS }, (_, row) => [...entries.subarray(64 * row, 64 * row + 64)]);
const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, x, c) => sum + x * b[c]!, 0);
/** X^32 times a polynomial. */
const timesI = (a: readonly number[]): number[] => [
  ...a.slice(32).map((x) => 0 - x),
  ...a.slice(0, 32),
];

function projections() {
  const list = [0, 1, 29273];
  const s = Array.from({ length: 64 }, (_, j) => j - 32);
  const entries = list.map((number) => projectionOf(KEY, 0, number));
  return {
    polynomials: list.map((number, p) => ({
      number,
      rows: [0, 3, 4, 135].map((row) => ({
        row,
        entries: [...entries[p]!.subarray(64 * row, 64 * row + 64)],
      })),
      // of the witness that has this polynomial alone, coefficient j = j - 32
      y: rowsOf(entries[p]!).map((row) => dot(row, s)),
      yStar: rowsOf(entries[p]!).map((row) => dot(timesI(row), s)),
    })),
  };
}

const keys = () =>
  [
    [0, 0],
    [1, 7],
    [5, 0],
  ].map(([row, column]) => {
    const poly = keyRow(row!, column! + 1)[column!]!;
    return { row, column, coefficients: [0, 1, 63].map((i) => Number(poly[i])) };
  });

function digitLists() {
  const levels = (['falcon512', 'falcon1024'] as const).flatMap(
    (set) => readParameters(tableRow(set, 1722)).levels,
  );
  const shapes = levels.flatMap(({ fu, bu, fg, bg }) => [
    [fu, bu],
    [fg, bg],
  ]) as [number, number][];
  const half = (Q - 1n) / 2n;
  return shapes.slice(0, 6).map(([count, bits]) => {
    const edge = 2n ** BigInt(bits - 1);
    return {
      count,
      bits,
      of: [-half, half, -1n, edge, edge - 1n].map((x) => ({
        x: Number(x),
        digits: numbers(digits(centred(x), count, bits)),
      })),
    };
  });
}

const cuts = () =>
  [4, 9, 15].map((cut) => {
    const u = [0n, 2n ** BigInt(cut) - 1n, 2n ** BigInt(cut), Q - 1n];
    const { sent, hat, e } = cutLow([u], cut);
    return {
      cut,
      u: numbers(u),
      sent: numbers(sent[0]!),
      hat: numbers(hat[0]!),
      e: numbers(e[0]!),
    };
  });

/** Fields of Gaussian codes: values, the index of each, and the bytes. */
function gaussianCodes() {
  const code = (values: readonly number[], ...indexes: readonly number[]) => {
    const t = (i: number): number => indexes[i % indexes.length]!;
    const lists = values.map((x, i) => ({ values: [BigInt(x)], t: t(i) }));
    return { values, indexes: values.map((_, i) => t(i)), bytes: hex(gaussianField(lists)) };
  };
  const edges = (t: number): number[] => {
    const step = 2 ** Math.floor(t / 8);
    return [0, -1, 1, step, -step, 8 * step, 256 * step - 1, -256 * step];
  };
  const accepted = [
    code([], 0),
    code([0, 0], 0),
    ...[0, 7, 8, 77].map((t) => code(edges(t), t)),
    code([255, -256, 3, -511, 1023, 100], 0, 7, 8, 15, 16, 77),
    code(
      Array.from({ length: 640 }, (_, i) => ((7 * i * i) % 701) - 350),
      12,
    ),
  ];
  const [zeros, lows] = [code([0, 0], 0), code([1, 0], 8)];
  const refused = [
    { indexes: zeros.indexes, bytes: `0000${zeros.bytes.slice(4)}`, why: 'a state below 2^32' },
    { indexes: zeros.indexes, bytes: `02${zeros.bytes.slice(2)}`, why: 'a state ends elsewhere' },
    { indexes: zeros.indexes, bytes: zeros.bytes.slice(0, -2), why: 'the states are cut off' },
    { indexes: lows.indexes, bytes: lows.bytes.slice(0, -2), why: 'the low parts are missing' },
    { indexes: lows.indexes, bytes: `${lows.bytes.slice(0, -2)}05`, why: 'a filling bit is one' },
  ];
  return { accepted, refused };
}

/** Absorbs, seeds and seals that count; fields by their hash. */
function transcriptOf(events: readonly TraceEvent[]) {
  const steps = stepsOf(events).map((step) => {
    if (step.kind === 'absorb') return { absorb: step.label, st: hex(step.st) };
    return step.kind === 'seed'
      ? { seed: step.label, is: hex(step.seed) }
      : { seal: step.label, is: hex(step.seal) };
  });
  const fields = events
    .filter((event) => event.kind === 'field')
    .map(({ level, name, bytes }) => ({
      level,
      name,
      length: bytes.length,
      sha256: sha256(bytes),
    }));
  return { steps, fields };
}

/** A whole aggregate by the published table, or by a row that is not in it. */
export function proofVector(
  order: readonly (readonly [SetName, number])[],
  full = false,
  row?: TableRow,
  watch?: Trace,
) {
  const items = order.map(([set, number]) => signedItem(set, number));
  const header = headerOf(items, row && [hashOfRow(row)]);
  const sections = (['falcon512', 'falcon1024'] as const).flatMap((set) => {
    const own = items.filter((item) => item.set === set);
    if (own.length === 0) return [];
    const events: TraceEvent[] = [];
    const trace = (event: TraceEvent): void => {
      events.push(event);
      watch?.(event);
    };
    const used = row ?? tableRow(set, own.length);
    const options = { set, row: used, header, items: own, trace };
    return [{ set, bytes: proveReference(options), ...transcriptOf(events) }];
  });
  const bytes = Buffer.concat([header, ...sections.map((section) => section.bytes)]);
  return {
    items: order,
    header: hex(header),
    length: bytes.length,
    sha256: sha256(bytes),
    sections: sections.map(({ bytes: section, ...rest }) => ({
      ...rest,
      length: section.length,
      sha256: sha256(section),
    })),
    ...(full ? { bytes: hex(bytes) } : {}),
  };
}

/** The hidden messages of a level: their coefficients, digits and quarters. */
function hiddenLevel({ level, values }: LevelView) {
  const shown = values as ShownOrdinary;
  const { params, x } = shown;
  const messages = messagesShown(shown).map((one) => ({
    name: one.message.name,
    coefficients: recomposedMessage(one, params.w).map(numbers),
    x: one.x.map(numbers),
    p: numbers(one.p),
  }));
  return { level, w: params.w, k: params.k, messages, normSq: Number(normSq(x)) };
}

/** Hidden messages: those of the last attempts of two levels in full, and a whole proof. */
export function hiddenVector() {
  const views: LevelView[] = [];
  const watch: Trace = (event) => {
    if (event.kind === 'level') views[event.level] = event;
  };
  const proof = proofVector([['falcon512', 0]], true, VECTOR_ROW, watch);
  return {
    row: VECTOR_ROW,
    rowHash: hex(hashOfRow(VECTOR_ROW)),
    levels: [0, 1].map((level) => hiddenLevel(views[level]!)),
    proof,
  };
}

const named = (row: TableRow) => readParameters(row);

/** Everything but the proofs, by the number of section 14. */
export function smallVectors() {
  const challenges = [0, 1, 2].map((row) => amortising(KEY, 0, row));
  const [c0, c1] = challenges.map(({ c }) => c) as [Poly, Poly];
  const squares = [c1, c0].map((c) => multiply(c, c)) as [Poly, Poly];
  const difference = squares[0].map((x, i) => x - squares[1][i]!);
  return {
    key: hex(KEY),
    '1 transcript': transcripts(),
    '2 chacha8': [0, 1, 2 ** 22].map((counter) => ({
      counter,
      block: hex(chacha8(KEY, counter, [0x00030201, 4, 0])),
    })),
    '3 signed': {
      alpha: [0, 1].map((item) => numbers(alpha(KEY, 0, item))),
      c: challenges.map(({ c, attempts }) => ({ attempts, c: numbers(c) })),
    },
    '4 samplers': {
      short: numbers(short(KEY, 0, 'lift', 0)),
      tau: [0, 32].map((t) => numbers(tau(KEY, 0, t))),
      scalars: scalarsOfSyntheticStream(),
      rho: [512, 1024].map((n) => {
        const list = numbers(rho(KEY, 0, 0, 0, n));
        return { n, first: list.slice(0, 16), last: list.slice(-4) };
      }),
    },
    '5 projection': projections(),
    '6 keys': keys(),
    '7 digits': { digits: digitLists(), cuts: cuts() },
    '8 epsilon': [0n, 1n, 55n, 56n, 125617n, BETA_SQ[512], BETA_SQ[1024]].map((rest) => {
      const filled = numbers(epsilon(rest));
      return { rest: Number(rest), each: filled[0], last: filled.slice(56) };
    }),
    '9 gaussian': gaussianCodes(),
    '10 inverses': {
      ofC1: numbers(inverse(c1)),
      ofC1SquaredMinusC0Squared: numbers(inverse(difference)),
    },
    '12 rows': (['falcon512', 'falcon1024'] as const).flatMap((set) =>
      [1, 1722].map((count) => {
        const row = tableRow(set, count);
        return { hash: hex(hashOfRow(row)), ...named(row) };
      }),
    ),
  };
}

export function allVectors() {
  const sets = ['falcon512', 'falcon1024'] as const;
  const items = Object.fromEntries(
    sets.map((set) => [
      set,
      signedItems(set, 9).map(({ publicKey, message, signature }) => ({
        publicKey: hex(publicKey),
        message: hex(message),
        signature: hex(signature),
      })),
    ]),
  );
  const proofs = sets.flatMap((set) =>
    [1, 2, 3, 9].map((count) => {
      const order = Array.from({ length: count }, (_, number) => [set, number] as const);
      return proofVector(order, set === 'falcon512' && count === 1);
    }),
  );
  const mixed = proofVector([
    ['falcon512', 0],
    ['falcon1024', 0],
    ['falcon512', 1],
  ]);
  return {
    ...smallVectors(),
    '11 proofs': { items, proofs: [...proofs, mixed] },
    '13 hidden': hiddenVector(),
  };
}

/** One line for every entry of a list, so that a change shows where it is. */
export const textOf = (vectors: object): string =>
  `${JSON.stringify(vectors, null, 1).replaceAll(/\n\s+(-?\d+,?)(?=\n)/g, ' $1')}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = process.argv[2] ?? fileURLToPath(new URL('../vectors/', import.meta.url));
  mkdirSync(directory, { recursive: true });
  const text = textOf(allVectors());
  writeFileSync(join(directory, 'proof.json'), text);
  console.log(`${text.length} bytes, SHA-256 ${sha256(Buffer.from(text))}`);
}
