/**
 * The bundle, format 1: its body holds the coefficients of every s2 and is therefore lossless.
 *
 *   header ‖ coded s2 of the Falcon-512 items ‖ coded s2 of the Falcon-1024 items
 *
 * A section holds its items in the caller's order, without separators, and is omitted if the batch
 * has no item of that set. The coder needs no end marker (see gaussianCoder.ts), so no length is
 * written and trailing bytes are rejected. The check words are a hash of the header, so damage to
 * the header alone cannot turn one valid bundle into another.
 */
import type { ParameterSet } from '../falcon/index.ts';
import { paramsOf } from '../falcon/params.ts';
import {
  type DecodedSignature,
  decodeSignature,
  encodeSignature,
  shake256,
} from '../falcon/points.ts';
import { SALT_BYTES } from '../falcon/salts.ts';
import { ascii, concat } from '../shared/bytes.ts';
import type { VerifiedBatch } from './batch.ts';
import { encodeHeader, formOfKind, kindOf, type ParsedHeader, setOfKind } from './container.ts';
import { type CheckWords, decodeCoefficients, encodeCoefficients } from './gaussianCoder.ts';

const CHECK_LABEL = ascii('falconry bundle v2');

/** The sections, in order. */
const SECTIONS: readonly { readonly set: ParameterSet; readonly n: number }[] = Object.freeze([
  { set: 'falcon512', n: 512 },
  { set: 'falcon1024', n: 1024 },
]);

/** Returns the unique encoding of a batch. */
export function encodeBundle({
  signatures,
  statement,
  profile,
  salts,
}: VerifiedBatch): Uint8Array<ArrayBuffer> {
  const kinds = Uint8Array.from(signatures, (s) => kindOf(s.parameterSet, s.form));
  const header = encodeHeader({ format: 'bundle', statement, kinds, profile, salts });
  const check = checkWords(header);
  const sections = SECTIONS.map(({ set, n }) => {
    const members = signatures.filter((s) => s.parameterSet === set);
    if (members.length === 0) return new Uint8Array(0);
    const values = new Int16Array(n * members.length);
    for (const [i, member] of members.entries()) values.set(member.s2, n * i);
    return encodeCoefficients(set, values, check);
  });
  return concat(header, ...sections);
}

/**
 * Decodes the body of a bundle.
 *
 * @param salts 40 bytes per item, from `completeSalts`
 * @returns every signature in its original form, in order; undefined unless encodeBundle would
 *   produce exactly these bytes
 */
export function decodeBundle(
  bytes: Uint8Array,
  header: ParsedHeader,
  salts: Uint8Array,
): Uint8Array<ArrayBuffer>[] | undefined {
  const { kinds } = header;
  if (header.format !== 'bundle') return undefined;
  const counts = SECTIONS.map(({ set }) => kinds.reduce((c, k) => c + +(setOfKind(k) === set), 0));
  const signatures = new Array<Uint8Array<ArrayBuffer>>(kinds.length);
  const check = checkWords(bytes.subarray(0, header.bodyAt));
  let at = header.bodyAt;
  for (const [section, { set, n }] of SECTIONS.entries()) {
    const count = counts[section]!;
    if (count === 0) continue;
    const coded = decodeCoefficients(set, bytes, at, n * count, check);
    if (coded === undefined) return undefined;
    at = coded.end;
    let from = 0;
    for (const [i, kind] of kinds.entries()) {
      if (setOfKind(kind) !== set) continue;
      const signature = canonicalSignature({
        parameterSet: set,
        form: formOfKind(kind),
        salt: salts.subarray(SALT_BYTES * i, SALT_BYTES * (i + 1)),
        s2: coded.values.subarray(from, (from += n)),
      });
      if (signature === undefined) return undefined;
      signatures[i] = signature;
    }
  }
  return at === bytes.length ? signatures : undefined;
}

/** The first 8 bytes of SHAKE256(label ‖ header), as two big-endian words. */
function checkWords(header: Uint8Array): CheckWords {
  const view = new DataView(shake256([CHECK_LABEL, header], 8).buffer);
  return [view.getUint32(0), view.getUint32(4)];
}

/**
 * Returns the bytes of a signature; undefined if it cannot be encoded in its form, or if its bytes
 * decode as another form. The latter happens to a compressed s2 of exactly the padded length: both
 * forms share these bytes, and only the form that decodeSignature returns is canonical.
 */
function canonicalSignature(decoded: DecodedSignature): Uint8Array<ArrayBuffer> | undefined {
  const bytes = encodeSignature(decoded);
  if (bytes === undefined) return undefined;
  const { lengths } = paramsOf(decoded.parameterSet);
  if (bytes.length !== lengths.signaturePadded) return bytes;
  const again = decodeSignature(bytes) as DecodedSignature; // every encoded signature decodes
  return again.form === decoded.form ? bytes : undefined;
}
