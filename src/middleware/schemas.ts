/**
 * The shapes of requests and answers, in zod with their OpenAPI names. Small bodies are judged by
 * them; arrays of triples are judged by `taskFile.ts` (the same rules, one pass over 1722 items instead
 * of a regular expression over 20 MB), and a test holds the two to each other.
 */

import { ERROR_CODES, type ErrorCode } from '../errors.ts';
import { decodeWireHex, describeHexFault } from '../wire/hex.ts';
import { MAX_KEY_OR_SIGNATURE_BYTES } from '../wire/taskFile.ts';
import { z } from './openapi/zod.ts';
import { type Fault, MAX_LISTED_FAULTS, ProblemError } from './problems.ts';
import { STATE_TEXTS, type TaskState } from './task.ts';

/** A hex string with `0x`, of at most so many bytes; `pattern` only describes what is judged elsewhere. */
const hexString = (
  maxBytes: number,
  description: string,
  { pattern = '^0x(?:[0-9A-Fa-f]{2})*$', example = '0x68656c6c6f' } = {},
) =>
  z
    .string({ error: ({ input }) => describeHexFault(input === undefined ? 'missing' : 'type', 0) })
    .superRefine((text, context) => {
      const bytes = decodeWireHex(text, maxBytes);
      if (typeof bytes !== 'string') return;
      context.addIssue({
        code: 'custom',
        message: describeHexFault(bytes, maxBytes),
        params: { code: bytes },
      });
    })
    .openapi({ description, pattern, maxLength: 2 + 2 * maxBytes, example });

/** Hex as answers have it. */
const lowerHex = (description: string, pattern = /^0x(?:[0-9a-f]{2})*$/) =>
  z.string().regex(pattern).openapi({ description });

/** Keys as FALCON round 3, section 3.11.4 writes them: a first byte for the set, then its length. */
const KEY = {
  pattern: '^0x(?:09[0-9A-Fa-f]{1792}|0[Aa][0-9A-Fa-f]{3584})$',
  example: `0x09${'5a'.repeat(896)}`,
};
const SIGNATURE = { example: `0x39${'a5'.repeat(665)}` };

/** More bytes than any aggregate of the largest batch has. */
const MAX_AGGREGATE_BYTES = 16 * 1024 * 1024;

/** The shapes of request bodies under these limits. */
export function requestShapes(limits: { maxSignatures: number; maxDigestBytes: number }) {
  const { maxSignatures, maxDigestBytes } = limits;
  const MAX = MAX_KEY_OR_SIGNATURE_BYTES;
  const digest = hexString(maxDigestBytes, 'The message that is signed');
  const signature = hexString(MAX, 'Its signature', SIGNATURE);
  const public_key = hexString(MAX, 'Key of Falcon-512 or Falcon-1024', KEY);
  const Triple = z.object({ digest, public_key, signature }).openapi('Triple');
  const Statement = z.object({ digest, public_key }).openapi('Statement');
  const TaskFileItem = z
    .object({ digest, public_key: hexString(MAX, 'The signer’s key', SIGNATURE), signature })
    .openapi('TaskFileItem', {
      description: 'A triple whose key is judged by the worker: a wrong one is an invalid item.',
    });
  return {
    SignRequest: z.object({ digest }).openapi('SignRequest'),
    AggregateRequest: z
      .object({ data: z.array(Triple).min(1).max(maxSignatures) })
      .openapi('AggregateRequest'),
    TaskFile: z.array(TaskFileItem).min(1).max(maxSignatures).openapi('TaskFile'),
    VerifyRequest: z
      .object({
        aggregate: hexString(MAX_AGGREGATE_BYTES, 'The aggregate of a result file'),
        statements: z.array(Statement).min(1).max(maxSignatures),
      })
      .openapi('VerifyRequest'),
  };
}

export const SignAnswer = z
  .strictObject({
    digest: lowerHex('The message, in lower case'),
    signature: lowerHex('Its signature', /^0x(?:[0-9a-f]{2})+$/),
    public_key: lowerHex('The key to verify it with', /^0x(?:[0-9a-f]{2})+$/),
  })
  .openapi('SignAnswer');

