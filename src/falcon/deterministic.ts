/**
 * Deterministic Falcon: ordinary signatures with a constant salt, which is omitted.
 *
 *   ordinary        0x30 + logn | salt 40                                  | compressed s2
 *   deterministic   0xb0 + logn | version, the first of the salt's 40 bytes | compressed s2
 *
 * The constant-time form has 0x50 + logn or 0xd0 + logn, and s2 of 12 bits per coefficient. To
 * verify a deterministic signature, the salt is restored and the ordinary signature is verified.
 * There is no padded form.
 */
import { InputBytes, readBytes, readList, readOptions } from '../shared/arguments.ts';
import { CodedError } from '../shared/errors.ts';
import { lengthOf, set, slice, subarray } from '../shared/intrinsics.ts';
import { Batch, type ReadItem, readItems } from './batch.ts';
import type {
  DeterministicInvalidReason,
  DeterministicVerifier,
  InvalidDeterministicItem,
} from './det.ts';
import {
  COMPRESSED,
  FALCON_512,
  FALCON_1024,
  type FalconParams,
  FORMATS,
  PADDED,
  reasonOf,
} from './params.ts';
import { constantSalt, isConstantSalt } from './salts.ts';
import { readPublicKey, verifyOne } from './verify.ts';
import { type Machine, type ModuleName, read, run } from './wasm.ts';

type Bytes = Uint8Array<ArrayBuffer>;
type Reason = DeterministicInvalidReason;
/** Accepted salt versions: index is the version. */
type Accepted = readonly boolean[];

/** The header bit that distinguishes deterministic signatures from ordinary ones. */
const BIT = 0x80;
/** Header of ordinary compressed signatures, without logn. */
const COMPRESSED_HEADER = 0x30;
const HEADERS: readonly number[] = [COMPRESSED_HEADER, 0x50];
/** Bytes of header and salt version. */
const PREFIX = 2;
/** Bytes of header and salt in ordinary signatures. */
const SALTED_PREFIX = 41;
const SHORTER = SALTED_PREFIX - PREFIX;
const CURRENT_VERSION = 0;
const VERSIONS = 256;
const ANY: Accepted = /* @__PURE__ */ new Array<boolean>(VERSIONS).fill(true);

/** Encodings of deterministic signatures. */
const FORMS = /* @__PURE__ */ Object.freeze(['compressed', 'constantTime'] as const);

/** assembly/shared/status.ts: E_SIG_LENGTH */
const TOO_LONG = -4;

/** Number of items whose salts are restored at a time. */
const SLICE = 8192;

/** Creates deterministic Falcon without signing; imports no signing code. */
export function createDeterministicVerifier(
  module: ModuleName,
  params: FalconParams,
): DeterministicVerifier {
  const { lengths } = params;
  const onMachine = <T>(body: (machine: Machine) => T): T => run(module, false, body);
  return Object.freeze({
    lengths: Object.freeze({
      signature: lengths.signature - SHORTER,
      signatureConstantTime: lengths.signatureConstantTime - SHORTER,
    }),
    verify(signature, message, publicKey, options) {
      const input = readBytes('signature', signature);
      const signed = readBytes('message', message);
      const key = readPublicKey('publicKey', params, publicKey);
      const salted = withSalt(params, input, readAccepted(options));
      if (typeof salted === 'string') return false;
      const ordinary = new InputBytes('signature', salted);
      return onMachine(
        (machine) => verifyOne(machine, params, ordinary, signed, key) === undefined,
      );
    },
    verifyBatch(items, options) {
      const all = readItems(items, params);
      const accepted = readAccepted(options);
      return onMachine((machine) => judgeItems(machine, params, all, accepted));
    },
    saltVersion: (signature) => readSalted(params, signature)[1]!,
    convert(signature, format) {
      const salted = readSalted(params, signature);
      const number = readForm(format);
      const recoded = onMachine((machine) => recode(machine, params, salted, number));
      return withoutSalt(accept(params, recoded));
    },
    toRound3(signature, noOptions) {
      const salted = readSalted(params, signature);
      readOptions(noOptions, []);
      return accept(
        params,
        onMachine((machine) => recode(machine, params, salted)),
      );
    },
    fromRound3(signature, noOptions) {
      const input = readBytes('signature', signature);
      readOptions(noOptions, []);
      const compacted = onMachine((machine) => compact(machine, params, input));
      return withoutSalt(accept(params, compacted));
    },
  } satisfies DeterministicVerifier);
}

/**
 * Reads the name of an encoding.
 *
 * @returns the module's number of the encoding
 * @throws RangeError for an unknown one, or one that deterministic Falcon does not have
 */
export function readForm(form: unknown): number {
  if ((FORMS as readonly unknown[]).includes(form)) return FORMATS.indexOf(form as 'compressed');
  throw new RangeError(`"format" expected one of ${FORMS.join(', ')}`);
}

/** @throws TypeError for unknown options; RangeError for invalid versions or an empty list */
function readAccepted(options: unknown): Accepted {
  const { saltVersions = [CURRENT_VERSION] } = readOptions(options, ['saltVersions']);
  if (saltVersions === 'any') return ANY;
  const versions = readList('saltVersions', saltVersions, VERSIONS, (version) => {
    if (Number.isInteger(version) && (version as number) >= 0 && (version as number) < VERSIONS) {
      return version as number;
    }
    throw new RangeError('"saltVersions" expected integers from 0 to 255');
  });
  if (versions.length === 0) throw new RangeError('"saltVersions" has no elements');
  return ANY.map((_, version) => versions.includes(version));
}

