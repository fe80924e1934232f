/**
 * Algorand's accounts against the known answers of go-algorand (data/basics/pq_address_test.go and
 * cmd/algokey at dd6de88) and of js-algorand-sdk (tests/pq_test_data).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isEdwardsPoint } from '../../../../src/falcon/compat/algorand/edwards25519.ts';
import {
  accountFromEntropy,
  accountFromMnemonic,
  algorandAddress,
  bytesToSign,
  decodeAddress,
  encodeAddress,
  entropyOf,
  falcon1024Signer,
  mnemonicOf,
  type PqSignature,
  programToSign,
  verifyPqDelegation,
  verifyPqSignature,
} from '../../../../src/falcon/compat/algorand/index.ts';
import { WORDS } from '../../../../src/falcon/compat/algorand/wordTables.ts';
import { falcon1024 } from '../../../../src/falcon/index.ts';

const fromBase64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const flip = (bytes: Uint8Array, at: number) => bytes.map((b, i) => (i === at ? b ^ 1 : b));
const VECTOR = JSON.parse(
  readFileSync(new URL('../../../vectors/algorand/pqPayment.json', import.meta.url), 'utf8'),
) as Record<'id' | 'sk' | 'sender' | 'sigStart' | 'sigEnd' | 'txn', string> & { slt: number };
const ZERO_WORDS = `${'abandon '.repeat(24)}invest`;

describe('points of Edwards25519', () => {
  const littleEndian = (value: bigint) =>
    Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
  const P = 2n ** 255n - 19n;
  const SIGN = 2n ** 255n;

  test.each<[string, bigint, boolean]>([
    // RFC 8032, section 5.1: the base point has y = 4/5
    [
      'the base point',
      46316835694926478169428394003475163141307993866256225615783033603165251855960n,
      true,
    ],
    ['y = 1, the neutral element', 1n, true],
    ['y = 1 with the sign of x set', 1n + SIGN, true],
    ['y = -1, of order 2', P - 1n, true],
    ['y = 0, of order 4', 0n, true],
    ['y = p, which is 0 written otherwise', P, true],
    ['y = p + 1, which is 1 written otherwise', P + 1n, true],
    ['y = 2, for which there is no x', 2n, false],
    ['y = p + 2, the same written otherwise', P + 2n, false],
    ['y = 2 with the sign of x set', 2n + SIGN, false],
  ])('%s', (_, encoded, expected) => {
    expect(isEdwardsPoint(littleEndian(encoded))).toBe(expected);
  });

  test('every Ed25519 public key is one', () => {
    // Test 1 to 3 of RFC 8032, section 7.1
    for (const key of [
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    ]) {
      expect(isEdwardsPoint(new Uint8Array(Buffer.from(key, 'hex')))).toBe(true);
    }
  });
});

describe('addresses', () => {
  test.each([
    [3, 0, 'KJGJA2DTCQH6LT2I2OH2YO5GIIBFC6JHX5O6UPA5ZZ5ZURFT3LHKMTRCEM', true],
    [1, 1, 'GYBWVYVQIQF6CO7BUMG4UQ66DQYHASFOCA2P7PBYOIPKGWUZIBX4KA3TP4', true],
    [0, 255, 'YJFADDEP6Z3WAWY6ZMLN6MF4T4NK3BXKCVLPCYB6C4SQHE76LLQSZ5JG7Q', true],
    [2, 2, 'II4DO6IIP3EAEQMWJEOLOUU3VBRVCH3WF4MX6UCRUD36DOQJ3YSHA2DV5A', true],
    [255, 255, '3JXWI6BYYEO6WO6M7TC4SOZAZUWAD4RQO5GJ2ED6MYIEVVLOVJOETMGG4A', true],
    [1, 0, 'FLX4VRWXQ65HD5G5BI2EPHJWMERHA2EBBQ7XMTZLATXH4XEOWPQSIYVIF4', false],
  ])('of go-algorand: seed %i, salt %i', (first, salt, text, isOffCurve) => {
    const seed = new Uint8Array(32);
    seed[0] = first;
    const { publicKey } = falcon1024.keygen(seed);
    const { address, bytes } = algorandAddress(publicKey, salt);
    expect(address).toBe(text);
    expect(decodeAddress(address)).toEqual(bytes);
    expect(isEdwardsPoint(bytes)).toBe(!isOffCurve);
  });

  test('the canonical salt is the first whose address is no point', () => {
    const canonical = [0, 1, 2, 3].map((first) => {
      const seed = new Uint8Array(32);
      seed[0] = first;
      const { publicKey } = falcon1024.keygen(seed);
      const { salt, bytes } = algorandAddress(publicKey);
      expect(isEdwardsPoint(bytes)).toBe(false);
      for (let lower = 0; lower < salt; lower++) {
        expect(isEdwardsPoint(algorandAddress(publicKey, lower).bytes)).toBe(true);
      }
      return salt;
    });
    expect(canonical[1]).toBe(1); // go-algorand's
    expect(canonical[3]).toBe(0);
  });

  test('text and bytes, any of them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        expect(decodeAddress(encodeAddress(bytes))).toEqual(new Uint8Array(bytes));
      }),
      { numRuns: 100 },
    );
    // The zero address, in every SDK.
    expect(encodeAddress(new Uint8Array(32))).toBe(`${'A'.repeat(52)}Y5HFKQ`);
  });

  test.each([
    ['empty', ''],
    ['short', VECTOR.sender.slice(1)],
    ['long', `${VECTOR.sender}A`],
    ['in small letters', VECTOR.sender.toLowerCase()],
    ['with a digit 1', VECTOR.sender.replace('A', '1')],
    ['with another checksum', `${VECTOR.sender.slice(0, -2)}AA`],
    ['with another letter', VECTOR.sender.replace('A', 'B')],
    ['with a 1 for its 7', encodeAddress(new Uint8Array(32).fill(255)).replace('7', '1')],
    ['with bits that belong to no byte', VECTOR.sender.replace(/.$/, 'Z')],
  ])('text that is %s is refused', (_, text) => {
    expect(() => decodeAddress(text)).toThrow(RangeError);
  });

  test('a caller’s mistakes', () => {
    const { publicKey } = falcon1024.keygen(new Uint8Array(32));
    for (const salt of [-1, 256, 0.5, '0']) {
      expect(() => algorandAddress(publicKey, salt as never)).toThrow(RangeError);
    }
    expect(() => algorandAddress(publicKey.slice(1))).toThrow(RangeError);
    expect(() => algorandAddress(publicKey.map((b, i) => (i ? 0xff : b)))).toThrow(RangeError);
    expect(() => algorandAddress('key' as never)).toThrow(TypeError);
    expect(() => decodeAddress(5 as never)).toThrow(TypeError);
    expect(() => encodeAddress(new Uint8Array(31))).toThrow(RangeError);
  });
});

describe('mnemonics', () => {
  test('the words are those of BIP-39', () => {
    expect(WORDS.length).toBe(2048);
    const hash = createHash('sha256')
      .update(`${WORDS.join('\n')}\n`)
      .digest('hex');
    expect(hash).toBe('2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda');
  });

  test('zeros, as in js-algorand-sdk', () => {
    expect(mnemonicOf(new Uint8Array(32))).toBe(ZERO_WORDS);
    expect(entropyOf(ZERO_WORDS)).toEqual(new Uint8Array(32));
  });

  test('any 32 bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (entropy) => {
        const words = mnemonicOf(entropy);
        expect(words.split(' ').length).toBe(25);
        expect(entropyOf(` ${words.toUpperCase().replaceAll(' ', '\n')} `)).toEqual(
          new Uint8Array(entropy),
        );
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['24 words', ZERO_WORDS.replace('abandon ', ''), /expected 25 words, got 24/],
    ['no word', '', /got 1/],
    ['a word that is none', ZERO_WORDS.replace('abandon', 'abandom'), /^word 1 of/],
    ['another checksum', ZERO_WORDS.replace('invest', 'invite'), /checksum/],
    ['another word', ZERO_WORDS.replace('abandon', 'ability'), /checksum/],
  ])('%s: refused', (_, words, what) => {
    expect(() => entropyOf(words)).toThrow(RangeError);
    expect(() => entropyOf(words)).toThrow(what);
  });

  test('the eight bits that belong to no byte are zero', () => {
    // Word 24 holds 3 bits of the last byte; the value 8 sets the bit above them.
    const words = ZERO_WORDS.split(' ');
    words[23] = WORDS[8]!;
    expect(() => entropyOf(words.join(' '))).toThrow(/checksum/);
  });

  test('errors name no word', () => {
    try {
      entropyOf(ZERO_WORDS.replace('abandon', 'mysecret'));
    } catch (error) {
      expect((error as Error).message).not.toContain('mysecret');
    }
    expect(() => entropyOf(5 as never)).toThrow(new TypeError('"mnemonic" expected a string'));
    expect(() => mnemonicOf(new Uint8Array(31))).toThrow(RangeError);
  });
});

describe('accounts', () => {
  test('of 25 words, as in js-algorand-sdk', () => {
    const { address, salt, publicKey, secretKey } = accountFromMnemonic(ZERO_WORDS);
    expect(address).toBe('UGEDBJQD4LZF6OMFQDQ3BLY6CRX36Y75AZPDKJ3TTRU4TOGJ36EL34CWRI');
    expect(salt).toBe(0);
    const text = Buffer.from(publicKey).toString('base64');
    expect(text.slice(0, 48)).toBe('CpVKrhDXWlYOlB+L6hWQHh0OEiEs/gSptLZOJe5NVFuaucrN');
    expect(text.slice(-20)).toBe('izLSdqya/UYAEIi+VFo=');
    expect(falcon1024.getPublicKey(secretKey)).toEqual(publicKey);
  });

  test('of entropy, as in algokey', () => {
    const entropy = Uint8Array.from({ length: 32 }, (_, i) => i + 1);
    expect(accountFromEntropy(entropy).address).toBe(
      'ZEJ4BLG3XWAUUZQGCEDJLYIC6D2NCWHRSX5DJMDPE54PXXR7G3PCQTARXU',
    );
    expect(() => accountFromEntropy(entropy.slice(1))).toThrow(RangeError);
    expect(() => accountFromEntropy('x' as never)).toThrow(TypeError);
  });
});

describe('signatures', () => {
  const secretKey = fromBase64(VECTOR.sk);
  const transaction = fromBase64(VECTOR.txn);
  const signer = falcon1024Signer(secretKey);
  const pk = signer.falcon1024PublicKey;
  const sch = new TextEncoder().encode('f1');
  const sign = (message: Uint8Array) => falcon1024.det.sign(message, secretKey);
  const good: PqSignature = { sch, slt: VECTOR.slt, pk, sig: sign(bytesToSign(transaction)) };

  test('the signer gives the signature of js-algorand-sdk’s vector', async () => {
    expect(algorandAddress(pk)).toMatchObject({ address: VECTOR.sender, salt: VECTOR.slt });
    const signature = await signer.falcon1024Signer(bytesToSign(transaction));
    const text = Buffer.from(signature).toString('base64');
    expect(text.slice(0, VECTOR.sigStart.length)).toBe(VECTOR.sigStart);
    expect(text.slice(-VECTOR.sigEnd.length)).toBe(VECTOR.sigEnd);
    expect(verifyPqSignature({ ...good, sig: signature }, transaction, VECTOR.sender)).toBe(true);
  });

  test('what is signed is "TX" and the transaction; before July 2026 it was the id', () => {
    expect(hex(bytesToSign(transaction).subarray(0, 2))).toBe('5458');
    const id = bytesToSign(transaction, 'transactionId');
    expect(encodeAddress(id).slice(0, 51)).toBe(VECTOR.id.slice(0, 51));
    const old = { ...good, sig: sign(id) };
    const options = { signed: 'transactionId' } as const;
    expect(verifyPqSignature(old, transaction, VECTOR.sender, options)).toBe(true);
    expect(verifyPqSignature(old, transaction, VECTOR.sender)).toBe(false);
    expect(verifyPqSignature(good, transaction, VECTOR.sender, options)).toBe(false);
  });

  test('the address in bytes, and a salt byte of 0 left out', () => {
    expect(verifyPqSignature(good, transaction, decodeAddress(VECTOR.sender))).toBe(true);
    const { address } = algorandAddress(pk, 0);
    const { slt: _, ...others } = good;
    expect(verifyPqSignature(others, transaction, address)).toBe(true);
    expect(verifyPqSignature(others, transaction, VECTOR.sender)).toBe(false);
  });

  test('every salt byte, and no other number', () => {
    for (const salt of [0, 255]) {
      const { address } = algorandAddress(pk, salt);
      expect(verifyPqSignature({ ...good, slt: salt }, transaction, address)).toBe(true);
      for (const slt of [salt - 256, salt + 256, salt + 0.5]) {
        expect(verifyPqSignature({ ...good, slt }, transaction, address), `${slt}`).toBe(false);
      }
    }
  });

  test('a program that an account delegates to', () => {
    const program = Uint8Array.of(12, 129, 1);
    const message = programToSign(VECTOR.sender, program);
    expect(hex(message)).toBe(
      hex(Buffer.concat([Buffer.from('PQProgram'), decodeAddress(VECTOR.sender), program])),
    );
    const delegation = { ...good, sig: sign(message) };
    expect(verifyPqDelegation(delegation, program, VECTOR.sender)).toBe(true);
    expect(verifyPqDelegation(delegation, flip(program, 1), VECTOR.sender)).toBe(false);
    expect(verifyPqDelegation(good, program, VECTOR.sender)).toBe(false);
    expect(verifyPqSignature(delegation, program, VECTOR.sender)).toBe(false);
  });

  const constantTime = falcon1024.det.convert(good.sig, 'constantTime');
  test.each<[string, object]>([
    ['another scheme', { sch: new TextEncoder().encode('f5') }],
    ['a scheme of three bytes', { sch: new TextEncoder().encode('f1 ') }],
    ['another salt byte', { slt: 4 }],
    ['a salt byte of 256 more', { slt: VECTOR.slt + 256 }],
    ['a salt byte that is none', { slt: -1 }],
    ['a salt byte that is no whole number', { slt: VECTOR.slt + 0.5 }],
    ['a salt byte that is no number', { slt: Number.NaN }],
    ['another key', { pk: flip(pk, 1000) }],
    ['a key of another length', { pk: pk.slice(1) }],
    ['no key', { pk: undefined }],
    ['no scheme', { sch: undefined }],
    ['a changed signature', { sig: flip(good.sig, 700) }],
    ['another salt version', { sig: flip(good.sig, 1) }],
    ['the constant-time form', { sig: constantTime }],
    ['an ordinary signature', { sig: falcon1024.det.toRound3(good.sig) }],
    ['bytes behind the signature', { sig: Uint8Array.of(...good.sig, 0) }],
    ['an empty signature', { sig: new Uint8Array(0) }],
    ['no signature', { sig: undefined }],
  ])('%s: false', (_, change) => {
    const changed = { ...good, ...change } as PqSignature;
    expect(verifyPqSignature(changed, transaction, VECTOR.sender)).toBe(false);
  });

  const ofIndexer = { scheme: 'f1', salt: VECTOR.slt, publicKey: pk, signature: good.sig };
  /** The SDK's model: an instance of a class, with more members. */
  class Model {
    constructor(fields: object) {
      Object.assign(this, fields, { unknown: 1 });
    }
  }
  test('the object of algosdk’s indexer', () => {
    const verify = (change: object, address = VECTOR.sender) =>
      verifyPqSignature(new Model({ ...ofIndexer, ...change }) as never, transaction, address);
    expect(verify({})).toBe(true);
    expect(verify({ salt: BigInt(VECTOR.slt) })).toBe(true);
    expect(verify({ scheme: sch })).toBe(true);
    expect(verify({ salt: undefined }, algorandAddress(pk, 0).address)).toBe(true);
    for (const change of [
      ...[{ scheme: 'f5' }, { scheme: 'f1 ' }, { scheme: '' }, { scheme: undefined }],
      ...[{ salt: 256n + BigInt(VECTOR.slt) }, { salt: -1n }, { salt: undefined }],
      ...[{ publicKey: undefined }, { signature: undefined }, { signature: flip(good.sig, 700) }],
      { publicKey: flip(pk, 1000) },
    ]) {
      expect(verify(change), JSON.stringify(Object.keys(change))).toBe(false);
    }
  });

  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const ofJson = { scheme: 'f1', salt: VECTOR.slt, 'public-key': base64(pk) };
  test.each<[string, unknown, RegExp]>([
    [
      'the indexer’s JSON',
      { ...ofJson, signature: base64(good.sig) },
      /signature" expected Uint8A/,
    ],
    ['JSON of the field', { ...good, sch: 'ZjE=' }, /"pqsig\.sch" expected Uint8Array, got string/],
    ['a scheme in text', { ...good, sch: 'f1' }, /"pqsig\.sch" expected Uint8Array, got string/],
    ['a key in text', { ...ofIndexer, publicKey: base64(pk) }, /publicKey" expected.*got string/],
    ['a salt byte in text', { ...good, slt: '3' }, /"pqsig\.slt" expected a number, got string/],
    ['a salt byte of null', { ...good, slt: null }, /slt" expected a number, got null/],
    ['a number for a signature', { ...good, sig: 5 }, /"pqsig\.sig" expected.*got number/],
    ['a list of numbers', { ...good, sig: [...good.sig] }, /got array \(convert it/],
    ['a scheme of null', { ...ofIndexer, scheme: null }, /scheme" expected Uint8Array, got null/],
    ['a Map', new Map(Object.entries(good)), /expected sch, pk and sig, got Map without them/],
    ['an empty object', {}, /got object without them/],
    ['inherited members', Object.create(good), /got object without them/],
    ['the signature around it', { pqsig: good }, /got object without them/],
    ['a promise', Promise.resolve(good), /got Promise \(await it\)/],
    ['text', JSON.stringify(good), /expected an object, got string/],
    ['nothing', null, /expected an object, got null/],
  ])('%s: a TypeError', (_, value, what) => {
    for (const call of [
      () => verifyPqSignature(value as PqSignature, transaction, VECTOR.sender),
      () => verifyPqDelegation(value as PqSignature, transaction, VECTOR.sender),
    ]) {
      expect(call).toThrow(TypeError);
      expect(call).toThrow(what);
    }
  });

  test('members count that are its own', () => {
    const { sig, ...rest } = good;
    const inherited = Object.assign(Object.create({ sig }), rest) as PqSignature;
    expect(verifyPqSignature({ ...inherited, sig }, transaction, VECTOR.sender)).toBe(true);
    expect(verifyPqSignature(inherited, transaction, VECTOR.sender)).toBe(false);
  });

  test('every byte of the address counts', () => {
    const address = decodeAddress(VECTOR.sender);
    expect(verifyPqSignature(good, transaction, address)).toBe(true);
    for (let at = 0; at < 32; at++) {
      expect(verifyPqSignature(good, transaction, flip(address, at)), `${at}`).toBe(false);
    }
  });

  test('a delegation of before July 2026: the hash of the program', () => {
    const program = Uint8Array.of(12, 129, 1);
    const message = programToSign(VECTOR.sender, program, 'programHash');
    const whole = programToSign(VECTOR.sender, program);
    expect(hex(message)).toBe(createHash('sha512-256').update(whole).digest('hex'));
    const old = { ...good, sig: sign(message) };
    const verify = (pqsig: PqSignature, signed?: unknown) =>
      verifyPqDelegation(pqsig, program, VECTOR.sender, { signed } as never);
    expect(verify(old, 'programHash')).toBe(true);
    expect(verify(old)).toBe(false);
    expect(verify(old, 'program')).toBe(false);
    const recent = { ...good, sig: sign(whole) };
    expect(verify(recent, 'program')).toBe(true);
    expect(verify(recent, 'programHash')).toBe(false);
    for (const signed of ['hash', null, 'transactionId']) {
      expect(() => verify(recent, signed)).toThrow(RangeError);
      expect(() => programToSign(VECTOR.sender, program, signed as never)).toThrow(RangeError);
    }
    expect(() => verifyPqDelegation(old, program, VECTOR.sender, null as never)).toThrow(TypeError);
  });

  test('another transaction or authorizer: false', () => {
    expect(verifyPqSignature(good, transaction, VECTOR.sender)).toBe(true);
    expect(verifyPqSignature(good, flip(transaction, 9), VECTOR.sender)).toBe(false);
    const { address } = algorandAddress(pk, 5);
    expect(verifyPqSignature(good, transaction, address)).toBe(false);
  });

  test('a caller’s mistakes throw', async () => {
    const verify = verifyPqSignature as (...args: unknown[]) => boolean;
    for (const pqsig of [null, undefined, 'x']) {
      expect(() => verify(pqsig, transaction, VECTOR.sender)).toThrow(/expected an object, got/);
    }
    expect(() => verify(good, VECTOR.txn, VECTOR.sender)).toThrow(TypeError);
    expect(() => verify(good, transaction, 'ADDRESS')).toThrow(RangeError);
    expect(() => verify(good, transaction, new Uint8Array(31))).toThrow(RangeError);
    expect(() => verify(good, transaction, VECTOR.sender, { signed: 'id' })).toThrow(RangeError);
    expect(() => verify(good, transaction, VECTOR.sender, { strict: true })).toThrow(TypeError);
    expect(() => falcon1024Signer(secretKey.slice(1))).toThrow(RangeError);
    await expect(signer.falcon1024Signer('TX' as never)).rejects.toThrow(TypeError);
  });

  test('a signer that was destroyed signs nothing', async () => {
    const other = falcon1024Signer(secretKey);
    other.destroy();
    other.destroy();
    await expect(other.falcon1024Signer(transaction)).rejects.toThrow(TypeError);
  });
});
