/**
 * The description of a route, as plain data beside its handler. One list gives the routing, the
 * methods of a path, the OpenAPI document, and the contract that tests check every answer against.
 */

import { z } from 'zod';
import type { ErrorCode } from '../../shared/errors.ts';

/** Groups of operations, in the order in which they are shown. */
export const TAGS = {
  Signing: 'For testing: the operator of the service holds the signing keys.',
  Aggregation: 'From signatures to one aggregate, in three steps or with one request.',
  Tasks: 'Read, follow, cancel and remove your tasks.',
  Files: 'Signed URLs: they carry their right with them and need no API key.',
  Documents: 'This document, and pages for people.',
} as const;

export type Tag = keyof typeof TAGS;

/** A parameter in a path, a query or a header. */
export interface Parameter {
  readonly schema: z.ZodType;
  readonly description: string;
  /** Path parameters always are. */
  readonly required?: boolean;
  readonly example?: unknown;
}

export interface RequestBody {
  readonly schema: z.ZodType;
  readonly description: string;
  readonly required: boolean;
  readonly example: unknown;
}

/** Headers of successes; headers.ts describes each one. */
export type AnswerHeader =
  | 'Cache-Control'
  | 'Content-Disposition'
  | 'Content-Length'
  | 'Content-Security-Policy'
  | 'ETag'
  | 'Location';

export interface Answer {
  readonly description: string;
  /** Absent: the answer has no body. */
  readonly schema?: z.ZodType;
  /** Default `application/json`. */
  readonly type?: string;
  readonly headers?: readonly AnswerHeader[];
  readonly example?: unknown;
  /** Of a stream of server-sent events: the JSON that each kind of event holds. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
}

export interface Operation {
  /** Unique; generated clients name their methods by it. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly path?: Readonly<Record<string, Parameter>>;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly headers?: Readonly<Record<string, Parameter>>;
  readonly body?: RequestBody;
  /** By status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /**
   * The errors of this operation, in addition to those of its right (a missing key, a limit, …).
   */
  readonly problems: readonly ErrorCode[];
}

/** The answers with an HTML page, of which clients may keep a copy. */
export const pageAnswers = (page: string, unchanged: string) =>
  ({
    200: {
      description: page,
      schema: z.string(),
      type: 'text/html',
      headers: ['ETag', 'Cache-Control', 'Content-Security-Policy'],
    },
    304: { description: unchanged, headers: ['ETag'] },
  }) as const;
