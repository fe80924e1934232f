import { describe, expect, test } from 'vitest';
import { FALCON_512, FALCON_1024 } from '../../src/falcon/params.ts';
import { decodePublicKey, decodeSignature, encodeSignature } from '../../src/falcon/points.ts';
import type { SignatureFormat } from '../../src/falcon/types.ts';
import { equal } from '../../src/shared/bytes.ts';
import { testRandom } from '../support/random.ts';
import { encodePublicKey } from '../support/reference.ts';

const FORMS: readonly SignatureFormat[] = ['compressed', 'padded', 'constantTime'];

/** Falcon, round 3, Algorithm 17, as a string of bits. */
function compressedBits(s2: readonly number[]): string {
  return s2
    .map((x) => {
      const magnitude = Math.abs(x);
      const low = (magnitude & 127).toString(2).padStart(7, '0');
      return `${x < 0 ? 1 : 0}${low}${'0'.repeat(magnitude >> 7)}1`;
    })
    .join('');
}

function fromBits(bits: string): Uint8Array {
  const bytes = (bits.match(/.{1,8}/g) ?? []).map((byte) =>
    Number.parseInt(byte.padEnd(8, '0'), 2),
  );
  return Uint8Array.from(bytes);
}

const twelveBits = (s2: readonly number[]) =>
  s2.map((x) => (x & 0xfff).toString(2).padStart(12, '0')).join('');

