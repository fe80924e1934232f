/**
 * What the document says of one route, as plain data beside its handler: one list gives routing,
 * the methods of a path, the OpenAPI document and the contract that tests hold every answer to.
 */

import type { ErrorCode } from '../../errors.ts';
import type { z } from './zod.ts';

/** Groups of operations, in the order in which they are shown. */
export const TAGS = {
  Signing: 'For testing: the operator of the service holds the signing keys.',
  Aggregation: 'From signatures to one aggregate, in three steps or by one request.',
  Tasks: 'Reading, following, cancelling and removing your own tasks.',
  Files: 'Signed urls: they carry their right with them and need no API key.',
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

/** Headers of good answers; what each one holds is said once, in the document. */
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
  /** Refusals of this operation; those of its right (a missing key, a limit, …) come on top. */
  readonly problems: readonly ErrorCode[];
}
