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
import {
  type CheckWords,
  CodeReader,
  coefficientModel,
  encodeCoefficients,
} from './gaussianCoder.ts';

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
  if (header.format !== 'bundle') return undefined;
  const reader = new BundleReader(bytes, header);
  const signatures = reader.read(salts);
  return reader.isAtEnd() ? signatures : undefined;
}

/** A section that is being read. */
interface OpenSection {
  readonly set: ParameterSet;
  readonly n: number;
  readonly count: number;
  reader?: CodeReader;
}

/** Reads the signatures of a bundle block by block, in order. */
export class BundleReader {
  readonly #bytes: Uint8Array;
  readonly #kinds: Uint8Array;
  readonly #bodyAt: number;
  readonly #check: CheckWords;
  readonly #sections: readonly OpenSection[];
  #read = 0;

  constructor(bytes: Uint8Array, { kinds, bodyAt }: ParsedHeader) {
    this.#bytes = bytes;
    this.#kinds = kinds;
    this.#check = checkWords(bytes.subarray(0, bodyAt));
    this.#bodyAt = bodyAt;
    this.#sections = SECTIONS.map(({ set, n }): OpenSection => {
      const count = kinds.reduce((sum, kind) => sum + +(setOfKind(kind) === set), 0);
      return { set, n, count };
    }).filter(({ count }) => count > 0);
  }

  /**
   * Reads the next signatures, one for each of the salts.
   *
   * @param salts 40 bytes each
   * @returns undefined if the bytes are rejected; make no further calls then
   */
  read(salts: Uint8Array): Uint8Array<ArrayBuffer>[] | undefined {
    const from = this.#read;
    this.#read += salts.length / SALT_BYTES;
    const kinds = this.#kinds.subarray(from, this.#read);
    const signatures = new Array<Uint8Array<ArrayBuffer>>(kinds.length);
    for (const section of this.#sections) {
      const { set, n } = section;
      const here = Array.from(kinds.keys()).filter((i) => setOfKind(kinds[i]!) === set);
      const values = this.#values(section, here.length);
      if (values === undefined) return undefined;
      for (const [index, i] of here.entries()) {
        const signature = canonicalSignature({
          parameterSet: set,
          form: formOfKind(kinds[i]!),
          salt: salts.subarray(SALT_BYTES * i, SALT_BYTES * (i + 1)),
          s2: values.subarray(n * index, n * (index + 1)),
        });
        if (signature === undefined) return undefined;
        signatures[i] = signature;
      }
    }
    return signatures;
  }

  /** Returns whether no byte is left over, after all signatures have been read. */
  isAtEnd(): boolean {
    return this.#sections.at(-1)!.reader?.finish(this.#check) === this.#bytes.length;
  }

  /** Reads the coefficients of the next items of a section. @returns undefined if rejected */
  #values(section: OpenSection, count: number): Int16Array | undefined {
    section.reader ??= new CodeReader(this.#bytes, this.#beginOf(section));
    const values = new Int16Array(section.n * count);
    return section.reader.read(coefficientModel(section.set), values) ? values : undefined;
  }

  /**
   * Returns the offset of a section. The first one is read to its end to find where the second one
   * begins. If it has no end, the bundle is refused, whatever this returns.
   */
  #beginOf(section: OpenSection): number {
    const [first] = this.#sections as readonly [OpenSection];
    if (section === first) return this.#bodyAt;
    const reader = new CodeReader(this.#bytes, this.#bodyAt);
    const values = new Int16Array(first.n);
    for (let i = 0; i < first.count; i++) reader.read(coefficientModel(first.set), values);
    return reader.finish(this.#check);
  }
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
