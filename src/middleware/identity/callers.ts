/**
 * Identification of callers: the host's `authenticate` returns a client's number or name. The store
 * keeps the number of each name; only numbers appear on the wire. Names are personal data: they are
 * never logged or passed to `onEvent`.
 */
import { CodedError, isCodedError } from '../../shared/errors.ts';
import type { TaskStore } from '../stores/port/taskStore.ts';

/**
 * A client, by number or by a name of 1 to 256 characters. A host must use only one of the two: its
 * own numbers may collide with those that the store assigns to names.
 */
export type ClientIdentity = { readonly clientId: number } | { readonly client: string };

/**
 * Returns the sender of a request, or null. `key` is the Authorization header, empty if absent. The
 * hook may read the request's headers (a session cookie, a token), but not its body. It is called
 * again every second while the request's event stream is open.
 */
export type Authenticate = (
  key: string,
  request: Request,
) => ClientIdentity | null | Promise<ClientIdentity | null>;

/** Returns whether a hook rejected a known caller for a stated reason. */
export const isRefusal = (error: unknown): error is CodedError =>
  isCodedError(error) && error.code === 'UNAUTHENTICATED';

/** Returns the caller's number, or null. */
export type FindCaller = (key: string, request: Request) => Promise<{ clientId: number } | null>;

/** No NUL and no lone surrogates, which some stores cannot keep. */
const NAME = /^[^\0\p{Cs}]{1,256}$/u;

/**
 * Converts names to numbers. The result rejects with INTERNAL if the hook returns anything else.
 */
export function callerFinder(
  authenticate: Authenticate,
  store: Pick<TaskStore, 'clientNamed'>,
): FindCaller {
  return async (key, request) => {
    const identity = await authenticate(key, request);
    if (identity === null || identity === undefined) return null;
    const { clientId, client } = identity as { clientId?: unknown; client?: unknown };
    if (client === undefined) {
      if (Number.isSafeInteger(clientId)) return { clientId: clientId as number };
      throw wrong('clientId must be an integer');
    }
    if (clientId !== undefined) throw wrong('clientId and client exclude each other');
    if (typeof client === 'string' && NAME.test(client)) {
      return { clientId: await store.clientNamed(client) };
    }
    throw wrong('client must be a name of 1 to 256 characters');
  };
}

const wrong = (what: string) =>
  new CodedError('INTERNAL', { cause: new TypeError(`authenticate: ${what}`) });
