/**
 * Signatures and keys as coefficients: the side door for code that packs or proves things about them.
 * Whatever is decoded here is the one canonical encoding of its content; encoding it again gives the same bytes.
 */
import { abytes } from '../bytes.ts';
import { FALCON_512, FALCON_1024, type FalconParams, FORMATS, Q, REASONS } from './params.ts';
import type { InvalidReason, ParameterSet, SignatureFormat } from './types.ts';
import { bestModule, type Machine, run } from './wasm.ts';

export interface DecodedSignature {
  readonly parameterSet: ParameterSet;
  /** A compressed signature that fills the padded length exactly is called compressed. */
  readonly form: SignatureFormat;
  /** 40 bytes. */
  readonly salt: Uint8Array;
  /** n coefficients, at most 2047 in magnitude. */
  readonly s2: Int16Array;
}

/** What a signature is about: n coefficients each, centred. */
export interface OpenedSignature {
  /** The point that salt and message hash to. */
  readonly c: Int16Array;
  /** c - s2 h mod q: the half that is not sent. */
  readonly s1: Int16Array;
}

const paramsOf = (parameterSet: ParameterSet): FalconParams => {
  if (parameterSet === 'falcon512') return FALCON_512;
  if (parameterSet === 'falcon1024') return FALCON_1024;
  throw new RangeError('"parameterSet" expected "falcon512" or "falcon1024"');
};

const onMachine = <T>(body: (machine: Machine) => T): T => run(bestModule(), false, body);

const coefficients = (machine: Machine, at: number, n: number): Int16Array =>
  new Int16Array(machine.memory.buffer, at, n);

const residues = (machine: Machine, at: number, n: number): Uint16Array =>
  new Uint16Array(machine.memory.buffer, at, n);

/** Largest coefficient of s2. */
const MAX_S2 = 2047;

/** A hashed point as the module has it before it is reduced, less 2^15. @returns its coefficients, centred mod q */
function centredPoint(raw: Int16Array): Int16Array {
  const c = new Int16Array(raw.length);
  for (let i = 0; i < c.length; i++) {
    const x = (raw[i]! + 2 ** 15) % Q;
    c[i] = x > Q >> 1 ? x - Q : x;
  }
  return c;
}

/**
 * Decodes a detached signature of any form; the parameter set is the one that its first byte names.
 *
 * @returns its parts, or why it is not a signature
 * @throws TypeError if it is not bytes
 * @example
 * ```ts
 * const decoded = decodeSignature(signature);
 * if (typeof decoded === 'string') throw new Error(decoded);
 * encodeSignature(decoded); // the same bytes as `signature`
 * ```
 */
export function decodeSignature(signature: Uint8Array): DecodedSignature | InvalidReason {
  abytes('signature', signature);
  const logn = signature[0]! & 0x0f;
  if (logn !== 9 && logn !== 10) {
    return signature.length === 0 ? 'signatureLength' : 'signatureHeader';
  }
  const params = logn === 9 ? FALCON_512 : FALCON_1024;
  const { lengths, name } = params;
  if (signature.length > lengths.signatureConstantTime) return 'signatureLength';
  return onMachine((machine) => {
    const { exports, memory, SIG } = machine;
    memory.set(signature, SIG);
    const form = exports.decodeSignature(logn, signature.length);
    if (form < 0) return REASONS[form]!;
    return {
      parameterSet: name,
      form: FORMATS[form]!,
      salt: signature.slice(1, 1 + lengths.salt),
      s2: coefficients(machine, exports.S2.value, 1 << logn).slice(),
    };
  });
}

/**
 * The exact inverse of {@link decodeSignature}.
 *
 * @returns the bytes; undefined if the coefficients do not fit the form
 * @throws TypeError or RangeError if salt or s2 have not the types and lengths of the parameter set
 */
export function encodeSignature(decoded: DecodedSignature): Uint8Array | undefined {
  const { logn, lengths } = paramsOf(decoded.parameterSet);
  abytes('salt', decoded.salt, lengths.salt);
  checkCoefficients('s2', decoded.s2, logn);
  const format = FORMATS.indexOf(decoded.form);
  if (format < 0) throw new RangeError(`"form" expected one of ${FORMATS.join(', ')}`);
  return onMachine((machine) => {
    const { exports, memory, SIG } = machine;
    coefficients(machine, exports.S2.value, 1 << logn).set(decoded.s2);
    const length = exports.encodeSignature(logn, format);
    if (length < 0) return undefined;
    memory.set(decoded.salt, SIG + 1);
    return machine.read(SIG, length);
  });
}

/**
 * Decodes a public key.
 *
 * @returns h, n coefficients in [0, q), or why it is not a key of this parameter set
 * @throws TypeError if it is not bytes
 */
