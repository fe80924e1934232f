/**
 * Signatures and keys as coefficients, for code that packs them or proves statements about them.
 * Only canonical encodings decode, so re-encoding gives the same bytes.
 */
import { isInt16Array, readBytes } from '../shared/arguments.ts';
import { lengthOf, set, slice } from '../shared/intrinsics.ts';
import { HashState } from './hashState.ts';
import { FALCON_512, FALCON_1024, FORMATS, paramsIn, paramsOf, Q, reasonOf } from './params.ts';
import type { InvalidReason, ParameterSet, Profile, SignatureFormat } from './types.ts';
import { bestModule, type Machine, read, run } from './wasm.ts';

type Bytes = Uint8Array<ArrayBuffer>;
type Coefficients = Int16Array<ArrayBuffer>;

export interface DecodedSignature {
  readonly parameterSet: ParameterSet;
  /** A compressed signature of exactly the padded length counts as compressed. */
  readonly form: SignatureFormat;
  /** 40 bytes. */
  readonly salt: Uint8Array;
  /** n coefficients, at most 2047 in magnitude. */
  readonly s2: Int16Array;
}

/** The polynomials of a verification: n coefficients each, centred. */
export interface OpenedSignature {
  /** The hash of salt and message to a point. */
  readonly c: Coefficients;
  /** c - s2 h mod q: the half that signatures omit. */
  readonly s1: Coefficients;
}

const onMachine = <T>(body: (machine: Machine) => T): T => run(bestModule(), false, body);

const coefficients = ({ memory }: Machine, at: number, n: number): Coefficients =>
  new Int16Array(memory.buffer, at, n);

/** Copies n coefficients in [0, q). */
function residues(
  { memory }: Machine,
  at: number,
  n: number,
  to = new Uint16Array(n),
): Uint16Array<ArrayBuffer> {
  set(to, new Uint16Array(memory.buffer, at, n));
  return to;
}

/** Maximum magnitude of a coefficient of s2. */
const MAX_S2 = 2047;

/**
 * Reduces a hashed point.
 *
 * @param raw the point as the module holds it: not reduced, minus 2^15
 * @returns its coefficients, centred mod q
 */
function centredPoint(raw: Int16Array): Coefficients {
  const c = new Int16Array(raw.length);
  for (let i = 0; i < c.length; i++) {
    const x = (raw[i]! + 2 ** 15) % Q;
    c[i] = x > Q >> 1 ? x - Q : x;
  }
  return c;
}

/**
 * Decodes a detached signature in any format. Its first byte determines the parameter set.
 *
 * @returns its parts, or the reason why it is not a signature
 * @throws TypeError if it is not bytes
 * @example
 * ```ts
 * const decoded = decodeSignature(signature); if (typeof decoded === 'string') throw new
 * Error(decoded); encodeSignature(decoded); // the same bytes as `signature`
 * ```
 */
export function decodeSignature(signature: Uint8Array): DecodedSignature | InvalidReason {
  const input = readBytes('signature', signature);
  if (input.length === 0) return 'signatureLength';
  const logn = signature[0]! & 0x0f;
  if (logn !== 9 && logn !== 10) return 'signatureHeader';
  const { lengths, name } = logn === 9 ? FALCON_512 : FALCON_1024;
  if (input.length > lengths.signatureConstantTime) return 'signatureLength';
  return onMachine((machine) => {
    const { exports, signature: region } = machine;
    input.copyTo(region);
    const status = exports.decodeSignature(logn, input.length);
    const form = FORMATS[status];
    if (form === undefined) return reasonOf(status);
    return {
      parameterSet: name,
      form,
      salt: slice(region, 1, 1 + lengths.salt),
      s2: coefficients(machine, exports.S2.value, 1 << logn).slice(),
    };
  });
}

/**
 * The exact inverse of {@link decodeSignature}.
 *
 * @returns the bytes; undefined if the coefficients do not fit the form
 * @throws TypeError or RangeError if salt or s2 do not have the types and lengths of the parameter
 *   set
 */
export function encodeSignature(decoded: DecodedSignature): Bytes | undefined {
  const { parameterSet, form, salt, s2 } = decoded;
  const { logn, lengths } = paramsOf(parameterSet);
  const inputSalt = readBytes('salt', salt, lengths.salt);
  checkCoefficients('s2', s2, logn);
  const format = FORMATS.indexOf(form);
  if (format < 0) throw new RangeError(`"form" expected one of ${FORMATS.join(', ')}`);
  return onMachine((machine) => {
    const { exports, signature } = machine;
    set(coefficients(machine, exports.S2.value, 1 << logn), s2);
    const length = exports.encodeSignature(logn, format);
    if (length < 0) return undefined;
    inputSalt.copyTo(signature, 1);
    return read(signature, length);
  });
}

/**
 * Decodes a public key.
 *
 * @param to receives the n coefficients; a new array if omitted
 * @returns h in `to`, in [0, q), or the reason why it is not a key of this parameter set
 * @throws TypeError if it is not bytes
 */
export function decodePublicKey(
  parameterSet: ParameterSet,
  publicKey: Uint8Array,
  to?: Uint16Array<ArrayBuffer>,
): Uint16Array<ArrayBuffer> | InvalidReason {
  const { logn, lengths } = paramsOf(parameterSet);
  const input = readBytes('publicKey', publicKey);
  if (input.length !== lengths.publicKey) return 'publicKeyLength';
  return onMachine((machine) => {
    const { exports } = machine;
    input.copyTo(machine.publicKey);
    const status = exports.decodePublicKey(logn);
    if (status !== 0) return reasonOf(status);
    return residues(machine, exports.PRODUCT.value, 1 << logn, to);
  });
}

