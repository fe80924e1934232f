/** Steps shared by the single-threaded and the multi-threaded verifier. */
import type { Profile } from '../falcon/index.ts';
import { copyBytes } from '../shared/arguments.ts';
import { equal } from '../shared/bytes.ts';
import { copyStatements, readStatements } from './arguments.ts';
import { type AggregateItem, invalidItems } from './batch.ts';
import { decodeBundle } from './bundle.ts';
import { MAX_ITEMS, type ParsedHeader, parseHeader, setOfKind } from './container.ts';
import { areCodedAs, completeSalts } from './salts.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';

/** An aggregate and its statements, in private memory. */
export interface Claim {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly header: ParsedHeader;
  readonly statements: readonly Statement[];
  /** 40 bytes per statement */
  readonly salts: Uint8Array;
}

/**
 * Reads an aggregate whose header matches these statements; undefined for all other bytes.
 * Everything is copied before this returns. Cheap checks come first.
 *
 * @param profiles the accepted profiles
 * @throws TypeError for arguments of wrong types
 */
export function readClaim(
  aggregate: unknown,
  statements: unknown,
  profiles?: readonly Profile[],
): Claim | undefined {
  const claim = openClaim(aggregate, statements, profiles);
  return claim !== undefined && isAbout(claim) ? claim : undefined;
}

/**
 * Like `readClaim`, without the expensive check that the header matches these statements (see
 * `isAbout`). Their number and the sets of their keys are checked.
 *
 * @throws TypeError for arguments of wrong types
 */
export function openClaim(
  aggregate: unknown,
  statements: unknown,
  profiles: readonly Profile[] = ['round3'],
): Claim | undefined {
  const bytes = copyBytes('aggregate', aggregate);
  // No aggregate is about so many, and reading them takes long.
  if (Array.isArray(statements) && statements.length > MAX_ITEMS) return undefined;
  const read = readStatements(statements);
  const header = parseHeader(bytes);
  if (typeof header === 'string' || header.kinds.length !== read.length) return undefined;
  if (!profiles.includes(header.profile)) return undefined;
  const own = copyStatements(read);
  if (own.some((s, i) => setOfPublicKey(s.publicKey) !== setOfKind(header.kinds[i]!))) {
    return undefined;
  }
  return { bytes, header, statements: own, salts: completeSalts(header.salts, own) };
}

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
