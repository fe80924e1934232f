/** The description of every endpoint in the document. The routes refer to it by name. */

import { z } from 'zod';
import type { ErrorCode } from '../../shared/errors.ts';
import { STATE_TEXTS } from '../../wire/taskStates.ts';
import {
  ProgressRecord,
  ResultFile,
  requestShapes,
  SignAnswer,
  TaskList,
  UploadReceipt,
  UploadTicket,
  VerifyAnswer,
} from '../schemas.ts';
import {
  completedRecord,
  EXAMPLE_DIGEST,
  EXAMPLE_KEY,
  EXAMPLE_SIGNATURE,
  exampleList,
  exampleResult,
  exampleTicket,
  waitingRecord,
} from './examples.ts';
import type { Operation, Parameter } from './operation.ts';

/** Problems of requests whose body is read. */
const READS_BODY = [
  'INVALID_HEADER',
  'INCOMPLETE_BODY',
  'REQUEST_TIMEOUT',
  'BODY_TOO_LARGE',
  'OVERLOADED',
  'BODY_CONSUMED',
] as const satisfies ErrorCode[];
const READS_JSON = [
  ...READS_BODY,
  'MALFORMED_JSON',
  'MALFORMED_GZIP',
  'UNSUPPORTED_MEDIA_TYPE',
  'INVALID_BODY',
] as const satisfies ErrorCode[];

const id: Parameter = {
  schema: z.string().regex(/^\d{1,18}$/),
  description: 'The `process_id` of one of your tasks; any other id is a 404',
  example: '244807090176000',
};
const idempotencyKey: Parameter = {
  schema: z.string().regex(/^(?:[\x21\x23-\x7e]{1,255}|"[\x21\x23-\x7e]{1,255}")$/),
  description:
    'A name that you choose for this request. A repeat under the same name gets the first answer ' +
    'and creates no second task. Kept for a day. Bare or as a quoted string.',
  example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
};
const signedQuery = (until: string): Record<string, Parameter> => ({
  expires: {
    schema: z.string().regex(/^[1-9]\d{0,14}$/),
    description: `Unix time in seconds until which the URL ${until}`,
    required: true,
    example: '1795295000',
  },
  signature: {
    schema: z.string().regex(/^[\w-]{43}$/),
    description: 'HMAC-SHA256 over method, path and expiry',
    required: true,
    example: 'uCqgEJq1mQkGq2yZCz1Qm1c2nTn1xJ0b0uGm0R5oZ3A',
  },
});
const statusTexts = [
  ...new Set(Object.values(STATE_TEXTS).flatMap(({ list, progress }) => [list, progress])),
] as [string, ...string[]];

const accepted = (description: string) => ({
  202: {
    description,
    schema: ProgressRecord,
    headers: ['Location' as const],
    example: waitingRecord,
  },
});

const triple = {
  digest: EXAMPLE_DIGEST,
  public_key: EXAMPLE_KEY,
  signature: EXAMPLE_SIGNATURE,
};
const { signature: _, ...statement } = triple;

