/**
 * A typed client of the service, for any host with `fetch`: browsers, Node, Deno, Bun, workers. It
 * imports nothing of the service, and the library only to verify a result.
 */
export {
  type Client,
  type CreateOptions,
  createClient,
  type ListOptions,
  type PageOptions,
  type SubmitOptions,
} from './client.ts';
export { ClientError, type ClientErrorKind, isClientError } from './clientError.ts';
export { parseExactJson } from './exactJson.ts';
export type { ItemStream } from './parts.ts';
export { type Outcome, outcomeOf } from './records.ts';
export type { ResultOptions } from './result.ts';
export { newIdempotencyKey } from './submit.ts';
export type * from './types.ts';
export type { UploadOptions } from './upload.ts';
export type { WaitOptions } from './waitFor.ts';