describe.each([FALCON_512, FALCON_1024])('$name', ({ name, logn, lengths }) => {
  const n = 1 << logn;
  const random = testRandom(`codec ${name}`);
  const salt = random.bytes(40);

  function frame(header: number, body: Uint8Array, length = 41 + body.length): Uint8Array {
    const out = new Uint8Array(length);
    out[0] = header;
    out.set(salt, 1);
    out.set(body.subarray(0, length - 41), 41);
    return out;
  }
  const compressed = (bits: string, length?: number) => frame(0x30 + logn, fromBits(bits), length);
  const constantTime = (bits: string, length?: number) =>
    frame(0x50 + logn, fromBits(bits), length);

  /** About as a signer's: sums of uniform bytes, standard deviation near 165. */
  const gaussian = (scale = 1) => {
    const bytes = random.bytes(12 * n);
    return Array.from({ length: n }, (_, i) => {
      let x = -1530; // 12 * 127.5
      for (let k = 0; k < 12; k++) x += bytes[12 * i + k]!;
      return Math.round(x * 0.645 * scale) || 0;
    });
  };

  function expectDecoded(signature: Uint8Array, form: SignatureFormat, s2: readonly number[]) {
    const decoded = decodeSignature(signature);
    if (typeof decoded === 'string') throw new Error(`refused: ${decoded}`);
    expect(decoded.parameterSet).toBe(name);
    expect(decoded.form).toBe(form);
    expect(equal(decoded.salt, salt)).toBe(true);
    expect(decoded.s2.every((x, i) => x === s2[i])).toBe(true);
    expect(equal(encodeSignature(decoded)!, signature)).toBe(true);
  }

  test('all forms of many polynomials, against a plain encoder, there and back', () => {
    for (let round = 0; round < 200; round++) {
      const s2 = gaussian(0.2 + (round % 10) / 12);
      const bits = compressedBits(s2);
      const exact = compressed(bits);
      if (exact.length <= lengths.signature) expectDecoded(exact, 'compressed', s2);
      if (exact.length < lengths.signaturePadded) {
        expectDecoded(compressed(bits, lengths.signaturePadded), 'padded', s2);
      }
      expectDecoded(constantTime(twelveBits(s2)), 'constantTime', s2);
    }
  });

  test('every coefficient value, at every position of a window', () => {
    for (let x = -2047; x <= 2047; x++) {
      const s2 = new Array<number>(n).fill(0);
      s2[(x + 4000) % n] = x;
      s2[(x + 4001) % n] = -x || 0;
      expectDecoded(compressed(compressedBits(s2)), 'compressed', s2);
      if (x % 16 === 0) expectDecoded(constantTime(twelveBits(s2)), 'constantTime', s2);
    }
  });

  /** A polynomial whose compressed body has exactly `bits` bits. */
  function ofSize(bits: number): number[] {
    const s2 = new Array<number>(n).fill(0);
    let left = bits - 9 * n;
    for (let i = 0; left > 0; i = (i + 7) % n) {
      const high = Math.min(15, left);
      if (s2[i] !== 0) continue;
      s2[i] = (i % 2 ? -1 : 1) * (high * 128 + (i % 128));
      left -= high;
    }
    return s2;
  }

  test('a compressed signature of exactly the padded length is compressed', () => {
    const body = 8 * (lengths.signaturePadded - 41);
    for (let spare = 0; spare < 8; spare++) {
      const s2 = ofSize(body - spare);
      const signature = compressed(compressedBits(s2));
      expect(signature).toHaveLength(lengths.signaturePadded);
      expectDecoded(signature, 'compressed', s2);
      const parts = { parameterSet: name, salt, s2: Int16Array.from(s2) };
      expect(equal(encodeSignature({ ...parts, form: 'padded' })!, signature)).toBe(true);
      // one bit more does not fit the padded form, but the compressed one
      const more = Int16Array.from(ofSize(body + 1));
      expect(encodeSignature({ ...parts, s2: more, form: 'padded' })).toBeUndefined();
      expect(encodeSignature({ ...parts, s2: more, form: 'compressed' })).toHaveLength(
        lengths.signaturePadded + 1,
      );
    }
  });

  test('the longest compressed signature, and one byte more', () => {
    const body = 8 * (lengths.signature - 41);
    const longest = ofSize(body);
    expectDecoded(compressed(compressedBits(longest)), 'compressed', longest);
    const longer = ofSize(body + 1);
    expect(decodeSignature(compressed(compressedBits(longer)))).toBe('signatureLength');
    const parts = { parameterSet: name, salt, form: 'compressed' as const };
    expect(encodeSignature({ ...parts, s2: Int16Array.from(longer) })).toBeUndefined();
    // the most bits that n coefficients can have
    const all = new Int16Array(n).fill(-2047);
    expect(encodeSignature({ ...parts, s2: all })).toBeUndefined();
  });

  test('minus zero is refused at every position', () => {
    const s2 = gaussian(0.5);
    for (let i = 0; i < n; i++) {
      const before = compressedBits(s2.slice(0, i));
      const after = compressedBits(s2.slice(i + 1));
      expect(decodeSignature(compressed(`${before}100000001${after}`))).toBe('signatureEncoding');
      expect(decodeSignature(compressed(`${before}000000001${after}`))).not.toBeTypeOf('string');
    }
  });

  test('high parts from 16 on are refused at every position, also runs of zeros beyond any window', () => {
    for (const high of [16, 17, 31, 40, 47, 48, 54, 55, 56, 63, 64, 65, 100, 128, 300]) {
      for (const i of [0, 1, 2, 3, 100, n - 2, n - 1]) {
        const s2 = new Array<number>(n).fill(1);
        const bits =
          compressedBits(s2.slice(0, i)) +
          `00000001${'0'.repeat(high)}1` +
          compressedBits(s2.slice(i + 1));
        expect(decodeSignature(compressed(bits))).toBeTypeOf('string');
      }
    }
  });

  test('dirty bits after the last coefficient are refused', () => {
    for (let spare = 1; spare < 8; spare++) {
      const s2 = ofSize(9 * n + 8 * 20 - spare);
      const clean = compressedBits(s2);
      expect((8 - (clean.length % 8)) % 8).toBe(spare);
      expectDecoded(compressed(clean), 'compressed', s2);
      for (let i = 0; i < spare; i++) {
        const dirt = `${'0'.repeat(i)}1`;
        expect(decodeSignature(compressed(clean + dirt))).toBe('signatureEncoding');
      }
    }
  });

  test('extra bytes, missing bytes, dirty padding', () => {
    for (let round = 0; round < 4; round++) {
      const bits = compressedBits(gaussian(0.8));
      const exact = compressed(bits);
      for (let length = 0; length <= lengths.signatureConstantTime + 20; length++) {
        const got = decodeSignature(compressed(bits, Math.max(41, length)).subarray(0, length));
        if (length === exact.length || length === lengths.signaturePadded) {
          expect(got).not.toBeTypeOf('string');
        } else {
          expect(got).toBe('signatureLength');
        }
      }
      const padded = compressed(bits, lengths.signaturePadded);
      for (let at = exact.length; at < padded.length; at++) {
        padded[at] = 1 << (at % 8);
        expect(decodeSignature(padded)).toBe('signatureEncoding');
        padded[at] = 0;
      }
    }
  });

  test('only two first bytes are right', () => {
    const s2 = gaussian(0.8);
    for (let header = 0; header < 256; header++) {
      const short = compressed(compressedBits(s2));
      const fixed = constantTime(twelveBits(s2));
      short[0] = fixed[0] = header;
      const mine = header === 0x30 + logn;
      const other = (header & 0x0f) === 19 - logn; // the other parameter set: its own judgement
      if (other) {
        expect(decodeSignature(short)).toBeTypeOf('string');
        expect(decodeSignature(fixed)).toBeTypeOf('string');
        continue;
      }
      if (mine) expect(decodeSignature(short)).not.toBeTypeOf('string');
      else expect(decodeSignature(short)).toBeTypeOf('string');
      if (header === 0x50 + logn) expect(decodeSignature(fixed)).not.toBeTypeOf('string');
      else expect(decodeSignature(fixed)).toBeTypeOf('string');
    }
    expect(decodeSignature(new Uint8Array(0))).toBe('signatureLength');
  });

  test('constant-time form: -2048 is refused at every position, and every other length', () => {
    const s2 = gaussian();
    for (let i = 0; i < n; i++) {
      const bad = s2.with(i, -2048);
      expect(decodeSignature(constantTime(twelveBits(bad)))).toBe('signatureEncoding');
    }
    const bits = twelveBits(s2);
    for (let length = 0; length < lengths.signatureConstantTime + 10; length++) {
      if (length === lengths.signatureConstantTime) continue;
      const signature = constantTime(bits, Math.max(41, length)).subarray(0, length);
      expect(decodeSignature(signature)).toBe('signatureLength');
    }
  });

  test('whatever is accepted encodes to itself: flipped bits and random bytes', () => {
    let accepted = 0;
    for (let round = 0; round < 2000; round++) {
      const s2 = gaussian(0.8);
      const form = FORMS[round % 3]!;
      const parts = { parameterSet: name, salt, form, s2: Int16Array.from(s2) };
      const signature = encodeSignature(parts);
      if (signature === undefined) continue;
      for (let flips = round % 4; flips > 0; flips--) {
        signature[41 + random.below(signature.length - 41)]! ^= 1 << random.below(8);
      }
      if (round % 17 === 0) signature.set(random.bytes(signature.length - 41), 41);
      const decoded = decodeSignature(signature);
      if (typeof decoded === 'string') continue;
      accepted++;
      expect(equal(encodeSignature(decoded)!, signature)).toBe(true);
    }
    expect(accepted).toBeGreaterThan(500);
  });

  test('coefficients out of range cannot be encoded', () => {
    for (const form of FORMS) {
      for (const x of [2048, -2048, 4095, 32767, -32768]) {
        const s2 = new Int16Array(n);
        s2[n - 1] = x;
        expect(encodeSignature({ parameterSet: name, salt, form, s2 })).toBeUndefined();
      }
    }
  });

  test('public keys: there and back, every coefficient from q on refused at every position', () => {
    const h = Array.from({ length: n }, () => random.below(12289));
    const key = encodePublicKey(h);
    expect(key).toHaveLength(lengths.publicKey);
    expect(decodePublicKey(name, key)).toEqual(Uint16Array.from(h));
    for (let i = 0; i < n; i++) {
      const edge = h.with(i, 12288);
      expect(decodePublicKey(name, encodePublicKey(edge))).toEqual(Uint16Array.from(edge));
      for (const x of i % 64 === 0 ? [12289, 12290, 14000, 16383] : [12289]) {
        expect(decodePublicKey(name, encodePublicKey(h.with(i, x)))).toBe('publicKeyRange');
      }
    }
    for (let header = 0; header < 256; header++) {
      if (header === logn) continue;
      const other = key.slice();
      other[0] = header;
      expect(decodePublicKey(name, other)).toBe('publicKeyHeader');
    }
    for (const length of [0, 1, key.length - 1]) {
      expect(decodePublicKey(name, key.subarray(0, length))).toBe('publicKeyLength');
    }
    const longer = new Uint8Array(key.length + 1);
    longer.set(key);
    expect(decodePublicKey(name, longer)).toBe('publicKeyLength');
  });
});