/** Operations without a request body. */
const FIXED = {
  createTask: {
    id: 'createTask',
    tag: 'Aggregation',
    summary: 'Create a task (first of three steps)',
    description:
      'Returns the id of the task and the URL for its file. No body is needed. If it says ' +
      '`{"bytes": n}` and the URL leads past the service, the file must have this length.',
    headers: { 'Idempotency-Key': idempotencyKey },
    answers: {
      201: {
        description: 'Created',
        schema: UploadTicket,
        headers: ['Location'],
        example: exampleTicket,
      },
    },
    problems: [
      ...READS_BODY,
      'IDEMPOTENCY_CONFLICT',
      'IDEMPOTENCY_GONE',
      'IDEMPOTENCY_MISMATCH',
      'TOO_MANY_TASKS',
      'STORAGE_QUOTA',
    ],
  },
  renewUploadUrl: {
    id: 'renewUploadUrl',
    tag: 'Aggregation',
    summary: 'Get a new upload URL',
    description: 'Extends the time for upload and notification; earlier URLs stay valid.',
    path: { process_id: id },
    answers: {
      200: { description: 'The new URL', schema: UploadTicket, example: exampleTicket },
    },
    problems: ['NOT_FOUND', 'CONFLICT'],
  },
  notifyTask: {
    id: 'notifyTask',
    tag: 'Aggregation',
    summary: 'Announce that the task file is uploaded (third step)',
    description:
      'Puts the task into the queue; its file can no longer be replaced. Repeats return the ' +
      'current record.',
    path: { process_id: id },
    answers: accepted('Accepted'),
    problems: [
      ...READS_BODY,
      'NOT_FOUND',
      'NOT_UPLOADED',
      'CONFLICT',
      'MALFORMED_JSON',
      'UNSUPPORTED_MEDIA_TYPE',
      'STORAGE_QUOTA',
    ],
  },
  listTasks: {
    id: 'listTasks',
    tag: 'Tasks',
    summary: 'List your tasks',
    description: 'Oldest first by default; stable while tasks arrive.',
    query: {
      limit: {
        schema: z.int().min(1).max(1000).meta({ default: 100 }),
        description: 'Largest number of tasks on a page',
        example: 100,
      },
      cursor: {
        schema: z.string(),
        description: 'The `next` of the previous page; empty for the first page',
      },
      status: {
        schema: z.enum(statusTexts),
        description: 'Only tasks with this status: its text in the list or in the record',
        example: 'completed',
      },
      order: { schema: z.enum(['asc', 'desc']), description: 'By id; `asc` by default' },
    },
    answers: { 200: { description: 'One page', schema: TaskList, example: exampleList } },
    problems: ['INVALID_QUERY', 'INVALID_CURSOR'],
  },
  getTask: {
    id: 'getTask',
    tag: 'Tasks',
    summary: 'Read a task',
    path: { id },
    answers: {
      200: {
        description: 'The progress record',
        schema: ProgressRecord,
        example: completedRecord,
      },
    },
    problems: ['NOT_FOUND'],
  },
  removeTask: {
    id: 'removeTask',
    tag: 'Tasks',
    summary: 'Cancel or remove a task',
    description: 'Cancels an unfinished task; removes a finished task with its files.',
    path: { id },
    answers: {
      200: {
        description: 'Cancelled',
        schema: ProgressRecord,
        example: {
          ...waitingRecord,
          status: 'cancelled',
          finished_at: completedRecord.finished_at,
        },
      },
      204: { description: 'Removed' },
    },
    problems: ['NOT_FOUND'],
  },
  getResult: {
    id: 'getResult',
    tag: 'Tasks',
    summary: 'Go to the result file',
    path: { id },
    answers: {
      302: { description: 'To the signed URL of the file', headers: ['Location'] },
    },
    problems: ['NOT_FOUND', 'CONFLICT'],
  },
  followTask: {
    id: 'followTask',
    tag: 'Tasks',
    summary: 'Follow a task',
    description:
      'Sends the progress record now and at every change until the task has ended; comments in ' +
      'between keep the connection open.',
    path: { id },
    answers: {
      200: {
        description: 'Server-sent events, each named `progress` with a progress record as its data',
        schema: z.string(),
        type: 'text/event-stream',
        events: { progress: ProgressRecord },
        example: `event: progress\ndata: ${JSON.stringify(waitingRecord)}\n\n`,
      },
    },
    problems: ['NOT_FOUND', 'TOO_MANY_STREAMS'],
  },
  downloadResult: {
    id: 'downloadResult',
    tag: 'Files',
    summary: 'Download a result file',
    description: 'The `result_path` of a record or a list item, signed anew at every read.',
    path: {
      attempt: {
        schema: z.string().regex(/^\d{1,9}$/),
        description: 'The attempt that produced the file',
        example: '1',
      },
      file: {
        schema: z.string().regex(/^\d{1,18}\.json$/),
        description: 'The task’s id and `.json`',
        example: '244807090176000.json',
      },
    },
    query: signedQuery('is valid'),
    answers: {
      200: {
        description: 'The result file',
        schema: ResultFile,
        headers: ['Content-Length', 'Content-Disposition', 'Cache-Control'],
        example: exampleResult,
      },
    },
    problems: ['NOT_FOUND'],
  },
  getDocument: {
    id: 'getDocument',
    tag: 'Documents',
    summary: 'This document',
    answers: {
      200: {
        description: 'OpenAPI 3.1',
        schema: z.looseObject({ openapi: z.string().regex(/^3\.1\.\d+$/) }),
        headers: ['ETag', 'Cache-Control', 'Content-Security-Policy'],
      },
      304: { description: 'Not changed', headers: ['ETag'] },
    },
    problems: [],
  },
} as const satisfies Record<string, Operation>;