export function decodePublicKey(
  parameterSet: ParameterSet,
  publicKey: Uint8Array,
): Uint16Array | InvalidReason {
  const { logn, lengths } = paramsOf(parameterSet);
  abytes('publicKey', publicKey);
  if (publicKey.length !== lengths.publicKey) return 'publicKeyLength';
  return onMachine((machine) => {
    const { exports, memory, PK } = machine;
    memory.set(publicKey, PK);
    const status = exports.decodePublicKey(logn);
    if (status < 0) return REASONS[status]!;
    return residues(machine, exports.PRODUCT.value, 1 << logn).slice();
  });
}

/**
 * The point that a salt and a message hash to.
 *
 * @returns c, n coefficients in [0, q)
 * @throws TypeError or RangeError for wrong types or a salt that has not 40 bytes
 */
export function hashToPoint(
  parameterSet: ParameterSet,
  salt: Uint8Array,
  message: Uint8Array,
): Uint16Array {
  const { logn, lengths } = paramsOf(parameterSet);
  abytes('salt', salt, lengths.salt);
  abytes('message', message);
  return onMachine((machine) => {
    const { exports, memory, SIG } = machine;
    memory.set(salt, SIG + 1);
    exports.hashToPoint(logn, machine.takeMessage(message, SIG + 1));
    return residues(machine, exports.POINT.value, 1 << logn).slice();
  });
}

/**
 * SHAKE256 of public bytes, at the speed of the module. The parts are one input: where they are cut makes no difference.
 *
 * @param length bytes of output, at most 64
 * @throws TypeError if a part is not bytes, RangeError for a length that is not 1 to 64
 */
export function shake256(parts: Iterable<Uint8Array>, length: number): Uint8Array {
  if (!(Number.isInteger(length) && length >= 1 && length <= 64)) {
    throw new RangeError(`"length" expected 1 to 64, got ${String(length)}`);
  }
  return onMachine(({ exports, memory, IN, inSize }) => {
    // Small parts are gathered, so that the module is called once for 8 kB.
    let gathered = 0;
    exports.hashInit();
    for (const part of parts) {
      abytes('part', part);
      for (let from = 0; from < part.length; ) {
        const piece = part.subarray(from, from + inSize - gathered);
        memory.set(piece, IN + gathered);
        from += piece.length;
        gathered += piece.length;
        if (gathered === inSize) {
          exports.hashUpdate(IN, gathered);
          gathered = 0;
        }
      }
    }
    exports.hashUpdate(IN, gathered);
    exports.hashSqueeze(IN, length);
    return memory.slice(IN, IN + length);
  });
}

/**
 * The half of a signature that is not sent: s1 = c - s2 h mod q, centred. Says nothing about its norm.
 *
 * @returns s1, n coefficients of at most 6144 in magnitude, or why the key is none
 * @throws TypeError or RangeError for wrong types, lengths, or a coefficient of s2 above 2047
 */
export function recoverS1(...of: Parameters<typeof openSignature>): Int16Array | InvalidReason {
  const opened = openSignature(...of);
  return typeof opened === 'string' ? opened : opened.s1;
}

/**
 * The same, and the point that it comes from: one hash for both.
 *
 * @returns both, or why the key is none
 * @throws as `recoverS1`
 */
export function openSignature(
  decoded: Pick<DecodedSignature, 'parameterSet' | 'salt' | 's2'>,
  message: Uint8Array,
  publicKey: Uint8Array,
): OpenedSignature | InvalidReason {
  const { logn, lengths } = paramsOf(decoded.parameterSet);
  const { salt, s2 } = decoded;
  abytes('salt', salt, lengths.salt);
  abytes('message', message);
  abytes('publicKey', publicKey);
  checkCoefficients('s2', s2, logn);
  for (let i = 0; i < s2.length; i++) {
    if (Math.abs(s2[i]!) > MAX_S2) throw new RangeError(`"s2" has a coefficient above ${MAX_S2}`);
  }
  if (publicKey.length !== lengths.publicKey) return 'publicKeyLength';
  return onMachine((machine) => {
    const { exports, memory, PK, SIG } = machine;
    const n = 1 << logn;
    memory.set(publicKey, PK);
    const status = exports.prepare(logn);
    if (status !== 0) return REASONS[status]!;
    memory.set(salt, SIG + 1);
    coefficients(machine, exports.S2.value, n).set(s2);
    exports.recoverS1(logn, machine.takeMessage(message, SIG + 1));
    const c = centredPoint(coefficients(machine, exports.POINT.value, n));
    const s1 = coefficients(machine, exports.PRODUCT.value, n).slice();
    return { c, s1 };
  });
}

function checkCoefficients(name: string, value: unknown, logn: number): void {
  if (!(value instanceof Int16Array)) throw new TypeError(`"${name}" expected Int16Array`);
  if (value.length !== 1 << logn) {
    throw new RangeError(`"${name}" expected ${1 << logn} coefficients, got ${value.length}`);
  }
}
