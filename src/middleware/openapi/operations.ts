/** What the document says of every endpoint. The routes refer to it by name. */

import type { ErrorCode } from '../../errors.ts';
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
import { STATE_TEXTS } from '../task.ts';
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
import { z } from './zod.ts';

/** A body that is read as it comes, whatever it is. */
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
  'UNSUPPORTED_MEDIA_TYPE',
  'INVALID_BODY',
] as const satisfies ErrorCode[];

const id: Parameter = {
  schema: z.string().regex(/^\d{1,18}$/),
  description: 'The `process_id` of one of your own tasks; any other is a 404',
  example: '244807090176000',
};
const idempotencyKey: Parameter = {
  schema: z.string().regex(/^(?:[\x21\x23-\x7e]{1,255}|"[\x21\x23-\x7e]{1,255}")$/),
  description:
    'A name of your own for this request: a repeat gets the answer of the first, and makes no second ' +
    'task. Kept for a day. Bare or as a quoted string.',
  example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
};
const signedQuery = (until: string): Record<string, Parameter> => ({
  expires: {
    schema: z.string().regex(/^[1-9]\d{0,14}$/),
    description: `Unix seconds until which the url ${until}`,
    required: true,
    example: '1795295000',
  },
  signature: {
    schema: z.string().regex(/^[\w-]{43}$/),
    description: 'HMAC-SHA256 over method, path and end',
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

export type Operations = ReturnType<typeof operations>;

/** Every operation of the service under these limits, by its id. */
export function operations(limits: { maxSignatures: number; maxDigestBytes: number }) {
  const { SignRequest, AggregateRequest, TaskFile, VerifyRequest } = requestShapes(limits);
  return {
    sign: {
      id: 'sign',
      tag: 'Signing',
      summary: 'Sign a message',
      description:
        'With a key that the operator holds: for testing. Off where the service runs in production.',
      body: {
        schema: SignRequest,
        description: 'The message, as hex',
        required: true,
        example: { digest: EXAMPLE_DIGEST },
      },
      answers: { 200: { description: 'Signed', schema: SignAnswer, example: triple } },
      problems: [...READS_JSON, 'SIGNING_DISABLED'],
    },
    createTask: {
      id: 'createTask',
      tag: 'Aggregation',
      summary: 'Create a task (first of three steps)',
      description: 'Issues the id and the url to upload the task file to. No body is needed.',
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
        'IDEMPOTENCY_MISMATCH',
        'TOO_MANY_TASKS',
        'STORAGE_QUOTA',
      ],
    },
    renewUploadUrl: {
      id: 'renewUploadUrl',
      tag: 'Aggregation',
      summary: 'Get a new upload url',
      description: 'Moves the end of the wait for upload and notification; earlier urls stay good.',
      path: { process_id: id },
      answers: {
        200: { description: 'The new url', schema: UploadTicket, example: exampleTicket },
      },
      problems: ['NOT_FOUND', 'CONFLICT'],
    },
    notifyTask: {
      id: 'notifyTask',
      tag: 'Aggregation',
      summary: 'Tell that the task file is uploaded (third step)',
      description:
        'The task goes into the queue, its file is frozen. Any repeat answers with the record as it is now.',
      path: { process_id: id },
      answers: accepted('Accepted'),
      problems: [...READS_BODY, 'NOT_FOUND', 'NOT_UPLOADED', 'CONFLICT'],
    },
    aggregate: {
      id: 'aggregate',
      tag: 'Aggregation',
      summary: 'Aggregate signatures by one request',
      description: 'Falcon-512 and Falcon-1024 may be mixed; order is yours; repeats are legal.',
      headers: { 'Idempotency-Key': idempotencyKey },
      body: {
        schema: AggregateRequest,
        description: 'The triples',
        required: true,
        example: { data: [triple] },
      },
      answers: accepted('Accepted, in the queue'),
      problems: [
        ...READS_JSON,
        'TOO_MANY_ITEMS',
        'IDEMPOTENCY_CONFLICT',
        'IDEMPOTENCY_MISMATCH',
        'TOO_MANY_TASKS',
        'STORAGE_QUOTA',
      ],
    },
    verifyAggregate: {
      id: 'verifyAggregate',
      tag: 'Aggregation',
      summary: 'Verify an aggregate',
      description: 'For clients that cannot run the WebAssembly library.',
      body: {
        schema: VerifyRequest,
        description: 'The aggregate, and the list that it is about, in order',
        required: true,
        example: { aggregate: '0x464c4147', statements: [statement] },
      },
      answers: {
        200: {
          description: 'Judged; what is no aggregate is simply not valid',
          schema: VerifyAnswer,
          example: { valid: true },
        },
      },
      problems: [...READS_JSON, 'TOO_MANY_ITEMS', 'THREAD_LOST'],
    },
    listTasks: {
      id: 'listTasks',
      tag: 'Tasks',
      summary: 'List your tasks',
      description: 'Oldest first by default; stable while tasks arrive.',
      query: {
        limit: {
          schema: z.int().min(1).max(1000).openapi({ default: 100 }),
          description: 'Most tasks of a page',
          example: 100,
        },
        cursor: {
          schema: z.string(),
          description: 'The `next` of the previous page; empty: past the end',
        },
        status: {
          schema: z.enum(statusTexts),
          description: 'Only tasks with this status: the text of the list or of the record',
          example: 'completed',
        },
        order: { schema: z.enum(['asc', 'desc']), description: 'By id; `asc` when absent' },
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
      description: 'Cancels what is not finished, takes away what is, with its files.',
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
      answers: { 302: { description: 'To the signed url of the file', headers: ['Location'] } },
      problems: ['NOT_FOUND', 'CONFLICT'],
    },
    followTask: {
      id: 'followTask',
      tag: 'Tasks',
      summary: 'Follow a task',
      description:
        'The progress record at every change, from the present one on, until the task has ended; ' +
        'comments in between keep the line open.',
      path: { id },
      answers: {
        200: {
          description:
            'Server-sent events, each named `progress` with a progress record as its data',
          schema: z.string(),
          type: 'text/event-stream',
          events: { progress: ProgressRecord },
          example: `event: progress\ndata: ${JSON.stringify(waitingRecord)}\n\n`,
        },
      },
      problems: ['NOT_FOUND', 'TOO_MANY_STREAMS'],
    },
    uploadTaskFile: {
      id: 'uploadTaskFile',
      tag: 'Files',
      summary: 'Upload a task file (second step)',
      description:
        'The `url` of a ticket. A later upload before the notification replaces the file. What the ' +
        'file holds is judged by the worker.',
      path: { process_id: id },
      query: signedQuery('takes a file'),
      body: {
        schema: TaskFile,
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
        'LENGTH_REQUIRED',
        'UNSUPPORTED_MEDIA_TYPE',
        'NOT_FOUND',
        'CONFLICT',
        'STORAGE_QUOTA',
      ],
    },
    downloadResult: {
      id: 'downloadResult',
      tag: 'Files',
      summary: 'Download a result file',
      description: 'The `result_path` of a record or of a list item; made fresh at every read.',
      path: {
        attempt: {
          schema: z.string().regex(/^\d{1,9}$/),
          description: 'The attempt that made the file',
          example: '1',
        },
        file: {
          schema: z.string().regex(/^\d{1,18}\.json$/),
          description: 'The task’s id and `.json`',
          example: '244807090176000.json',
        },
      },
      query: signedQuery('gives the file'),
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
    getDocumentation: {
      id: 'getDocumentation',
      tag: 'Documents',
      summary: 'This document as a page',
      answers: {
        200: {
          description: 'For people',
          schema: z.string(),
          type: 'text/html',
          headers: ['ETag', 'Cache-Control', 'Content-Security-Policy'],
        },
        304: { description: 'Not changed', headers: ['ETag'] },
      },
      problems: [],
    },
  } as const satisfies Record<string, Operation>;
}
