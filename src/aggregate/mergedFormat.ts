/**
 * The merged proof, format 4, as a complete aggregate: one proof over many parts, each of which is
 * about consecutive items of the list (docs/merged.md, 1.7).
 *
 *   "FLRY" ‖ 4 ‖ 1 ‖ hash of the part row, 32 bytes ‖ P, u16 little-endian ‖ P headers ‖ fields
 */
import { concat } from '../shared/bytes.ts';
import { type HeaderFault, MAGIC, parsePartHeader } from './container.ts';
import { type MergedParameters, readMergedRow } from './parameters/rows.ts';
import {
  type FoldJob,
  type FoldResult,
  MergedInBlocks,
  type MergedToVerify,
  mergedRowsOf,
  openMerged,
  statedItems,
  verifyMerged,
  verifyMergedIn,
} from './proof/index.ts';
import { type Element, isOneProfile } from './series.ts';
import type { Statement } from './statement.ts';

const FORMAT = 4;
export const MERGED_VERSION = 1;
const HASH_AT = MAGIC.length + 2;
/** Length of the hash of the part row. */
export const HASH_BYTES = 32;
const COUNT_AT = HASH_AT + HASH_BYTES;
/** Where the headers begin. */
const START_BYTES = COUNT_AT + 2;

/** Returns the bytes before the headers. */
export const startOfMerged = ({ partHash, parts: { count } }: MergedParameters): Uint8Array =>
  concat(
    Uint8Array.of(...MAGIC, FORMAT, MERGED_VERSION),
    partHash,
    Uint8Array.of(count & 255, count >> 8),
  );

/** Returns whether the bytes start like a merged proof, of any version. */
export const isMerged = (bytes: Uint8Array): boolean =>
  [...MAGIC, FORMAT].every((byte, i) => bytes[i] === byte);

/** A merged proof whose headers have been read. */
export interface MergedFile {
  readonly bytes: Uint8Array;
  readonly parameters: MergedParameters;
  /** the headers, as absorbed */
  readonly parts: readonly Element[];
  readonly bodyAt: number;
}

/** Reads the headers of a merged proof. They are views of the bytes. Nothing else is checked. */
export function openMergedFile(bytes: Uint8Array): MergedFile | HeaderFault {
  if (bytes.length < COUNT_AT) return 'header';
  if (bytes[HASH_AT - 1] !== MERGED_VERSION) return 'version';
  const rows = mergedRowsOf(bytes.subarray(HASH_AT, COUNT_AT));
  if (rows.length === 0) return 'table';
  const count = bytes[COUNT_AT]! + 256 * bytes[COUNT_AT + 1]!;
  const row = rows.find(([, most]) => most >= count);
  if (row === undefined || count === 0) return 'header';
  const parameters = readMergedRow(row, count);
  const parts: Element[] = [];
  let at = START_BYTES;
  while (parts.length < count) {
    const header = parsePartHeader(bytes, at, parameters);
    if (typeof header === 'string') return header;
    if (!isOneProfile(parts[0]?.header, header)) return 'profile';
    const part = bytes.subarray(at, header.bodyAt);
    parts.push({ bytes: part, header: { ...header, bodyAt: part.length } });
    at = header.bodyAt;
  }
  return { bytes, parameters, parts, bodyAt: at };
}

/** The items of a part. */
interface ItemsOfPart {
  readonly statements: readonly Statement[];
  /** 40 bytes per statement */
  readonly salts: Uint8Array;
}

/** Returns whether the proof is one of all items of its parts. */
export function verifyMergedFile(file: MergedFile, items: readonly ItemsOfPart[]): boolean {
  const proof = proofOf(file, items);
  return proof !== undefined && verifyMerged(proof);
}

/** Like `verifyMergedFile`, with the work distributed by `spread`. */
export async function verifyMergedFileIn(
  file: MergedFile,
  items: readonly ItemsOfPart[],
  jobs: number,
  spread: (jobs: readonly FoldJob[]) => Promise<readonly FoldResult[]>,
): Promise<boolean> {
  const proof = proofOf(file, items);
  return proof !== undefined && (await verifyMergedIn(proof, jobs, spread));
}

/** Its items arrive in blocks, each of which is within a part. @returns undefined if malformed */
export function openMergedProof(file: MergedFile): MergedInBlocks | undefined {
  const proof = proofOf(file);
  return proof && MergedInBlocks.open(proof);
}

/** @returns undefined if the fields are malformed */
function proofOf(
  { bytes, parameters, parts, bodyAt }: MergedFile,
  all?: readonly ItemsOfPart[],
): MergedToVerify | undefined {
  const fields = openMerged(parameters, bytes, bodyAt);
  if (fields === undefined) return undefined;
  return {
    parameters,
    profile: parts[0]!.header.profile,
    fields,
    parts: parts.map(({ bytes: header, header: { kinds } }, i) => {
      const own = all?.[i];
      const items = own && statedItems(own.statements, own.salts);
      return { header, count: kinds.length, items };
    }),
  };
}
