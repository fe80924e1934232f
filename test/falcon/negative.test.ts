/** What must be refused, as a table: one change to something valid, and the reason. */
import { describe, expect, test } from 'vitest';
import type { Falcon, InvalidReason } from '../../src/falcon/index.ts';
import { boundOf, type Chosen, craft } from '../support/craft.ts';
import { fact } from '../support/facts.ts';
import { BUILDS_OF_SETS, type TestItem, testItems, testKeys } from '../support/ours.ts';
import type { Degree } from '../support/peers.ts';
import { testRandom } from '../support/random.ts';
import {
  BitWriter,
  concatBytes,
  decodePublicKey,
  decodeSignature,
  encodePublicKey,
  encodeSignature,
  FORMS,
  type Form,
  Q,
  recover,
  SPEC,
} from '../support/reference.ts';
import { SHORT_RUN } from '../support/run.ts';

const SIGNATURE_REASONS: readonly InvalidReason[] = [
  'signatureLength',
  'signatureHeader',
  'signatureEncoding',
  'signatureMismatch',
];
const KEY_REASONS: readonly string[] = ['publicKeyLength', 'publicKeyHeader', 'publicKeyRange'];

/**
 * The verdict of all calls that judge: `verify`, the batch, and a prepared key. They must agree.
 */
function verdict(falcon: Falcon, item: TestItem): InvalidReason | 'valid' {
  const { signature, message, publicKey } = item;
  const answer = falcon.verify(signature, message, publicKey);
  const [invalid] = falcon.verifyBatch([item]);
  expect(invalid === undefined, 'verify and verifyBatch agree').toBe(answer);
  if (invalid === undefined || !KEY_REASONS.includes(invalid.reason)) {
    const prepared = falcon.preparePublicKey(publicKey);
    expect(falcon.verify(signature, message, prepared), 'prepared and raw agree').toBe(answer);
    expect(falcon.verifyBatch([{ signature, message, publicKey: prepared }])).toEqual(
      invalid === undefined ? [] : [invalid],
    );
  }
  return invalid?.reason ?? 'valid';
}

const change = (bytes: Uint8Array, at: number, mask: number) => bytes.with(at, bytes[at]! ^ mask);

