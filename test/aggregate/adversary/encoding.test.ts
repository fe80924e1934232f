/**
 * Cheating provers against the fields of hidden messages (docs/protocol.md, 11): a second encoding
 * of one proof. Provers that absorb what they send are accepted by a reader that lacks the rule.
 */
import { expect, test } from 'vitest';
import { gaussianField } from '../../reference/prover/gaussian.ts';
import { Q } from '../../reference/prover/ring.ts';
import { sentOf } from '../../reference/prover/steps.ts';
import type { Constraint, Faults, FaultValues } from '../../reference/prover/trace.ts';
import type { Checks } from '../../reference/verifier/checks.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { at } from '../faults.ts';
import { expectAccepted, expectRefused, forged, isAcceptedByLibrary, lacking } from './attack.ts';
import { LONG, levelOf } from './hidden.ts';
import { BEHIND_ZERO } from './rows.ts';

const row = BEHIND_ZERO;
const ZERO = { row, level: 0 };
const K = levelOf(ZERO).k;

/** A number of 44 bits in a bit string becomes another one. */
function withWord(bytes: Uint8Array, index: number, value: bigint): Uint8Array {
  const all = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
  const shift = BigInt(44 * index);
  const old = (all >> shift) & (2n ** 44n - 1n);
  const changed = (all + ((value - old) << shift)).toString(16).padStart(2 * bytes.length, '0');
  return new Uint8Array(Buffer.from(changed, 'hex').reverse());
}

/** The bytes of a field of level 0 as they are sent and absorbed, the last ones of a message. */
function asBytes(name: string, label: string, change: (bytes: Uint8Array) => Uint8Array): Faults {
  let length = 0;
  return {
    field: at(0, (value: FaultValues['field']) => {
      if (value.name !== name) return value;
      length = value.bytes.length;
      return { name, bytes: change(value.bytes) };
    }),
    absorb: at(0, (value: FaultValues['absorb']) => {
      if (value.label !== label) return value;
      const from = value.data.length - length;
      const data = Buffer.concat([value.data.subarray(0, from), change(value.data.subarray(from))]);
      return { label, data: new Uint8Array(data) };
    }),
  };
}

/** The reader's rule stops it, and it alone; `omit` is what is wrong besides. */
function stopped(faults: Faults, rule: keyof Checks, omit: readonly Constraint[] = []): void {
  const proof = forged({ row, faults }, { omit: new Set(omit) });
  expect(expectRefused(proof)).toMatch(new RegExp(`^${rule}`));
  expectAccepted(proof, lacking([rule, ...omit]));
  if (omit.length === 0) return;
  for (const off of [[rule], omit]) {
    expect(verifyReferenceSection({ ...proof, ...lacking(off) }).ok).toBe(false);
  }
}

/** Numbers that have two encodings are below 117: one of them is made, and is not that of x. */
test.each([
  ['A', 'uA', 0],
  ['b', 'b', 16 * K - 1],
] as const)('p of %s with q + 5 in place of 5', LONG, (message, label, number) => {
  const change = (bytes: Uint8Array) => withWord(bytes, number, Q + 5n);
  const p: Faults['p'] = at(0, (value: FaultValues['p']) =>
    value.message === message ? { message, p: value.p.with(number, 5n) } : value,
  );
  // b_32 follows p_b under the same label
  const bytes = 88 * K;
  const absorb: Faults['absorb'] = at(0, (value: FaultValues['absorb']) => {
    if (value.label !== label) return value;
    const rest = value.data.subarray(bytes);
    return { label, data: Buffer.concat([change(value.data.subarray(0, bytes)), rest]) };
  });
  const { field } = asBytes(`p${message}`, label, change);
  stopped({ p, ...(field && { field }), absorb }, 'quarterRange', [`Q${message}`]);
});

test('b_32 with q + 5 in place of 5', LONG, () => {
  const change = (bytes: Uint8Array) => withWord(bytes, 1, Q + 5n);
  const b32: Faults['b32'] = (list) => list.with(1, 5n);
  stopped({ b32, ...asBytes('b32', 'b', change) }, 'b32Range', ['Tb2']);
});

test.each([4, 7])('bit %i of the last byte of b_32', LONG, (bit) => {
  const change = (bytes: Uint8Array) => bytes.with(-1, bytes.at(-1)! | (1 << bit));
  stopped(asBytes('b32', 'b', change), 'b32Fill');
});

test('another code of y of x: the coder starts elsewhere', LONG, () => {
  let values: bigint[] = [];
  const t = levelOf(ZERO).tX;
  const faults: Faults = {
    yX: at(1, (projection: FaultValues['yX']) => {
      values = sentOf(projection);
      return projection;
    }),
    field: at(1, (value: FaultValues['field']) => {
      if (value.name !== 'yx') return value;
      const bytes = gaussianField([{ values, t }], 2n ** 32n + 1n);
      expect(bytes).not.toEqual(value.bytes);
      return { name: 'yx', bytes };
    }),
  };
  stopped(faults, 'states');
});

test('a byte that is missing or left over', LONG, () => {
  const proof = forged({ row, faults: {} });
  expectAccepted(proof, {});
  expect(isAcceptedByLibrary(proof)).toBe(true);
  const { length } = proof.bytes;
  const longer = { ...proof, bytes: Uint8Array.of(...proof.bytes, 0) };
  // a section ends before it; a whole proof has no such byte
  expect(verifyReferenceSection(longer)).toEqual({ ok: true, length });
  expect(isAcceptedByLibrary(longer)).toBe(false);
  for (const end of [length - 1, 88 * K, 1]) {
    expect(expectRefused({ ...proof, bytes: proof.bytes.subarray(0, end) })).toBe(
      'end of the bytes',
    );
  }
});
