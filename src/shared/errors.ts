/**
 * The error class with codes, and the table of the codes' meanings.
 *
 * Invalid arguments (types, lengths, unknown options) throw a plain `TypeError` or `RangeError`
 * before any work. Untrusted bytes that fail verification give `false`. Every other failure is a
 * {@link CodedError}; its code determines the HTTP status and whether a retry can help. No other
 * errors may cross a module boundary.
 */

/**
 * The meaning of a code: HTTP status, whether a retry can help, and a text that is safe to show.
 */
export interface ErrorMeaning {
  readonly status: number;
  readonly retriable: boolean;
  readonly message: string;
}

const meaning = (status: number, retriable: boolean, message: string): ErrorMeaning =>
  Object.freeze({ status, retriable, message });

/** code → { status, retriable, message }; texts never contain secrets, paths or caller data. */
export const ERROR_CODES = Object.freeze({
  // Invalid input: a retry cannot help.
  INVALID_SIGNATURES: meaning(422, false, 'Some signatures of the batch are not valid'),
  BAD_AGGREGATE: meaning(422, false, 'The aggregate is not valid for these statements'),
  NO_PROOF: meaning(422, false, 'No proof could be made of this batch'),
  NO_SIGNATURES: meaning(422, false, 'A proof keeps no signatures'),
  BAD_PART: meaning(422, false, 'A part is not valid for its statements'),
  BAD_TASK_FILE: meaning(422, false, 'The task file is not an array of signature triples'),
  BAD_KEY_FILE: meaning(422, false, 'The file holds no such key or signature'),
  BAD_KEY: meaning(422, false, 'The bytes are not a key in any form that is known here'),
  KEY_MISMATCH: meaning(422, false, 'The public key does not belong to the secret key'),
  PASSPHRASE_NEEDED: meaning(422, false, 'The key is encrypted: a passphrase is needed'),
  WRONG_PASSPHRASE: meaning(422, false, 'The passphrase does not open the key'),
  KEY_TOO_COSTLY: meaning(422, false, 'Opening the key would cost more than is allowed'),
  BAD_RESULT_FILE: meaning(422, false, 'The result file is not valid'),
  MALFORMED_JSON: meaning(400, false, 'The body is not valid JSON'),
  MALFORMED_GZIP: meaning(400, false, 'The body is not valid gzip'),
  INVALID_QUERY: meaning(400, false, 'A query parameter is not valid'),
  INVALID_CURSOR: meaning(400, false, 'The cursor is not valid'),
  INVALID_BODY: meaning(422, false, 'The body does not have the expected shape'),
  TOO_MANY_ITEMS: meaning(422, false, 'The batch holds more signatures than are allowed'),
  MALFORMED_REQUEST: meaning(400, false, 'The request is not valid HTTP'),
  INVALID_HEADER: meaning(400, false, 'A request header is not valid'),
  INCOMPLETE_BODY: meaning(400, false, 'The body ended early'),
  HEADERS_TOO_LARGE: meaning(431, false, 'The request headers are too large'),
  UNAUTHENTICATED: meaning(401, false, 'A valid API key is required'),
  FORBIDDEN_URL: meaning(403, false, 'The signed url is not valid or has ended'),
  SIGNING_DISABLED: meaning(403, false, 'Signing is switched off on this service'),
  SIGNING_REFUSED: meaning(422, false, 'The signer does not sign this message'),
  NOT_FOUND: meaning(404, false, 'There is nothing here'),
  METHOD_NOT_ALLOWED: meaning(405, false, 'The method is not allowed here'),
  CONFLICT: meaning(409, false, 'The state of the task does not allow this'),
  NOT_UPLOADED: meaning(409, false, 'The task file has not been uploaded yet'),
  INPUT_CHANGED: meaning(409, false, 'The task file was replaced after the notification'),
  IDEMPOTENCY_CONFLICT: meaning(409, true, 'The first request with this key is still running'),
  IDEMPOTENCY_GONE: meaning(410, false, 'The task of the first request was removed'),
  IDEMPOTENCY_MISMATCH: meaning(422, false, 'This key was used with a different request'),
  LENGTH_REQUIRED: meaning(411, false, 'The length of the body must be given'),
  BODY_TOO_LARGE: meaning(413, false, 'The body is larger than is allowed'),
  UNSUPPORTED_MEDIA_TYPE: meaning(415, false, 'The body is of a type that is not accepted'),
  EXPECTATION_FAILED: meaning(417, false, 'Only 100-continue can be expected'),

  // The host lacks a feature: a retry on the same host cannot help.
  NO_WEBASSEMBLY: meaning(500, false, 'This host cannot run the WebAssembly that is needed'),
  NO_RANDOMNESS: meaning(500, false, 'This host has no source of secure randomness'),
  NO_WEBCRYPTO: meaning(
    500,
    false,
    'This host has no crypto.subtle, which keys with passphrases need',
  ),
  NO_SQLITE: meaning(500, false, 'This host has no node:sqlite, which the store needs'),
  NOT_REPRODUCIBLE: meaning(500, false, 'This host does not compute the known signatures'),

  STORE_NEWER: meaning(500, false, 'The store was written by a newer version of falconry'),
  STORE_SHARED: meaning(500, false, 'Other users of the machine can read or replace the store'),
  STORE_OUTDATED: meaning(
    500,
    false,
    'The store was made before falconry 0.1.0 and cannot be used; it was left as it is',
  ),
  STORE_OLDER: meaning(500, false, 'The store must be brought up to date: falconry migrate'),

  // Resources and time limits: the same request can succeed later.
  REQUEST_TIMEOUT: meaning(408, true, 'The request took too long to arrive'),
  NOT_STARTED: meaning(503, true, 'The service is starting'),
  OVERLOADED: meaning(503, true, 'The service is busy'),
  RATE_LIMITED: meaning(429, true, 'Too many requests'),
  TOO_MANY_STREAMS: meaning(429, true, 'Too many open event streams'),
  TOO_MANY_UPLOADS: meaning(429, true, 'Too many uploads at once'),
  TOO_MANY_TASKS: meaning(429, true, 'Too many unfinished tasks'),
  STORAGE_QUOTA: meaning(429, true, 'The stored bytes of this client are at their limit'),
  SHUTTING_DOWN: meaning(503, true, 'The service is shutting down'),
  STORAGE_FULL: meaning(507, true, 'The service has no room for more files'),
  STORE_UNAVAILABLE: meaning(503, true, 'The store cannot be reached'),
  FILE_DAMAGED: meaning(503, true, 'A stored file is damaged, by no fault of the client'),
  THREAD_LOST: meaning(503, true, 'A worker thread ended before its work was done'),
  LEASE_LOST: meaning(503, true, 'Another worker has taken the task over'),
  OUT_OF_MEMORY: meaning(503, true, 'There is not enough memory'),
  TIMED_OUT: meaning(503, true, 'The work took longer than is allowed'),

  // Stopped by the caller.
  ABORTED: meaning(499, false, 'The work was stopped by its caller'),
  CANCELLED: meaning(409, false, 'The task was cancelled'),

  // Faults of the service, or of the server that it is mounted in.
  NO_WORKER: meaning(500, false, 'The worker thread of the service cannot be started'),
  BODY_CONSUMED: meaning(
    500,
    false,
    'The host read the body: mount the service before body parsers',
  ),
  REENTERED: meaning(500, false, 'A call was made while another one was in the module'),
  INTERNAL: meaning(500, false, 'Something went wrong on our side'),
});

