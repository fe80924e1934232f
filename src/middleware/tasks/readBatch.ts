/**
 * Reads bodies with many items: triples for a new task, or an aggregate and its statements. The
 * same code runs on the main thread for small bodies and in a worker thread for large ones, so that
 * the answers are the same. Hex is decoded only if necessary.
 */
import { ascii, concatAll } from '../../shared/bytes.ts';
import { packItems } from '../../shared/threads/packItems.ts';
import {
  type BytesForm,
  checkStatements,
  checkTriples,
  HEX_FORM,
  type ShapeFault,
} from '../../wire/taskFile.ts';
import type { Statement, TaskItem } from '../../wire/triple.ts';
import { sha256Of } from '../blobs/checksums.ts';
import { free } from '../http/buffers.ts';
import { requestFingerprint } from '../http/idempotency.ts';
import { ProblemError } from '../http/problems.ts';
import { type JsonLimits, parseSlimJson, requireHex, requireObject } from '../http/strictJson.ts';

interface Reading {
  readonly limits: BatchLimits;
}

export interface BatchLimits extends Required<Pick<JsonLimits, 'maxTokens'>> {
  readonly maxSignatures: number;
  readonly maxMessageBytes: number;
  readonly maxAggregateBytes: number;
}

/** Expects `{data: [triple, …]}`. */
export interface TriplesReading extends Reading {
  readonly wanted: 'triples';
  /** The text before the body in the request's fingerprint; null if none is needed. */
  readonly requestLine: string | null;
}

/** Expects `{aggregate, statements: [statement, …]}`. */
export interface ClaimReading extends Reading {
  readonly wanted: 'claim';
}

/** Triples of the right form. */
export interface Batch {
  readonly count: number;
  /** A whole buffer without other users: the caller may free its memory. */
  readonly file: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
  readonly fingerprint: string | null;
}

/** An aggregate and its alleged statements: items with empty signatures, packed. */
export interface Claim {
  readonly aggregate: Uint8Array;
  readonly statements: ArrayBuffer;
}

/** A body for a worker thread; the blocks are transferred. */
export interface ReadWork {
  readonly kind: 'read';
  readonly reading: TriplesReading | ClaimReading;
  /** The body in order; the last block may be longer than the rest of the body. */
  readonly blocks: readonly ArrayBuffer[];
  readonly bytes: number;
}

/**
 * Returns the contents of the body.
 *
 * @throws ProblemError as `readBatch`
 */
export function performRead({ reading, blocks, bytes }: ReadWork): Batch | Claim {
  const body = joined(blocks, bytes);
  try {
    return readBatch(body, reading);
  } finally {
    free(body.buffer);
  }
}

/** One array of all blocks, which are freed. */
function joined(blocks: readonly ArrayBuffer[], bytes: number): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(bytes);
  let at = 0;
  for (const block of blocks) {
    body.set(new Uint8Array(block, 0, Math.min(block.byteLength, bytes - at)), at);
    at += block.byteLength;
    free(block);
  }
  return body;
}

/**
 * Reads a body. The result holds copies only.
 *
 * @throws ProblemError `MALFORMED_JSON`, `INVALID_BODY` or `TOO_MANY_ITEMS`, the latter two with
 *   every fault
 */
export function readBatch(body: Uint8Array, reading: TriplesReading | ClaimReading): Batch | Claim {
  return reading.wanted === 'triples' ? readTriples(body, reading) : readClaim(body, reading);
}

function readTriples(body: Uint8Array, reading: TriplesReading): Batch {
  const { limits, requestLine } = reading;
  const { value, form } = parse(body, reading, textForm);
  const { items, faults } = checkTriples(requireObject(value).data, limits, form);
  if (faults) throw shapeProblem(faults, '/data');
  requireKeys(items, '/data', headOfText);
  const file = taskFile(items);
  const fingerprint = requestLine === null ? null : requestFingerprint(requestLine, body);
  return { count: items.length, file, sha256: sha256Of(file), fingerprint };
}

function readClaim(body: Uint8Array, reading: ClaimReading): Claim {
  const { limits } = reading;
  const { value, form } = parse(body, reading, hexForm);
  const object = requireObject(value);
  const aggregate = requireHex(object.aggregate, '/aggregate', limits.maxAggregateBytes, form);
  const { items, faults } = checkStatements(object.statements, limits, form);
  if (faults) throw shapeProblem(faults, '/statements');
  requireKeys(items, '/statements', headOfBytes);
  return { aggregate: aggregate.slice(), statements: packStatements(items) };
}

