/**
 * Who is calling: the host's `authenticate` tells it by a number, or by a name of its own. The
 * store keeps the number of a name, which the wire shows. Names say something about people: they
 * are never logged, nor told to `onEvent`.
 */
import { CodedError, isCodedError } from '../../shared/errors.ts';
import type { TaskStore } from '../stores/port/taskStore.ts';

/**
 * A client, by number or by a name of 1 to 256 characters. A host uses one of the two: its own
 * numbers and those that the store gives to names know nothing of each other.
 */
export type ClientIdentity = { readonly clientId: number } | { readonly client: string };

/**
 * Tells who sent a request, or null. `key` is the Authorization header, empty if there is none; the
 * request is for reading headers (a session cookie, a token), and its body is to be left alone.
 * Asked again every second while the request's event stream is open.
 */
export type Authenticate = (
  key: string,
  request: Request,
) => ClientIdentity | null | Promise<ClientIdentity | null>;

/** Whether a hook rejected because it knows the caller and why it is refused. */
export const isRefusal = (error: unknown): error is CodedError =>
  isCodedError(error) && error.code === 'UNAUTHENTICATED';

/** The caller by the number on the wire, or null. */
export type FindCaller = (key: string, request: Request) => Promise<{ clientId: number } | null>;

/** No NUL and no half of a surrogate pair, which not every store can keep. */
const NAME = /^[^\0\p{Cs}]{1,256}$/u;

/**
 * @returns the hook with names turned into numbers; it rejects with INTERNAL if the hook errs
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