/** Operations whose bodies depend on the limits of the service; the schemas are added there. */
const WITH_BODY = {
  sign: {
    id: 'sign',
    tag: 'Signing',
    summary: 'Sign a message',
    description: 'For testing: the operator holds the key. Off by default in production.',
    body: {
      description: 'The message, as hex',
      required: true,
      example: { digest: EXAMPLE_DIGEST },
    },
    answers: { 200: { description: 'Signed', schema: SignAnswer, example: triple } },
    problems: [...READS_JSON, 'SIGNING_DISABLED', 'SIGNING_REFUSED', 'TIMED_OUT'],
  },
  aggregate: {
    id: 'aggregate',
    tag: 'Aggregation',
    summary: 'Aggregate signatures with one request',
    description: 'May mix Falcon-512 and Falcon-1024, in any order, with repeats.',
    headers: { 'Idempotency-Key': idempotencyKey },
    body: {
      description: 'The triples',
      required: true,
      example: { data: [triple] },
    },
    answers: accepted('Accepted and queued'),
    problems: [
      ...READS_JSON,
      'TOO_MANY_ITEMS',
      'IDEMPOTENCY_CONFLICT',
      'IDEMPOTENCY_GONE',
      'IDEMPOTENCY_MISMATCH',
      'TOO_MANY_TASKS',
      'STORAGE_QUOTA',
      'STORAGE_FULL',
    ],
  },
  verifyAggregate: {
    id: 'verifyAggregate',
    tag: 'Aggregation',
    summary: 'Verify an aggregate',
    description:
      'For clients that cannot run the WebAssembly library. Takes bundles and proofs of the ' +
      'present version of their format.',
    body: {
      description: 'The aggregate, and the ordered list that it is about',
      required: true,
      example: { aggregate: '0x464c5259', statements: [statement] },
    },
    answers: {
      200: {
        description:
          'The verdict; anything that is not an aggregate is not valid. `reason` tells results ' +
          'of older versions from wrong ones.',
        schema: VerifyAnswer,
        example: { valid: true },
      },
    },
    problems: [...READS_JSON, 'TOO_MANY_ITEMS', 'THREAD_LOST'],
  },
  uploadTaskFile: {
    id: 'uploadTaskFile',
    tag: 'Files',
    summary: 'Upload a task file (second step)',
    description:
      'PUT to the `url` of a ticket. Until the notification, later uploads replace the file; one ' +
      'that is still being sent is answered with 409 then. The worker checks the content.',
    path: { process_id: id },
    query: signedQuery('accepts a file'),
    body: {
      description: 'The triples',
      required: true,
      example: [triple],
    },
    answers: {
      200: {
        description: 'Stored',
        schema: UploadReceipt,
        example: {
          process_id: exampleTicket.process_id,
          status: 'wait for notification',
          bytes: 4096,
        },
      },
    },
    problems: [
      'INVALID_HEADER',
      'INCOMPLETE_BODY',
      'REQUEST_TIMEOUT',
      'BODY_TOO_LARGE',
      'BODY_CONSUMED',
      'MALFORMED_JSON',
      'MALFORMED_GZIP',
      'LENGTH_REQUIRED',
      'UNSUPPORTED_MEDIA_TYPE',
      'NOT_FOUND',
      'CONFLICT',
      'TOO_MANY_UPLOADS',
      'STORAGE_QUOTA',
      'STORAGE_FULL',
    ],
  },
} as const;

export type Operations = ReturnType<typeof operations>;

/** Every operation of the service under these limits, by its id. */
export function operations(limits: { maxSignatures: number; maxDigestBytes: number }) {
  const { SignRequest, AggregateRequest, TaskFile, VerifyRequest } = requestShapes(limits);
  const { sign, aggregate, verifyAggregate, uploadTaskFile } = WITH_BODY;
  return {
    ...FIXED,
    sign: { ...sign, body: { ...sign.body, schema: SignRequest } },
    aggregate: {
      ...aggregate,
      body: { ...aggregate.body, schema: AggregateRequest },
    },
    verifyAggregate: {
      ...verifyAggregate,
      body: { ...verifyAggregate.body, schema: VerifyRequest },
    },
    uploadTaskFile: {
      ...uploadTaskFile,
      body: { ...uploadTaskFile.body, schema: TaskFile },
    },
  } as const satisfies Record<string, Operation>;
}