/** Packs statements for the thread that verifies an aggregate. */
export function packStatements(statements: readonly Statement[]): ArrayBuffer {
  const signature = new Uint8Array(0);
  return packItems(statements.map((statement) => ({ ...statement, signature })));
}

type Left = ReadonlyMap<string, Uint8Array>;

interface Parsed {
  readonly value: unknown;
  readonly form: BytesForm;
}

/** @param formOf decides how the strings are read */
function parse(
  body: Uint8Array,
  { limits: { maxTokens } }: Reading,
  formOf: (left: Left) => BytesForm,
): Parsed {
  const limits = { maxTokens, tooManyCode: 'TOO_MANY_ITEMS' } as const;
  const { value, left } = parseSlimJson(body, limits);
  return { value, form: formOf(left) };
}

const latin1 = new TextDecoder('latin1');

/** Returns a string as sent, whether or not it was left in the body. */
const sent = (given: unknown, left: Left): unknown => {
  const text = typeof given === 'string' ? left.get(given) : undefined;
  return text === undefined ? given : latin1.decode(text);
};

/** Decodes hex. */
const hexForm = (left: Left): BytesForm => ({
  ...HEX_FORM,
  decode: (given, maxBytes) => HEX_FORM.decode(sent(given, left), maxBytes),
  nameOf: (given) => HEX_FORM.nameOf(sent(given, left)),
});

/** Checks hex, and returns its characters. */
const textForm = (left: Left): BytesForm => ({
  ...HEX_FORM,
  decode(given, maxBytes) {
    const text = typeof given === 'string' ? left.get(given) : undefined;
    if (text === undefined) {
      const bytes = HEX_FORM.decode(given, maxBytes);
      return typeof bytes === 'string' ? bytes : ascii(given as string);
    }
    if (text.length - 2 > 2 * maxBytes) return 'tooLong';
    return text.length % 2 === 0 ? text : 'oddLength';
  },
  nameOf: () => undefined,
});

const BEFORE_DIGEST = ascii('{"digest":"');
const BEFORE_KEY = ascii('","public_key":"');
const BEFORE_SIGNATURE = ascii('","signature":"');
const BETWEEN = ascii('"},\n');
const END = ascii('"}]\n');

/** Returns the task file of triples. Their fields are hex, so they need no escapes. */
function taskFile(items: readonly TaskItem[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [ascii('[')];
  items.forEach(({ message, publicKey, signature }, index) => {
    parts.push(BEFORE_DIGEST, message, BEFORE_KEY, publicKey, BEFORE_SIGNATURE, signature);
    parts.push(index < items.length - 1 ? BETWEEN : END);
  });
  return concatAll(parts);
}

/** The first byte of a public key by its length in bytes (FALCON round 3, section 3.11.4). */
const KEY_HEADERS = new Map([
  [897, 0x09],
  [1793, 0x0a],
]);

/** The length of a key, and its first byte. */
type Head = readonly [bytes: number, first: number | undefined];

const headOfBytes = (key: Uint8Array): Head => [key.length, key[0]];
const headOfText = (text: Uint8Array): Head => [
  (text.length - 2) / 2,
  Number.parseInt(latin1.decode(text.subarray(2, 4)), 16),
];

/** Rejects keys of the wrong length or set now, instead of in the worker. */
function requireKeys(
  items: readonly { readonly publicKey: Uint8Array }[],
  at: string,
  headOf: (key: Uint8Array) => Head,
): void {
  const message = 'public_key is not a Falcon-512 or Falcon-1024 key';
  const errors = items.flatMap(({ publicKey }, index) => {
    const [bytes, first] = headOf(publicKey);
    const header = KEY_HEADERS.get(bytes);
    const good = header !== undefined && header === first;
    return good ? [] : [{ path: `${at}/${index}/public_key`, code: 'publicKey', message }];
  });
  if (errors.length > 0) throw new ProblemError('INVALID_BODY', { errors });
}

function shapeProblem(faults: readonly ShapeFault[], at: string): ProblemError {
  const code = faults[0]!.code === 'tooMany' ? 'TOO_MANY_ITEMS' : 'INVALID_BODY';
  const errors = faults.map(({ path, code, message }) => ({ path: at + path, code, message }));
  return new ProblemError(code, { errors });
}