export type ErrorCode = keyof typeof ERROR_CODES;

/** A faulty item of a batch: its position in the caller's list, and the reason. */
export interface InvalidItem {
  readonly index: number;
  readonly reason: string;
}

export interface CodedErrorDetails {
  /** Replaces the table's text. It may reach a client, so it must not contain secrets or paths. */
  readonly message?: string;
  /** The faulty item, if there is exactly one. */
  readonly index?: number;
  /** All faulty items, by ascending index. */
  readonly invalid?: readonly InvalidItem[];
  /** The detected form of a key, if known. */
  readonly form?: string;
  /** For the log only; never sent to a client. */
  readonly cause?: unknown;
}

/**
 * An error with a code of `ERROR_CODES`.
 *
 * @example
 * ```ts
 * throw new CodedError('INVALID_SIGNATURES', { invalid: [{ index: 17, reason: 'norm' }] });
 * ```
 */
export class CodedError extends Error {
  // Declarations only: tools that compile fields to assignments fail where Error.prototype is
  // frozen, and an error without an optional field has no such property.
  declare readonly name: string;
  declare readonly code: ErrorCode;
  declare readonly status: number;
  declare readonly retriable: boolean;
  declare readonly index?: number;
  declare readonly invalid?: readonly InvalidItem[];
  declare readonly form?: string;

  /** @throws TypeError for a code that is not in the table */
  constructor(code: ErrorCode, details: CodedErrorDetails = {}) {
    const entry = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code] : undefined;
    if (entry === undefined) throw new TypeError(`unknown error code "${String(code)}"`);
    super(
      details.message ?? entry.message,
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    const { status, retriable } = entry;
    const { index, invalid, form } = details;
    defineFields(this, { name: 'CodedError', code, status, retriable, index, invalid, form });
  }
}

/**
 * Defines the fields that are not undefined. An assignment would fail where Error.prototype is
 * frozen, or reach an accessor on Object.prototype.
 */
export function defineFields<T extends object>(error: T, fields: object): T {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const field = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(error, name, Object.assign(Object.create(null), field));
  }
  return error;
}

/**
 * Returns whether a value is a CodedError. Also recognises those of another copy of this module (in
 * a worker thread or a second installation), for which `instanceof` is false.
 */
export function isCodedError(value: unknown): value is CodedError {
  return (
    value instanceof Error &&
    'code' in value &&
    typeof value.code === 'string' &&
    Object.hasOwn(ERROR_CODES, value.code) &&
    'retriable' in value
  );
}

/** Returns the error itself if it has a code, else an INTERNAL error with it as the cause. */
export function toCodedError(error: unknown): CodedError {
  return isCodedError(error) ? error : new CodedError('INTERNAL', { cause: error });
}

/**
 * Returns whether an error is the engine's stack overflow; each engine has a different one. Does
 * not use regular expressions, which throw a SyntaxError on a full stack.
 */
export function isStackOverflow(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { message } = error;
  return message.includes('call stack') || message.includes('too much recursion');
}