export const VerifyAnswer = z.strictObject({ valid: z.boolean() }).openapi('VerifyAnswer');

/** What a `process_id` can be. */
export const processId = z
  .int()
  .min(1)
  .max(Number.MAX_SAFE_INTEGER)
  .openapi({ description: 'Later tasks have larger ones', example: 244_807_090_176_000 });

const SECOND_PRECISION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const NANOSECOND_DIGITS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;
const seconds = z
  .string()
  .regex(SECOND_PRECISION)
  .openapi({ format: 'date-time', example: '2026-11-21T20:23:05Z' });
const nanoseconds = z
  .string()
  .regex(NANOSECOND_DIGITS)
  .openapi({ format: 'date-time', example: '2026-11-21T20:23:05.123456789Z' });
const url = z.string().openapi({ format: 'uri' });
const count = z.int().min(0);

export const UploadTicket = z
  .strictObject({ process_id: processId, url, expires_at: seconds })
  .openapi('UploadTicket');

const progressText = (...states: TaskState[]) =>
  z.enum(states.map((state) => STATE_TEXTS[state].progress) as [string, ...string[]]);
const listText = (...states: TaskState[]) =>
  z.enum(states.map((state) => STATE_TEXTS[state].list) as [string, ...string[]]);

export const UploadReceipt = z
  .strictObject({ process_id: processId, status: progressText('uploaded'), bytes: count.min(1) })
  .openapi('UploadReceipt');

const FaultShape = z
  .strictObject({
    path: z
      .string()
      .regex(/^(?:\/[^/]+)*$/)
      .openapi({ description: 'A JSON pointer' }),
    code: z.string().regex(/^\w+$/),
    message: z.string().min(1),
  })
  .openapi('Fault');
const faults = {
  errors: z.array(FaultShape).max(MAX_LISTED_FAULTS).optional(),
  errors_total: count.optional().openapi({ description: 'How many faults there are in all' }),
};

const ERROR_CODE = z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]);
const PROBLEM_TYPE = z.string().regex(/^urn:falconry:problem:[a-z-]+$/);

/** What every problem document has (RFC 9457); `problemShape` says more about each code. */
export const Problem = z
  .strictObject({
    type: PROBLEM_TYPE,
    title: z.string().min(1),
    status: z.int().min(400).max(599),
    detail: z.string().min(1),
    code: ERROR_CODE,
    ...faults,
    id: z.uuid().optional().openapi({ description: 'What the log knows this answer by' }),
  })
  .openapi('Problem');

/** Codes whose problem document can name parts of the body. */
const WITH_FAULTS: ReadonlySet<ErrorCode> = new Set(['INVALID_BODY', 'TOO_MANY_ITEMS']);

/** The problem document of one code. */
export function problemShape(code: ErrorCode, type: string) {
  const { status, message, retriable } = ERROR_CODES[code];
  return z
    .strictObject({
      type: z.literal(type),
      title: z.literal(message),
      status: z.literal(status),
      detail: z.string().min(1),
      code: z.literal(code),
      ...(WITH_FAULTS.has(code) && faults),
      ...(status === 500 && { id: z.uuid() }),
    })
    .openapi(`Problem_${code}`, {
      description: `${message}.${retriable ? ' The same request can succeed later.' : ''}`,
    });
}

/** Why a task failed: a problem document inside its record. */
export const TaskProblem = z
  .strictObject({
    type: PROBLEM_TYPE,
    title: z.string().min(1),
    status: z.int().min(400).max(599),
    detail: z.string().min(1),
    code: ERROR_CODE,
    invalid: z
      .array(z.strictObject({ index: count, reason: z.string().min(1) }))
      .optional()
      .openapi({ description: 'Every bad item of the batch, not only the first' }),
    ...faults,
  })
  .openapi('TaskProblem');

