/** What both verifiers, of one thread and of several, do with the bytes. */
import { abytes, equal } from '../bytes.ts';
import { checkList } from './arguments.ts';
import { type AggregateItem, invalidItems } from './batch.ts';
import { decodeBundle } from './bundle.ts';
import { type ParsedHeader, parseHeader, setOfKind } from './container.ts';
import { type Statement, setOfPublicKey, statementDigest } from './statement.ts';

/**
 * The header, if it is one about these statements; cheap checks first.
 *
 * @throws TypeError for arguments of wrong types
 */
export function headerAbout(
  aggregate: Uint8Array,
  statements: readonly Statement[],
): ParsedHeader | undefined {
  abytes('aggregate', aggregate);
  checkList('statements', statements, ['publicKey', 'message']);
  const header = parseHeader(aggregate);
  return header !== undefined && isAbout(header, statements) ? header : undefined;
}

/** The signatures of a bundle, when everything about the bytes holds. */
export function verifiedSignatures(
  aggregate: Uint8Array,
  header: ParsedHeader,
  statements: readonly Statement[],
): Uint8Array[] | undefined {
  const items = itemsOfBundle(aggregate, header, statements);
  if (items === undefined || invalidItems(items).length > 0) return undefined;
  return items.map(({ signature }) => signature);
}

/** What a bundle says that its signatures are; undefined if it is not one. */
export function itemsOfBundle(
  aggregate: Uint8Array,
  header: ParsedHeader,
  statements: readonly Statement[],
): AggregateItem[] | undefined {
  const signatures = decodeBundle(aggregate, header);
  return signatures?.map((signature, i) => {
    const { publicKey, message } = statements[i]!;
    return { publicKey, message, signature };
  });
}

function isAbout(header: ParsedHeader, statements: readonly Statement[]): boolean {
  return (
    header.kinds.length === statements.length &&
    statements.every((s, i) => setOfPublicKey(s.publicKey) === setOfKind(header.kinds[i]!)) &&
    equal(statementDigest(statements), header.statement)
  );
}