describe.each(BUILDS_OF_SETS)('Falcon-$degree, $module', ({ degree, falcon, module }) => {
  const spec = SPEC[degree];
  const item = (form: Form): TestItem =>
    testItems(degree, 1, { forms: [form], label: `negative ${form}` })[0]!;

  describe.each(FORMS)('%s', (form) => {
    const valid = item(form);
    const { salt, s2 } = decodeSignature(valid.signature);
    const judge = (changes: Partial<TestItem>): InvalidReason | 'valid' =>
      verdict(falcon, { ...valid, ...changes });

    test('untouched it is valid', () => {
      expect(judge({})).toBe('valid');
      expect(encodeSignature(form, salt, s2)).toEqual(valid.signature);
    });

    test('every bit of the signature', (context) => {
      const { signature } = valid;
      let flipped = 0;
      for (let at = 0; at < signature.length; at++) {
        for (const mask of [1, 2, 4, 8, 16, 32, 64, 128, 0xff]) {
          const changed = change(signature, at, mask);
          if (falcon.verify(changed, valid.message, valid.publicKey)) {
            expect.fail(`byte ${at} XOR ${mask} is accepted`);
          }
          flipped++;
        }
      }
      fact(
        context,
        'refused, every one',
        `Falcon-${degree} ${form} (${module}): ${flipped} changed signatures`,
      );
    });

    test('every bit of the key (in the short run of every third byte)', () => {
      // A key that differs by one in one coefficient moves s1 by a rotation of s2 alone: a short
      // signature can stay below the bound, and then the specification accepts it. The reference
      // decides those few.
      const { publicKey, signature, message } = valid;
      let accepted = 0;
      for (let at = 0; at < publicKey.length; at += SHORT_RUN ? 3 : 1) {
        for (const mask of [1, 2, 4, 8, 16, 32, 64, 128, 0xff]) {
          const changed = change(publicKey, at, mask);
          if (!falcon.verify(signature, message, changed)) continue;
          accepted++;
          const { normSquared } = recover(changed, signature, message);
          expect(normSquared, `byte ${at} XOR ${mask}`).toBeLessThanOrEqual(boundOf(degree));
        }
      }
      expect(accepted).toBeLessThanOrEqual(degree);
    });

    test('every shorter length, and many longer ones', () => {
      const { signature, message, publicKey } = valid;
      const compressedLength = encodeSignature('compressed', salt, s2).length;
      for (let length = 0; length < signature.length; length++) {
        // The padded form without its padding is the compressed form.
        const isCompressedForm = form === 'padded' && length === compressedLength;
        const shorter = signature.subarray(0, length);
        expect(falcon.verify(shorter, message, publicKey), `${length}`).toBe(isCompressedForm);
      }
      for (let more = 1; more < 900; more++) {
        for (const fill of [0, 0x80, 0xff]) {
          const longer = concatBytes(signature, new Uint8Array(more).fill(fill));
          const isPaddedForm = form === 'compressed' && fill === 0 && longer.length === spec.padded;
          expect(falcon.verify(longer, message, publicKey), `${more}`).toBe(isPaddedForm);
        }
      }
      expect(falcon.verify(new Uint8Array(1 << 20), message, publicKey)).toBe(false);
    });

    test('every header byte', () => {
      for (let header = 0; header < 256; header++) {
        if (header === valid.signature[0]) continue;
        const signature = Uint8Array.from(valid.signature);
        signature[0] = header;
        const reason = judge({ signature });
        expect(reason, `0x${header.toString(16)}`).not.toBe('valid');
        expect(SIGNATURE_REASONS).toContain(reason);
      }
      const foreign = Uint8Array.from(valid.signature);
      foreign[0] = 0x00;
      expect(judge({ signature: foreign })).toBe('signatureHeader');
    });

    test('another message, another key, another salt', () => {
      const { message } = valid;
      expect(judge({ message: concatBytes(message, [0]) })).toBe('signatureMismatch');
      expect(judge({ message: message.subarray(1) })).toBe('signatureMismatch');
      expect(judge({ message: new Uint8Array(0) })).toBe('signatureMismatch');
      for (let at = 0; at < message.length; at++) {
        expect(judge({ message: change(message, at, 1) })).toBe('signatureMismatch');
      }
      expect(judge({ publicKey: testKeys(degree, 1).publicKey })).toBe('signatureMismatch');
      const signature = change(valid.signature, 7, 1);
      expect(judge({ signature })).toBe('signatureMismatch');
    });

    test('the norm, at its bound and one above', () => {
      const bound = boundOf(degree);
      for (const [label, target, expected] of [
        ['at', bound, 'valid'],
        ['one below', bound - 1, 'valid'],
        ['one above', bound + 1, 'signatureMismatch'],
        ['far above', 2 * bound, 'signatureMismatch'],
      ] as const) {
        const crafted = craft(degree, `norm ${label}`, target);
        expect(crafted.normSquared).toBe(target);
        expect(verdict(falcon, { ...crafted, signature: crafted.signature(form) }), label).toBe(
          expected,
        );
      }
    });

    test('norms that a 32-bit sum would take for short', () => {
      for (const power of [31, 32, 33, 34]) {
        for (const stride of [1, 2, 4, 8]) {
          for (const sign of [1, -1]) {
            const target = 2 ** power + boundOf(degree) - 1_000_000;
            const count = Math.floor(target / 6144 ** 2) - 2;
            if (count * stride > degree - 8) continue; // not enough places for so long a vector
            const s1 = Object.fromEntries(
              Array.from({ length: count }, (_, i) => [i * stride, sign * 6144]),
            );
            const crafted = craft(degree, `wrap ${power} ${stride} ${sign}`, target, { s1 });
            const signature = crafted.signature(form);
            expect(verdict(falcon, { ...crafted, signature })).toBe('signatureMismatch');
          }
        }
      }
    });

    test('coefficients at the ends of their range', () => {
      const accept: Chosen[] = [
        { s2: { 0: 2047 } },
        { s2: { 0: -2047, 9: 2047, 100: 2047 } },
        { s2: { [degree - 1]: 2047, [degree - 2]: -2047 } },
        { s2: { 3: 0, 4: 0, [degree - 1]: 0 } },
      ];
      if (degree === 1024) accept.push({ s1: { 5: 6144 } }, { s1: { 5: -6144 } });
      for (const [i, chosen] of accept.entries()) {
        const crafted = craft(degree, `ends ${i}`, boundOf(degree), chosen);
        expect(verdict(falcon, { ...crafted, signature: crafted.signature(form) })).toBe('valid');
      }
      // Short enough in norm, but not writable in this form.
      const beyond = form === 'constantTime' ? [-2048] : [2048, -2048, 2049, 3000, -4000];
      for (const x of beyond) {
        for (const place of [0, 7, degree - 1]) {
          const crafted = craft(degree, `beyond ${x} ${place}`, boundOf(degree), {
            s2: { [place]: x },
          });
          const signature = crafted.signature(form);
          expect(verdict(falcon, { ...crafted, signature }), `${x}`).toBe('signatureEncoding');
        }
      }
    });
  });

  test('minus zero, wherever a zero stands', () => {
    const zeros = [0, 1, 2, 100, 311, degree - 2, degree - 1];
    const crafted = craft(degree, 'minus zero', boundOf(degree), {
      s2: Object.fromEntries(zeros.map((place) => [place, 0])),
    });
    for (const place of zeros) {
      const bits = new BitWriter();
      crafted.s2.forEach((x, i) => {
        bits.writeCompressed(x < 0 || i === place, Math.abs(x) & 127, Math.abs(x) >> 7);
      });
      for (const padded of [false, true]) {
        const body = concatBytes([0x30 + spec.logn], crafted.salt, bits.bytes());
        const signature = padded
          ? concatBytes(body, new Uint8Array(spec.padded - body.length))
          : body;
        expect(verdict(falcon, { ...crafted, signature })).toBe('signatureEncoding');
      }
    }
  });

  test('dirty bits after the last coefficient, dirty padding', () => {
    // Values of 128 and more have one bit more: enough of them to try every number of spare bits.
    for (let long = 0; long < 8; long++) {
      const chosen = Object.fromEntries(
        Array.from({ length: long }, (_, i) => [i, 130]).concat(
          Array.from({ length: 8 }, (_, i) => [50 + i, 1]),
        ),
      );
      const crafted = craft(degree, `dirty ${long}`, boundOf(degree), { s2: chosen });
      const signature = crafted.signature('compressed');
      expect(verdict(falcon, { ...crafted, signature })).toBe('valid');
      const spare = (8 - (crafted.s2.reduce((n, x) => n + 9 + (Math.abs(x) >> 7), 0) % 8)) % 8;
      expect(spare).toBe((8 - long) % 8);
      for (let bit = 0; bit < spare; bit++) {
        const dirty = change(signature, signature.length - 1, 1 << bit);
        expect(verdict(falcon, { ...crafted, signature: dirty })).toBe('signatureEncoding');
      }
      const padded = crafted.signature('padded');
      for (let at = signature.length; at < padded.length; at++) {
        const dirty = change(padded, at, 1 << (at % 8));
        expect(verdict(falcon, { ...crafted, signature: dirty })).not.toBe('valid');
      }
    }
  });

  test('a compressed form of exactly the padded length, and of one byte more and less', () => {
    // The number of 128s decides the length: 9 n bits, and one bit for each.
    for (const [length, expected] of [
      [spec.padded - 1, 'valid'],
      [spec.padded, 'valid'],
      [spec.padded + 1, 'valid'],
    ] as const) {
      const long = 8 * (length - 41) - 9 * degree;
      expect(long).toBeLessThan(degree);
      const s2 = Object.fromEntries(Array.from({ length: long }, (_, i) => [i, 128]));
      const crafted = craft(degree, `length ${length}`, boundOf(degree), { s2 });
      const signature = crafted.signature('compressed');
      expect(signature).toHaveLength(length);
      expect(verdict(falcon, { ...crafted, signature })).toBe(expected);
    }
  });

  test('long compressed forms: up to what the norm allows', () => {
    // 256 is the cheapest way to two more bits: a vector of them is nearly as long as the bound
    // and as its encoding.
    const count = Math.floor((0.93 * boundOf(degree)) / 256 ** 2);
    const s2 = Object.fromEntries(Array.from({ length: count }, (_, i) => [i, i % 3 ? 256 : -256]));
    const crafted = craft(degree, 'long', boundOf(degree), { s2 });
    const signature = crafted.signature('compressed');
    expect(signature.length).toBeGreaterThan(spec.compressedMax - 40);
    expect(verdict(falcon, { ...crafted, signature })).toBe('valid');
    const tooLong = concatBytes(signature, new Uint8Array(spec.compressedMax + 1));
    expect(verdict(falcon, { ...crafted, signature: tooLong })).toBe('signatureLength');
  });

  test('key coefficients that are not below q', () => {
    const valid = item('compressed');
    const h = decodePublicKey(valid.publicKey);
    expect(encodePublicKey(h)).toEqual(valid.publicKey);
    for (let place = 0; place < degree; place++) {
      // The same key mod q where it fits into 14 bits, an arbitrary one else.
      const same = h[place]! + Q;
      for (const value of [Q, 16383, same < 16384 ? same : Q + 1]) {
        const publicKey = encodePublicKey(h.with(place, value));
        const { signature, message } = valid;
        expect(falcon.verify(signature, message, publicKey)).toBe(false);
        expect(falcon.verifyBatch([{ signature, message, publicKey }])).toEqual([
          { index: 0, reason: 'publicKeyRange' },
        ]);
      }
    }
    // q - 1 is a coefficient like any other.
    const highest = h.map((x, i) => (i === 3 ? Q - 1 : x));
    expect(verdict(falcon, { ...valid, publicKey: encodePublicKey(highest) })).toBe(
      'signatureMismatch',
    );
  });

  test('keys of another length or header', () => {
    const valid = item('compressed');
    const reason = (publicKey: Uint8Array): string => verdict(falcon, { ...valid, publicKey });
    expect(reason(valid.publicKey.subarray(1))).toBe('publicKeyLength');
    expect(reason(valid.publicKey.subarray(0, -1))).toBe('publicKeyLength');
    expect(reason(concatBytes(valid.publicKey, [0]))).toBe('publicKeyLength');
    expect(reason(new Uint8Array(0))).toBe('publicKeyLength');
    for (let header = 0; header < 256; header++) {
      if (header === spec.logn) continue;
      expect(reason(valid.publicKey.with(0, header))).toBe('publicKeyHeader');
    }
  });

  test('the other parameter set', () => {
    const other: Degree = degree === 512 ? 1024 : 512;
    const foreign = testItems(other, 1, { label: 'foreign' })[0]!;
    const own = item('compressed');
    expect(verdict(falcon, foreign)).toBe('publicKeyLength');
    expect(SIGNATURE_REASONS).toContain(verdict(falcon, { ...own, signature: foreign.signature }));
  });

  test('random bytes', () => {
    const random = testRandom(`garbage ${degree}`);
    const { publicKey } = testKeys(degree);
    for (let i = 0; i < 2000; i++) {
      const signature = random.bytes(random.below(2 * spec.compressedMax));
      if (signature.length > 0 && i % 2 === 0) signature[0] = 0x30 + spec.logn;
      const key = i % 3 === 0 ? random.bytes(spec.publicKey) : publicKey;
      expect(falcon.verify(signature, random.bytes(8), key)).toBe(false);
    }
  });
});
