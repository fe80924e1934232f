/** What both verifiers, of one thread and of several, do with the bytes. */
import { copyBytes } from '../arguments.ts';
import { equal } from '../bytes.ts';
import { copyStatements, readStatements } from './arguments.ts';
import { type AggregateItem, invalidItems } from './batch.ts';
import { decodeBundle } from './bundle.ts';
import { type ParsedHeader, parseHeader, setOfKind } from './container.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';

/** An aggregate and what it is about, in memory of our own. */
export interface Claim {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly header: ParsedHeader;
  readonly statements: readonly Statement[];
}

/**
 * An aggregate whose header is one about these statements, read before this returns; undefined for
 * all other bytes. Cheap checks come first.
 *
 * @throws TypeError for arguments of wrong types
 */
export function readClaim(aggregate: unknown, statements: unknown): Claim | undefined {
  const bytes = copyBytes('aggregate', aggregate);
  const read = readStatements(statements);
  const header = parseHeader(bytes);
  if (header === undefined || header.kinds.length !== read.length) return undefined;
  const claim = { bytes, header, statements: copyStatements(read) };
  return isAbout(claim) ? claim : undefined;
}

/** The signatures of a bundle, when everything about the bytes holds. */
export function verifiedSignatures(claim: Claim): Uint8Array<ArrayBuffer>[] | undefined {
  const items = itemsOfBundle(claim);
  if (items === undefined || invalidItems(items).length > 0) return undefined;
  return items.map(({ signature }) => signature);
}

/** What a bundle says that its signatures are; undefined if it is not one. */
export function itemsOfBundle({
  bytes,
  header,
  statements,
}: Claim): (AggregateItem & { signature: Uint8Array<ArrayBuffer> })[] | undefined {
  const signatures = decodeBundle(bytes, header);
  return signatures?.map((signature, i) => {
    const { publicKey, message } = statements[i]!;
    return { publicKey, message, signature };
  });
}

function isAbout({ header, statements }: Claim): boolean {
  return (
    statements.every((s, i) => setOfPublicKey(s.publicKey) === setOfKind(header.kinds[i]!)) &&
    equal(statementDigest(statements), header.statement)
  );
}
