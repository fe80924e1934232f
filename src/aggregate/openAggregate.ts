/** Steps shared by the single-threaded and the multi-threaded verifier. */
import type { Profile } from '../falcon/index.ts';
import { copyBytes } from '../shared/arguments.ts';
import { equal } from '../shared/bytes.ts';
import { copyStatements, readStatements } from './arguments.ts';
import { type AggregateItem, invalidItems } from './batch.ts';
import { decodeBundle } from './bundle.ts';
import { type HeaderFault, parseHeader, setOfKind } from './container.ts';
import { isMerged, type MergedFile, openMergedFile } from './mergedFormat.ts';
import { areCodedAs, completeSalts } from './salts.ts';
import { type Element, piecesOf } from './series.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';

/** An aggregate and its statements, in private memory. */
export interface Claim extends Element {
  readonly statements: readonly Statement[];
  /** 40 bytes per statement */
  readonly salts: Uint8Array;
}

/** An element of a series, or an aggregate that stands alone, and what it claims. */
export interface ElementClaims {
  /** one; of a merged proof, those of its parts */
  readonly claims: readonly Claim[];
  /** the proof of all parts */
  readonly merged: MergedFile | undefined;
}

/**
 * Reads an aggregate whose header matches these statements, or the aggregates of such a series;
 * undefined for all other bytes. Everything is copied before this returns. Cheap checks come first.
 *
 * @param profiles the accepted profiles
 * @throws TypeError for arguments of wrong types
 */
export function readClaims(
  aggregate: unknown,
  statements: unknown,
  profiles?: readonly Profile[],
): ElementClaims[] | undefined {
  const opened = openClaims(aggregate, statements, profiles);
  return opened?.every(({ claims }) => claims.every(isAbout)) ? opened : undefined;
}

/**
 * Like `readClaims`, without the expensive check that the headers match these statements (see
 * `isAbout`). Their number and the sets of their keys are checked.
 *
 * @throws TypeError for arguments of wrong types
 */
export function openClaims(
  aggregate: unknown,
  statements: unknown,
  profiles: readonly Profile[] = ['round3'],
): ElementClaims[] | undefined {
  const bytes = copyBytes('aggregate', aggregate);
  const read = readStatements(statements);
  const opened = openElements(bytes);
  if (typeof opened === 'string' || !profiles.includes(profileOf(opened[0]!))) return undefined;
  if (opened.reduce((sum, element) => sum + countOf(element), 0) !== read.length) return undefined;
  const own = copyStatements(read);
  const all: ElementClaims[] = [];
  let at = 0;
  for (const { parts, merged } of opened) {
    const claims: Claim[] = [];
    for (const { bytes: part, header } of parts) {
      const ofPart = own.slice(at, (at += header.kinds.length));
      if (!haveSets(ofPart, header.kinds)) return undefined;
      const salts = completeSalts(header.salts, ofPart);
      claims.push({ bytes: part, header, statements: ofPart, salts });
    }
    all.push({ claims, merged });
  }
  return all;
}

/** An element of a series, or an aggregate that stands alone, with its headers. */
export interface OpenElement {
  readonly bytes: Uint8Array;
  /** itself; of a merged proof, its parts */
  readonly parts: readonly Element[];
  readonly merged?: MergedFile;
}

/** The number of items of an element. */
const countOf = ({ parts }: OpenElement): number =>
  parts.reduce((sum, { header }) => sum + header.kinds.length, 0);

const profileOf = ({ parts }: OpenElement): Profile => parts[0]!.header.profile;

/** Reads the headers of an aggregate that is not a series. */
export function openElement(bytes: Uint8Array): OpenElement | HeaderFault {
  if (isMerged(bytes)) {
    const merged = openMergedFile(bytes);
    return typeof merged === 'string' ? merged : { bytes, parts: merged.parts, merged };
  }
  const header = parseHeader(bytes);
  return typeof header === 'string' ? header : { bytes, parts: [{ bytes, header }] };
}

/**
 * Reads the headers of the elements of a series, or of an aggregate as the only one. The fault of a
 * series is its own, or that of its first bad element.
 */
export function openElements(bytes: Uint8Array): OpenElement[] | HeaderFault {
  const elements: OpenElement[] = [];
  for (const piece of piecesOf(bytes)) {
    const element = openElement(piece);
    if (typeof element === 'string') return element;
    if (profileOf(elements[0] ?? element) !== profileOf(element)) return 'profile';
    elements.push(element);
  }
  return elements.length > 0 ? elements : 'header';
}

/** Returns whether the keys are of these kinds, as many as there are statements or more. */
export const haveSets = (statements: readonly Statement[], kinds: Uint8Array): boolean =>
  statements.every(({ publicKey }, i) => setOfPublicKey(publicKey) === setOfKind(kinds[i]!));

/** Returns whether the header matches these statements and salts. */
export const isAbout = ({ header, statements, salts }: Claim): boolean =>
  equal(statementDigest(statements), header.statement) &&
  areCodedAs(header.salts.runs, salts, statements);

/** Returns the signatures of a bundle, if all checks pass. */
export function verifiedSignatures(claim: Claim): Uint8Array<ArrayBuffer>[] | undefined {
  const items = itemsOfBundle(claim);
  if (items === undefined || invalidItems(items, claim.header.profile).length > 0) return undefined;
  return items.map(({ signature }) => signature);
}

/** Returns the items of a bundle, not yet verified; undefined if it is not a bundle. */
export function itemsOfBundle({
  bytes,
  header,
  statements,
  salts,
}: Claim): (AggregateItem & { signature: Uint8Array<ArrayBuffer> })[] | undefined {
  const signatures = decodeBundle(bytes, header, salts);
  return signatures?.map((signature, i) => {
    const { publicKey, message } = statements[i]!;
    return { publicKey, message, signature };
  });
}