/**
 * Restores the salt.
 *
 * @param input read once
 * @returns the ordinary signature, its coefficients not yet checked; or the reason why it is
 *   invalid
 */
function withSalt(params: FalconParams, input: InputBytes, accepted: Accepted): Bytes | Reason {
  const { name, logn, lengths } = params;
  if (input.length <= PREFIX || input.length > lengths.signatureConstantTime - SHORTER) {
    return 'signatureLength';
  }
  const bytes = input.copy();
  const header = bytes[0]! ^ BIT;
  const version = bytes[1]!;
  if (!HEADERS.includes(header - logn)) return 'signatureHeader';
  if (!accepted[version]) return 'saltVersion';
  // The last byte of a compressed signature holds its last 1 bit. A zero byte is padding.
  if (header === COMPRESSED_HEADER + logn && bytes[input.length - 1] === 0) {
    return 'signatureLength';
  }
  const salted = new Uint8Array(input.length + SHORTER);
  salted[0] = header;
  set(salted, constantSalt(version, name), 1);
  set(salted, subarray(bytes, PREFIX, input.length), SALTED_PREFIX);
  return salted;
}

/** Removes the constant salt from an ordinary signature. */
export function withoutSalt(salted: Bytes): Bytes {
  const signature = slice(salted, SHORTER, lengthOf(salted));
  signature[0] = salted[0]! | BIT;
  signature[1] = salted[1]!;
  return signature;
}

/**
 * Converts a deterministic signature, of either parameter set and any salt version, to the ordinary
 * one. Does not check the coefficients.
 *
 * @param signature bytes that do not change during the call
 * @returns the ordinary signature; the same bytes if they do not start like a deterministic
 *   signature, or are padded
 */
export function toOrdinary(signature: Uint8Array): Uint8Array {
  const params = [FALCON_512, FALCON_1024].find(({ logn }) =>
    HEADERS.some((header) => signature[0] === BIT + header + logn),
  );
  if (params === undefined) return signature;
  const salted = withSalt(params, new InputBytes('signature', signature), ANY);
  return typeof salted === 'string' ? signature : salted;
}

/** @throws TypeError if it is not bytes; CodedError `INVALID_SIGNATURES` */
function readSalted(params: FalconParams, signature: unknown): Bytes {
  return accept(params, withSalt(params, readBytes('signature', signature), ANY));
}

/** @throws CodedError `INVALID_SIGNATURES` if the result is a reason */
function accept({ name }: FalconParams, result: Bytes | Reason): Bytes {
  if (typeof result !== 'string') return result;
  throw new CodedError('INVALID_SIGNATURES', {
    message: `"signature" is not a deterministic signature of ${name}: ${result}`,
  });
}

/** Like `Batch`, for items without salts. */
function judgeItems(
  machine: Machine,
  params: FalconParams,
  items: readonly ReadItem[],
  accepted: Accepted,
): InvalidDeterministicItem[] {
  const invalidItems: InvalidDeterministicItem[] = [];
  const slices = Array.from({ length: Math.ceil(items.length / SLICE) }, (_, i) => i * SLICE);
  for (const from of slices) {
    const part: ReadItem[] = [];
    const indices: number[] = [];
    for (const [i, item] of items.slice(from, from + SLICE).entries()) {
      const index = from + i;
      const salted = withSalt(params, new InputBytes('signature', item.signature), accepted);
      if (typeof salted === 'string') {
        invalidItems.push({ index, reason: salted });
      } else {
        part.push({ ...item, signature: salted });
        indices.push(index);
      }
    }
    for (const { index, reason } of new Batch(machine, params, part).run()) {
      invalidItems.push({ index: indices[index]!, reason });
    }
  }
  return invalidItems.sort((a, b) => a.index - b.index);
}

/**
 * Encodes an ordinary signature in another format; the salt stays the same.
 *
 * @param format the module's number of the format. Default: that of the signature
 * @returns the signature; or the reason if it is not canonical, or too long for the format
 */
function recode(
  machine: Machine,
  params: FalconParams,
  salted: Bytes,
  format?: number,
): Bytes | Reason {
  const { exports, signature } = machine;
  set(signature, salted);
  const form = exports.decodeSignature(params.logn, lengthOf(salted));
  if (FORMATS[form] === undefined) return reasonOf(form);
  const length = exports.encodeSignature(params.logn, format ?? form);
  return length === TOO_LONG ? reasonOf(length) : read(signature, length);
}

/**
 * Converts an ordinary signature to an encoding that deterministic Falcon has.
 *
 * @returns the signature; or the reason if it is not canonical, or its salt is not constant
 */
function compact(machine: Machine, params: FalconParams, input: InputBytes): Bytes | Reason {
  const { exports, signature } = machine;
  const { name, logn, lengths } = params;
  if (input.length > lengths.signatureConstantTime) return 'signatureLength';
  input.copyTo(signature);
  const form = exports.decodeSignature(logn, input.length);
  if (FORMATS[form] === undefined) return reasonOf(form);
  if (!isConstantSalt(slice(signature, 1, SALTED_PREFIX), name)) return 'saltVersion';
  return read(signature, exports.encodeSignature(logn, form === PADDED ? COMPRESSED : form));
}
