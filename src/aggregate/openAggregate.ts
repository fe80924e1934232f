/** Steps shared by the single-threaded and the multi-threaded verifier. */
import type { Profile } from '../falcon/index.ts';
import { copyBytes } from '../shared/arguments.ts';
import { equal } from '../shared/bytes.ts';
import { copyStatements, readStatements } from './arguments.ts';
import { type AggregateItem, invalidItems } from './batch.ts';
import { decodeBundle } from './bundle.ts';
import { type HeaderFault, MAX_ITEMS, setOfKind } from './container.ts';
import { isMerged, type MergedFile, openMergedFile } from './mergedFormat.ts';
import { areCodedAs, completeSalts } from './salts.ts';
import { type Element, isSeries, openElements } from './series.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';

/** An aggregate and its statements, in private memory. */
export interface Claim extends Element {
  readonly statements: readonly Statement[];
  /** 40 bytes per statement */
  readonly salts: Uint8Array;
}

/** The aggregates of a series, one that stands alone, or the parts of a merged proof. */
export interface Claims {
  readonly claims: readonly Claim[];
  /** the proof of all parts */
  readonly merged?: MergedFile;
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
): Claims | undefined {
  const opened = openClaims(aggregate, statements, profiles);
  return opened?.claims.every(isAbout) ? opened : undefined;
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
): Claims | undefined {
  const bytes = copyBytes('aggregate', aggregate);
  // No aggregate is about so many, and reading them takes long.
  const most = isSeries(bytes) || isMerged(bytes) ? Number.POSITIVE_INFINITY : MAX_ITEMS;
  if (Array.isArray(statements) && statements.length > most) return undefined;
  const read = readStatements(statements);
  const opened = openAggregate(bytes);
  if (typeof opened === 'string') return undefined;
  const { elements, merged } = opened;
  if (!profiles.includes(elements[0]!.header.profile)) {
    return undefined;
  }
  if (elements.reduce((sum, { header }) => sum + header.kinds.length, 0) !== read.length) {
    return undefined;
  }
  const own = copyStatements(read);
  const claims: Claim[] = [];
  let at = 0;
  for (const { bytes: element, header } of elements) {
    const ofElement = own.slice(at, (at += header.kinds.length));
    if (!haveSets(ofElement, header.kinds)) return undefined;
    const salts = completeSalts(header.salts, ofElement);
    claims.push({ bytes: element, header, statements: ofElement, salts });
  }
  return { claims, ...(merged && { merged }) };
}

/** Returns the elements of a series, an aggregate as the only one, or parts of a merged proof. */
export function openAggregate(
  bytes: Uint8Array,
): { readonly elements: readonly Element[]; readonly merged?: MergedFile } | HeaderFault {
  if (!isMerged(bytes)) {
    const elements = openElements(bytes);
    return typeof elements === 'string' ? elements : { elements };
  }
  const merged = openMergedFile(bytes);
  return typeof merged === 'string' ? merged : { elements: merged.parts, merged };
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