const record = {
  client_id: z.int(),
  process_id: processId,
  batch_size: count.openapi({ description: '0 until the task file has been read' }),
  VCPUs: z.int().min(1).openapi({ description: 'Worker threads given to the task' }),
  request_utc_time: seconds,
  latest_status_update_iso_utc_time: seconds,
  progress: z
    .strictObject({
      phase: z.enum(['read', 'verify', 'aggregate', 'store']),
      done: count,
      total: count,
    })
    .nullable(),
};
const FORMAT = z.enum(['bundle', 'proof']);

/** The progress record: one shape for each way that a task can stand. */
export const ProgressRecord = z
  .discriminatedUnion('status', [
    z
      .strictObject({
        ...record,
        status: progressText('created', 'uploaded', 'waiting', 'verifying', 'aggregating'),
      })
      .openapi('UnfinishedTask'),
    z
      .strictObject({
        ...record,
        status: progressText('completed'),
        finished_at: nanoseconds,
        result_path: url,
        format: FORMAT,
        result_bytes: count.min(1),
      })
      .openapi('CompletedTask'),
    z
      .strictObject({
        ...record,
        status: progressText('failed'),
        finished_at: nanoseconds,
        error: TaskProblem,
      })
      .openapi('FailedTask'),
    z
      .strictObject({
        ...record,
        status: progressText('cancelled', 'expired'),
        finished_at: nanoseconds,
      })
      .openapi('EndedTask'),
  ])
  .openapi('ProgressRecord');

const meta = { count, created_at: nanoseconds, submitted_at: nanoseconds };

/** One element of a list. */
export const ListItem = z
  .discriminatedUnion('status', [
    z
      .strictObject({
        id: processId,
        status: listText('created', 'uploaded', 'waiting', 'verifying', 'aggregating'),
        meta: z.strictObject(meta),
      })
      .openapi('UnfinishedItem'),
    z
      .strictObject({
        id: processId,
        status: listText('completed'),
        meta: z.strictObject({ ...meta, finished_at: nanoseconds, result_path: url }),
      })
      .openapi('CompletedItem'),
    z
      .strictObject({
        id: processId,
        status: listText('failed', 'cancelled', 'expired'),
        meta: z.strictObject({ ...meta, finished_at: nanoseconds }),
      })
      .openapi('EndedItem'),
  ])
  .openapi('TaskListItem');

/** A cursor as it comes out; what goes in is judged by its checksum. */
export const CURSOR = /^[\w-]{23}$/;

export const TaskList = z
  .strictObject({
    tasks: z.array(ListItem).max(1000),
    next: z
      .string()
      .regex(new RegExp(`^$|${CURSOR.source}`))
      .openapi({ description: 'The cursor of the next page; empty when nothing follows' }),
  })
  .openapi('TaskList');

const milliseconds = z.number().min(0);

export const ResultFile = z
  .strictObject({
    version: z.literal(1),
    process_id: processId,
    count: count.min(1),
    format: FORMAT,
    parameter_set: z.enum(['falcon512', 'falcon1024', 'mixed']),
    statement: lowerHex(
      'SHAKE256-256 commitment to the ordered (parameter set, public key, digest) list',
      /^0x[0-9a-f]{64}$/,
    ),
    aggregate: lowerHex('Bytes of the library', /^0x(?:[0-9a-f]{2})+$/),
    sizes: z.strictObject({
      aggregate: count.min(1),
      salts: count,
      signatures: count,
      public_keys: count,
      digests: count,
    }),
    timings: z.record(z.string().regex(/^\w+_ms$/), milliseconds),
  })
  .openapi('ResultFile');

/**
 * Judges a value by a schema.
 *
 * @throws ProblemError `INVALID_BODY` with one fault for each issue, its path a JSON pointer
 */
export function judge<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.map(
    (issue): Fault => ({
      path: issue.path.map((part) => `/${String(part)}`).join(''),
      code: issue.code === 'custom' ? String(issue.params?.code) : issue.code,
      message: issue.path.length === 0 ? 'must be an object' : issue.message,
    }),
  );
  throw new ProblemError('INVALID_BODY', { errors });
}
