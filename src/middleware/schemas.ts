/**
 * The schemas of requests and answers, in zod with their OpenAPI names. They check small bodies;
 * `taskFile.ts` checks arrays of triples by the same rules, in one pass over 1722 items instead of
 * a regular expression over 20 MB. A test compares the two.
 */

import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../shared/errors.ts';
import { decodeWireHex, describeHexFault } from '../wire/hex.ts';
import { MAX_KEY_OR_SIGNATURE_BYTES } from '../wire/taskFile.ts';
import { STATE_TEXTS, type TaskState } from '../wire/taskStates.ts';
import { type Fault, MAX_LISTED_FAULTS, ProblemError } from './problems.ts';

/** A hex string with `0x`, of at most this many bytes; `pattern` is only for the document. */
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
    .meta({ description, pattern, maxLength: 2 + 2 * maxBytes, example });

/** Hex in answers. */
const lowerHex = (description: string, pattern = /^0x(?:[0-9a-f]{2})*$/) =>
  z.string().regex(pattern).meta({ description });

/** Public keys (FALCON round 3, section 3.11.4): the first byte tells the parameter set. */
const KEY = {
  pattern: '^0x(?:09[0-9A-Fa-f]{1792}|0[Aa][0-9A-Fa-f]{3584})$',
  example: `0x09${'5a'.repeat(896)}`,
};
const SIGNATURE = { example: `0x39${'a5'.repeat(665)}` };

/** More bytes than the aggregate of the largest batch. */
export const MAX_AGGREGATE_BYTES = 16 * 1024 * 1024;

/** The schemas of request bodies under these limits. */
export function requestShapes(limits: { maxSignatures: number; maxDigestBytes: number }) {
  const { maxSignatures, maxDigestBytes } = limits;
  const MAX = MAX_KEY_OR_SIGNATURE_BYTES;
  const digest = hexString(maxDigestBytes, 'The message that is signed');
  const signature = hexString(MAX, 'Its signature', SIGNATURE);
  const public_key = hexString(MAX, 'The public key, of Falcon-512 or Falcon-1024', KEY);
  const Triple = z.object({ digest, public_key, signature }).meta({ id: 'Triple' });
  const Statement = z.object({ digest, public_key }).meta({ id: 'Statement' });
  const TaskFileItem = z
    .object({ digest, public_key: hexString(MAX, 'The signer’s key', SIGNATURE), signature })
    .meta({
      id: 'TaskFileItem',
      description:
        'A triple whose key is checked by the worker: with a wrong key, the item is invalid.',
    });
  return {
    SignRequest: z.object({ digest }).meta({ id: 'SignRequest' }),
    AggregateRequest: z
      .object({ data: z.array(Triple).min(1).max(maxSignatures) })
      .meta({ id: 'AggregateRequest' }),
    TaskFile: z.array(TaskFileItem).min(1).max(maxSignatures).meta({ id: 'TaskFile' }),
    VerifyRequest: z
      .object({
        aggregate: hexString(MAX_AGGREGATE_BYTES, 'The aggregate of a result file'),
        statements: z.array(Statement).min(1).max(maxSignatures),
      })
      .meta({ id: 'VerifyRequest' }),
  };
}

export const SignAnswer = z
  .strictObject({
    digest: lowerHex('The message, in lower case'),
    signature: lowerHex('Its signature', /^0x(?:[0-9a-f]{2})+$/),
    public_key: lowerHex('The key to verify it with', /^0x(?:[0-9a-f]{2})+$/),
  })
  .meta({ id: 'SignAnswer' });

export const VerifyAnswer = z
  .strictObject({
    valid: z.boolean(),
    reason: z
      .string()
      .optional()
      .meta({
        description:
          'Why it could not be judged: another format, version, parameter table, profile or ' +
          'coding of salts than this service knows. Absent if it was judged.',
      }),
  })
  .meta({ id: 'VerifyAnswer' });

/** A `process_id`. */
export const processId = z
  .int()
  .min(1)
  .max(Number.MAX_SAFE_INTEGER)
  .meta({ description: 'Later tasks have larger ids', example: 244_807_090_176_000 });

const SECOND_PRECISION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const NANOSECOND_DIGITS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;
const seconds = z
  .string()
  .regex(SECOND_PRECISION)
  .meta({ format: 'date-time', example: '2026-11-21T20:23:05Z' });
const nanoseconds = z
  .string()
  .regex(NANOSECOND_DIGITS)
  .meta({ format: 'date-time', example: '2026-11-21T20:23:05.123456789Z' });
const url = z.string().meta({ format: 'uri' });
const count = z.int().min(0);

export const UploadTicket = z
  .strictObject({ process_id: processId, url, expires_at: seconds })
  .meta({ id: 'UploadTicket' });

const progressText = (...states: TaskState[]) =>
  z.enum(states.map((state) => STATE_TEXTS[state].progress) as [string, ...string[]]);
const listText = (...states: TaskState[]) =>
  z.enum(states.map((state) => STATE_TEXTS[state].list) as [string, ...string[]]);

export const UploadReceipt = z
  .strictObject({ process_id: processId, status: progressText('uploaded'), bytes: count.min(1) })
  .meta({ id: 'UploadReceipt' });