/**
 * Hashes a salt and a message to a point.
 *
 * @param profile the hash-to-point profile. Default: `round3`
 * @param to receives the n coefficients; a new array if omitted
 * @returns c in `to`, in [0, q)
 * @throws TypeError or RangeError for wrong types, a salt that is not 40 bytes long, or a profile
 *   that the set does not have
 */
export function hashToPoint(
  parameterSet: ParameterSet,
  salt: Uint8Array,
  message: Uint8Array,
  profile: Profile = 'round3',
  to?: Uint16Array<ArrayBuffer>,
): Uint16Array<ArrayBuffer> {
  const { logn, lengths, profileNumber } = paramsIn(profile, parameterSet);
  const inputSalt = readBytes('salt', salt, lengths.salt);
  const input = readBytes('message', message);
  return onMachine((machine) => {
    const { exports, signature } = machine;
    inputSalt.copyTo(signature, 1);
    const messageLength = machine.takeMessage(input, exports.SIG.value + 1);
    exports.hashToPoint(logn, messageLength, profileNumber);
    return residues(machine, exports.POINT.value, 1 << logn, to);
  });
}

/**
 * Computes SHAKE256 of public bytes in WebAssembly. The parts are concatenated.
 *
 * @param length bytes of output, at most 64
 * @throws TypeError if a part is not bytes, RangeError for a length that is not 1 to 64
 */
export function shake256(parts: Iterable<Uint8Array>, length: number): Bytes {
  if (!(Number.isInteger(length) && length >= 1 && length <= 64)) {
    throw new RangeError(`"length" expected 1 to 64, got ${String(length)}`);
  }
  const inputs = Array.from(parts, (part) => readBytes('part', part));
  return onMachine((machine) => {
    const { exports, input, inputSize } = machine;
    const at = exports.IN.value;
    // Gathers small parts, so that the module is called once per 8 kB.
    let gathered = 0;
    const absorb = (): void => {
      exports.hashUpdate(at, gathered);
      gathered = 0;
    };
    exports.hashInit();
    for (const part of inputs) {
      if (part.length > inputSize - gathered) absorb();
      if (part.length > inputSize) {
        machine.hashPieces(part);
      } else {
        part.copyTo(input, gathered);
        gathered += part.length;
      }
    }
    absorb();
    exports.hashSqueeze(at, length);
    return read(input, length);
  });
}

/** Begins a SHAKE256 of public bytes in pieces. `squeeze` ends it, with 1 to 64 bytes. */
export function startShake256(start: Uint8Array): {
  update(bytes: Uint8Array): void;
  squeeze(length: number): Bytes;
} {
  const state = new HashState(bestModule(), readBytes('start', start), false);
  return {
    update: (bytes) => state.update(readBytes('bytes', bytes)),
    squeeze: (length) => state.squeeze(length),
  };
}

/**
 * Computes the half that signatures omit: s1 = c - s2 h mod q, centred. Does not check its norm.
 *
 * @returns s1, n coefficients of at most 6144 in magnitude, or the reason why the key is invalid
 * @throws TypeError or RangeError for wrong types, lengths, or a coefficient of s2 above 2047
 */
export function recoverS1(...of: Parameters<typeof openSignature>): Coefficients | InvalidReason {
  const opened = openSignature(...of);
  return typeof opened === 'string' ? opened : opened.s1;
}

/**
 * Computes s1 as `recoverS1` does, together with the point c, with a single hash.
 *
 * @returns both, or the reason why the key is invalid
 * @throws as `recoverS1`
 */
export function openSignature(
  decoded: Pick<DecodedSignature, 'parameterSet' | 'salt' | 's2'>,
  message: Uint8Array,
  publicKey: Uint8Array,
  profile: Profile = 'round3',
): OpenedSignature | InvalidReason {
  const { parameterSet, salt, s2 } = decoded;
  const { logn, lengths, profileNumber } = paramsIn(profile, parameterSet);
  const inputSalt = readBytes('salt', salt, lengths.salt);
  const input = readBytes('message', message);
  const key = readBytes('publicKey', publicKey);
  checkCoefficients('s2', s2, logn);
  if (s2.some((x) => Math.abs(x) > MAX_S2)) {
    throw new RangeError(`"s2" has a coefficient above ${MAX_S2}`);
  }
  if (key.length !== lengths.publicKey) return 'publicKeyLength';
  return onMachine((machine) => {
    const { exports, signature } = machine;
    const n = 1 << logn;
    key.copyTo(machine.publicKey);
    const status = exports.prepare(logn);
    if (status !== 0) return reasonOf(status);
    inputSalt.copyTo(signature, 1);
    set(coefficients(machine, exports.S2.value, n), s2);
    const messageLength = machine.takeMessage(input, exports.SIG.value + 1);
    exports.recoverS1(logn, messageLength, profileNumber);
    const c = centredPoint(coefficients(machine, exports.POINT.value, n));
    const s1 = coefficients(machine, exports.PRODUCT.value, n).slice();
    return { c, s1 };
  });
}

function checkCoefficients(name: string, value: unknown, logn: number): void {
  if (!isInt16Array(value)) throw new TypeError(`"${name}" expected Int16Array`);
  const length = lengthOf(value);
  if (length !== 1 << logn) {
    throw new RangeError(`"${name}" expected ${1 << logn} coefficients, got ${length}`);
  }
}
