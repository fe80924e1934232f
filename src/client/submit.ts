/** Submission of a batch: in one request, or by create, upload and notify. */

import { toHex } from '../shared/bytes.ts';
import type { HostSignal } from '../shared/hostTypes.ts';
import { beforeNotification } from '../wire/taskStates.ts';
import { ClientError, malformed } from './clientError.ts';
import { type Http, parseOrNothing } from './http.ts';
import { asObject, readId, readRecord } from './records.ts';
import { outcomeUnknown, type Repeat } from './retry.ts';
import type { CallOptions, ClientOptions, TaskId, TaskRecord } from './types.ts';

/** Returns a new Idempotency-Key. (`crypto.randomUUID` does not exist on pages without https.) */
export function newIdempotencyKey(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}

/**
 * Returns the retry policy of a POST with an Idempotency-Key. Asks the server only after an unknown
 * outcome.
 */
export function repeatUnderKey(
  http: Http,
  support: NonNullable<ClientOptions['idempotencyKeys']>,
  path: string,
  signal?: HostSignal,
): (error: ClientError) => Promise<Repeat> {
  return async (error) => {
    if (support !== 'ask') return support ? 'safe' : 'unsafe';
    return outcomeUnknown(error) && (await saysItKnowsKeys(http, path, signal)) ? 'safe' : 'unsafe';
  };
}

/** Returns whether the server's OpenAPI document declares the header. */
async function saysItKnowsKeys(http: Http, path: string, signal?: HostSignal): Promise<boolean> {
  try {
    const to = { path: '/v1/openapi.json' };
    const document = asObject(await http.json({ method: 'GET', to, repeat: 'safe', signal }), 'It');
    const paths = asObject(document.paths, 'paths');
    const operation = asObject(asObject(paths[path], 'path').post, 'post');
    const parameters = Array.isArray(operation.parameters) ? operation.parameters : [];
    return parameters
      .map((each) => resolved(document, each))
      .some((each) => each?.in === 'header' && /^idempotency-key$/i.test(String(each?.name)));
  } catch (error) {
    if (error instanceof ClientError && error.kind !== 'aborted') return false;
    throw error;
  }
}

/**
 * Returns the number of items beyond which a list needs parts, by the server's OpenAPI document;
 * infinite if it has no such tasks.
 */
export async function maxItemsWithoutParts(
  http: Http,
  path: string,
  signal?: HostSignal,
): Promise<number> {
  try {
    const to = { path: '/v1/openapi.json' };
    const document = asObject(await http.json({ method: 'GET', to, repeat: 'safe', signal }), 'It');
    const hasParts = `${path}/task/{process_id}/part` in asObject(document.paths, 'paths');
    const schemas = asObject(asObject(document.components, 'components').schemas, 'schemas');
    const { maxItems } = asObject(schemas.TaskFile, 'TaskFile');
    return hasParts && typeof maxItems === 'number' ? maxItems : Number.POSITIVE_INFINITY;
  } catch (error) {
    if (error instanceof ClientError && error.kind !== 'aborted') return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** Returns a parameter of a document; a reference is followed to the document's components. */
function resolved(document: Record<string, unknown>, parameter: unknown) {
  const reference = (parameter as { $ref?: unknown } | null)?.$ref;
  const name = /^#\/components\/parameters\/([\w.-]+)$/.exec(String(reference))?.[1];
  if (name === undefined) return parameter as Record<string, unknown> | null;
  const { parameters } = asObject(document.components, 'components');
  return asObject(asObject(parameters, 'parameters')[name], name);
}

/**
 * Returns the record in the answer to an accepted batch. The contract does not specify that answer;
 * without a record, it must at least contain the task's id, in its body or in `Location`.
 */
export async function acceptedRecord(
  body: unknown,
  location: string | null,
  record: (id: TaskId) => Promise<TaskRecord>,
): Promise<TaskRecord> {
  try {
    return readRecord(body);
  } catch {
    const { process_id, id } = (body ?? {}) as { process_id?: unknown; id?: unknown };
    const located = /\/(\d{1,30})\/?$/.exec(location ?? '')?.[1];
    const named = readId(process_id) ?? readId(id) ?? located;
    if (named !== undefined) return record(named);
    throw malformed('The server accepted the batch but did not name the task');
  }
}

/**
 * Announces that the file is uploaded. Safe to repeat: if a repeat is rejected because the first
 * notification arrived, the record shows that.
 */
export async function notifyUploaded(
  http: Http,
  path: string,
  id: TaskId,
  record: (id: TaskId) => Promise<TaskRecord>,
  { signal }: CallOptions,
): Promise<TaskRecord> {
  let maybeHeard = false;
  try {
    const { text } = await http.send({
      method: 'POST',
      to: { path: `${path}/${id}` },
      repeat: async (error) => {
        maybeHeard ||= outcomeUnknown(error);
        return 'safe';
      },
      signal,
    });
    return await acceptedRecord(parseOrNothing(text), `/${id}`, record);
  } catch (error) {
    const refused = error instanceof ClientError && error.kind === 'problem' && maybeHeard;
    if (!refused || (error.status !== 409 && error.status !== 404)) throw error;
    const now = await record(id);
    if (beforeNotification(now.status)) throw error;
    return now;
  }
}
