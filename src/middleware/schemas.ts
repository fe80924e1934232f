/**
 * The shapes of requests and answers, in zod with their OpenAPI names. Small bodies are judged by
 * them; arrays of triples are judged by `taskFile.ts` (same rules, one pass over 1722 items instead of
 * a regular expression over 20 MB) and only described here.
 */
import { z } from '@hono/zod-openapi';
import { type Fault, ProblemError } from './problems.ts';
import { decodeWireHex, describeHexFault } from './wireHex.ts';

/** A hex string with `0x`, of at most so many bytes. */
export const hexString = (maxBytes: number, description: string) =>
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
    .openapi({
      description,
      pattern: '^0x(?:[0-9A-Fa-f]{2})*$',
      maxLength: 2 + 2 * maxBytes,
      example: '0x68656c6c6f',
    });

export const signRequest = (maxDigestBytes: number) =>
  z.object({ digest: hexString(maxDigestBytes, 'The message to sign') }).openapi('SignRequest');

export const SignAnswer = z
  .object({ digest: z.string(), signature: z.string(), public_key: z.string() })
  .openapi('SignAnswer');

export const Triple = z
  .object({ digest: z.string(), public_key: z.string(), signature: z.string() })
  .openapi('Triple');

export const AggregateRequest = z
  .object({ data: z.array(Triple).min(1).max(1722) })
  .openapi('AggregateRequest');

export const Statement = z
  .object({ digest: z.string(), public_key: z.string() })
  .openapi('Statement');

/** More bytes than any aggregate of the largest batch has. */
const MAX_AGGREGATE_BYTES = 16 * 1024 * 1024;

/** Of a verification only `aggregate` is judged by the schema; `statements` by `checkStatements`. */
export const VerifyRequest = z
  .object({
    aggregate: hexString(MAX_AGGREGATE_BYTES, 'The aggregate of a result file'),
    statements: z.unknown(),
  })
  .openapi('VerifyRequest');

export const VerifyAnswer = z.object({ valid: z.boolean() }).openapi('VerifyAnswer');

export const UploadTicket = z
  .object({
    process_id: z.int(),
    url: z.string().openapi({ format: 'uri' }),
    expires_at: z.string().openapi({ format: 'date-time' }),
  })
  .openapi('UploadTicket');

export const UploadReceipt = z
  .object({ process_id: z.int(), status: z.string(), bytes: z.int() })
  .openapi('UploadReceipt');

const FaultSchema = z
  .object({ path: z.string(), code: z.string(), message: z.string() })
  .openapi('Fault');

export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    errors: z.array(FaultSchema).optional(),
    errors_total: z.int().optional(),
    invalid: z.array(z.object({ index: z.int(), reason: z.string() })).optional(),
  })
  .openapi('Problem');

const SECOND_PRECISION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const NANOSECOND_DIGITS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;

export const ProgressRecord = z
  .object({
    client_id: z.int(),
    process_id: z.int(),
    status: z.string(),
    batch_size: z.int(),
    VCPUs: z.int(),
    request_utc_time: z.string().regex(SECOND_PRECISION),
    latest_status_update_iso_utc_time: z.string().regex(SECOND_PRECISION),
    progress: z.object({ phase: z.string(), done: z.int(), total: z.int() }).nullable(),
    error: Problem.optional(),
    finished_at: z.string().regex(NANOSECOND_DIGITS).optional(),
    result_path: z.string().optional(),
    format: z.string().optional(),
    result_bytes: z.int().optional(),
  })
  .openapi('ProgressRecord');

export const ListItem = z
  .object({
    id: z.int(),
    status: z.string(),
    meta: z.object({
      count: z.int(),
      created_at: z.string().regex(NANOSECOND_DIGITS),
      submitted_at: z.string().regex(NANOSECOND_DIGITS),
      finished_at: z.string().regex(NANOSECOND_DIGITS).optional(),
      result_path: z.string().optional(),
    }),
  })
  .openapi('TaskListItem');

export const TaskList = z
  .object({ tasks: z.array(ListItem), next: z.string() })
  .openapi('TaskList');

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
