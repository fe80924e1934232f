/** Signatures in other implementations' formats: without header byte, and NIST's `sm`. */
import { copyBytes, InputBytes, readOptions } from '../../shared/arguments.ts';
import { concat } from '../../shared/bytes.ts';
import { seal, unseal } from '../attached.ts';
import type { ParameterSet } from '../index.ts';
import { FALCON_512, FALCON_1024, type FalconParams, paramsOf } from '../params.ts';
import { badKey } from './forms.ts';
import { HEX_TEXT, isHexText, symptomOf } from './symptoms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The header byte of compressed and padded signatures (Falcon, 3.11.3). */
const headerOf = ({ logn }: FalconParams): number => 0x30 + logn;

/**
 * Removes zero padding. The last byte of a compressed signature holds the end of a coefficient and
 * is not zero.
 */
function trimmed(bytes: Bytes): Bytes {
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
}

/**
 * Removes the header byte: salt ‖ s2, as TRON's precompiled contract accepts it.
 *
 * @param signature compressed or padded
 * @param options `length`: pad with zeros to this many bytes (TRON: 666). Default: no padding
 * @throws RangeError if it is not compressed or padded, or longer than `length`; TypeError
 */
export function toBareSignature(
  signature: Uint8Array,
  options?: { readonly length?: number },
): Bytes {
  const { length } = readOptions(options, ['length']);
  const bare = trimmed(readHeaded(signature).bytes).slice(1);
  if (length === undefined) return bare;
  if (
    !Number.isSafeInteger(length) ||
    (length as number) < bare.length ||
    (length as number) > 4096
  ) {
    throw new RangeError(`"length" expected ${bare.length} to 4096`);
  }
  return concat(bare, new Uint8Array((length as number) - bare.length));
}

/**
 * Restores the compressed signature from one without header byte; removes zeros at its end.
 *
 * Does not verify the result.
 *
 * @param bare salt ‖ s2
 * @throws RangeError if it is longer than any signature, or for an unknown parameter set; TypeError
 */
export function fromBareSignature(bare: Uint8Array, parameterSet: ParameterSet): Bytes {
  const params = paramsOf(parameterSet);
  const bytes = copyBytes('bare', bare);
  if (isHexText(bytes)) throw new RangeError(`"bare" is no signature${HEX_TEXT}`);
  if (bytes.length > 4096) throw new RangeError('"bare" expected at most 4096 bytes');
  return concat(Uint8Array.of(headerOf(params)), trimmed(bytes));
}

/** A separate signature and message. */
export interface AttachedParts {
  readonly parameterSet: ParameterSet;
  /** Compressed, as `verify` accepts it. */
  readonly signature: Bytes;
  readonly message: Bytes;
}

/**
 * Splits NIST's `sm` (crypto_sign of the round-3 submission): the length of the last part in two
 * bytes, salt, message, 0x29 or 0x2a ‖ compressed s2. Verifies nothing: verify the signature, or
 * use `attached.open`, which does both.
 *
 * @throws CodedError `BAD_KEY` if it has no such frame; TypeError
 */
export function splitAttached(sealed: Uint8Array): AttachedParts {
  // A copy, so that both reads see the same bytes.
  const input = new InputBytes('sealed', copyBytes('sealed', sealed));
  for (const params of [FALCON_512, FALCON_1024]) {
    const parts = unseal(params, input);
    if (parts !== undefined) return { parameterSet: params.name, ...parts };
  }
  const what = `it is not a signature attached to a message${symptomOf(input.copy())}`;
  throw badKey('sm', what);
}

/**
 * Joins message and signature into NIST's `sm`.
 *
 * @param signature compressed or padded
 * @throws RangeError if it is neither; TypeError
 */
export function joinAttached(message: Uint8Array, signature: Uint8Array): Bytes {
  const { params, bytes } = readHeaded(signature);
  return seal(params, copyBytes('message', message), trimmed(bytes));
}

function readHeaded(signature: Uint8Array): { params: FalconParams; bytes: Bytes } {
  const bytes = copyBytes('signature', signature);
  const { length } = bytes;
  if (length <= FALCON_512.lengths.salt + 1 || length > FALCON_1024.lengths.signature) {
    const isFilled = bytes[length - 1] === 0;
    const why = isFilled ? ': zeros are at its end, to be cut off' : symptomOf(bytes);
    throw new RangeError(`"signature" has ${length} bytes${why}`);
  }
  const params = [FALCON_512, FALCON_1024].find((each) => bytes[0] === headerOf(each));
  if (params !== undefined) return { params, bytes };
  throw new RangeError(`"signature" is not compressed or padded${symptomOf(bytes)}`);
}
