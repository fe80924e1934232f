/**
 * A second reader and writer of bundles, made from docs/bundle-format.md alone: big integers, one
 * list of bytes, no tables but the frequencies, nothing shared with src/aggregate. Slow and plain.
 */
import { FREQUENCIES_512, FREQUENCIES_1024 } from '../../src/aggregate/gaussianTables.ts';

const M = 1n << 24n;
const L = 1n << 32n;

/** f and c of a value v in -2047..2047. */
function slots(n: number): { f: bigint; c: bigint }[] {
  const table = n === 512 ? FREQUENCIES_512 : FREQUENCIES_1024;
  const list: { f: bigint; c: bigint }[] = [];
  let c = 0n;
  for (let v = -2047; v <= 2047; v++) {
    const f = BigInt(table[Math.abs(v)]!);
    list.push({ f, c });
    c += f;
  }
  return list;
}

const modelOf = { 512: slots(512), 1024: slots(1024) };

export function referenceEncode(n: 512 | 1024, values: readonly number[]): Uint8Array {
  const model = modelOf[n];
  const x = [L, L];
  const bytes: number[] = []; // from the last byte to the first
  for (let i = values.length - 1; i >= 0; i--) {
    const { f, c } = model[values[i]! + 2047]!;
    let state = x[i % 2]!;
    while (state >= f << 24n) {
      bytes.push(Number(state & 255n), Number((state >> 8n) & 255n));
      state >>= 16n;
    }
    x[i % 2] = (state / f) * M + (state % f) + c;
  }
  for (const state of [x[1]!, x[0]!]) {
    for (let i = 0n; i < 6n; i++) bytes.push(Number((state >> (8n * i)) & 255n));
  }
  return Uint8Array.from(bytes.reverse());
}

export function referenceDecode(
  n: 512 | 1024,
  bytes: Uint8Array,
  count: number,
): { values: number[]; end: number } {
  const model = modelOf[n];
  let at = 0;
  const next = () => {
    if (at >= bytes.length) throw new Error('too few bytes');
    return BigInt(bytes[at++]!);
  };
  const x = [0n, 0n];
  for (const s of [0, 1]) for (let i = 0; i < 6; i++) x[s] = (x[s]! << 8n) | next();
  if (x[0]! < L || x[1]! < L) throw new Error('a state below 2^32');
  const values: number[] = [];
  for (let i = 0; i < count; i++) {
    const state = x[i % 2]!;
    const slot = state % M;
    const index = model.findLastIndex(({ c }) => c <= slot);
    const { f, c } = model[index]!;
    values.push(index - 2047);
    let popped = f * (state / M) + slot - c;
    while (popped < L) popped = (popped << 16n) | (next() << 8n) | next();
    x[i % 2] = popped;
  }
  if (x[0] !== L || x[1] !== L) throw new Error('the states do not end at 2^32');
  return { values, end: at };
}