const FaultShape = z
  .strictObject({
    path: z
      .string()
      .regex(/^(?:\/[^/]+)*$/)
      .meta({ description: 'A JSON pointer' }),
    code: z.string().regex(/^\w+$/),
    message: z.string().min(1),
  })
  .meta({ id: 'Fault' });
const faults = {
  errors: z.array(FaultShape).max(MAX_LISTED_FAULTS).optional(),
  errors_total: count.optional().meta({ description: 'The total number of faults' }),
};

const ERROR_CODE = z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]);

/** A trace-id (W3C Trace Context). */
const requestId = z.string().regex(/^[0-9a-f]{32}$/);

/** What every problem document says (RFC 9457). */
const problemMembers = {
  type: z.string().regex(/^urn:falconry:problem:[a-z-]+$/),
  title: z.string().min(1),
  status: z.int().min(400).max(599),
  detail: z.string().min(1),
  code: ERROR_CODE,
};

/** The members of every problem document (RFC 9457); `problemShape` says more about each code. */
export const Problem = z
  .strictObject({
    ...problemMembers,
    ...faults,
    id: requestId.optional().meta({ description: 'The id of the request in the log' }),
  })
  .meta({ id: 'Problem' });

/** Codes whose problem document may list parts of the body. */
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
      ...(code === 'STORAGE_QUOTA' && {
        stored_bytes: count.optional().meta({ description: 'The bytes of your files' }),
        allowed_bytes: count.optional().meta({ description: 'The most that they may have' }),
      }),
      ...(status === 500 && { id: requestId }),
    })
    .meta({
      id: `Problem_${code}`,
      description: `${message}.${retriable ? ' The same request can succeed later.' : ''}`,
    });
}

/** The problem document in the record of a failed task. */
export const TaskProblem = z
  .strictObject({
    ...problemMembers,
    invalid: z
      .array(z.strictObject({ index: count, reason: z.string().min(1) }))
      .optional()
      .meta({ description: 'Every invalid item of the batch, not only the first' }),
    ...faults,
  })
  .meta({ id: 'TaskProblem' });

const record = {
  client_id: z.int(),
  process_id: processId,
  batch_size: count.meta({ description: '0 until the task file has been read' }),
  VCPUs: z.int().min(1).meta({ description: 'Worker threads given to the task' }),
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
const resultExpiresAt = seconds.optional().meta({
  description: 'From then on the task and its result may be removed; absent if they are kept',
});
const FORMAT = z.enum(['bundle', 'proof']);

/** The progress record: one schema for each kind of state. */
export const ProgressRecord = z
  .discriminatedUnion('status', [
    z
      .strictObject({
        ...record,
        status: progressText('created', 'uploaded', 'waiting', 'verifying', 'aggregating'),
        quarantined: z
          .literal(true)
          .optional()
          .meta({ description: 'Set aside: it waits until the operator has it tried again' }),
      })
      .meta({ id: 'UnfinishedTask' }),
    z
      .strictObject({
        ...record,
        status: progressText('completed'),
        finished_at: nanoseconds,
        result_path: url,
        format: FORMAT,
        result_bytes: count.min(1),
        result_expires_at: resultExpiresAt,
      })
      .meta({ id: 'CompletedTask' }),
    z
      .strictObject({
        ...record,
        status: progressText('failed'),
        finished_at: nanoseconds,
        error: TaskProblem,
      })
      .meta({ id: 'FailedTask' }),
    z
      .strictObject({
        ...record,
        status: progressText('cancelled', 'expired'),
        finished_at: nanoseconds,
      })
      .meta({ id: 'EndedTask' }),
  ])
  .meta({ id: 'ProgressRecord' });

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
      .meta({ id: 'UnfinishedItem' }),
    z
      .strictObject({
        id: processId,
        status: listText('completed'),
        meta: z.strictObject({
          ...meta,
          finished_at: nanoseconds,
          result_path: url,
          result_expires_at: resultExpiresAt,
        }),
      })
      .meta({ id: 'CompletedItem' }),
    z
      .strictObject({
        id: processId,
        status: listText('failed', 'cancelled', 'expired'),
        meta: z.strictObject({ ...meta, finished_at: nanoseconds }),
      })
      .meta({ id: 'EndedItem' }),
  ])
  .meta({ id: 'TaskListItem' });

/** A cursor in an answer; in a request it is judged by its checksum. */
const CURSOR = /^[\w-]{23}$/;

export const TaskList = z
  .strictObject({
    tasks: z.array(ListItem).max(1000),
    next: z
      .string()
      .regex(new RegExp(`^$|${CURSOR.source}`))
      .meta({ description: 'The cursor of the next page; empty on a page without tasks' }),
  })
  .meta({ id: 'TaskList' });

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
    aggregate: lowerHex('The bytes of the aggregate', /^0x(?:[0-9a-f]{2})+$/),
    sizes: z.strictObject({
      aggregate: count.min(1),
      salts: count,
      signatures: count,
      public_keys: count,
      digests: count,
    }),
    timings: z.record(z.string().regex(/^\w+_ms$/), milliseconds),
  })
  .meta({ id: 'ResultFile' });

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
