/** Task results: fetching, parsing, and verification by the library. */
import { equal } from '../shared/bytes.ts';
import { isWireHex, requireWireHex } from '../wire/hex.ts';
import { toStatement } from './batch.ts';
import { ClientError } from './clientError.ts';
import { type Http, readJson } from './http.ts';
import { asObject, readId } from './records.ts';
import type { CallOptions, ResultFile, StatementInput, TaskId, TaskResult } from './types.ts';

/** Options of `result`. */
export interface ResultOptions extends CallOptions {
  /**
   * The expected ordered list, from a trusted source. If given, the library verifies the aggregate
   * locally and compares the statement and count of the file; a mismatch throws `BAD_RESULT`. Loads
   * `falconry/aggregate` on demand.
   */
  readonly statements?: readonly StatementInput[];
}

/**
 * Fetches a result. The URL alone grants access: the API key is sent only to the service itself,
 * and only if the service asks for it.
 */
export async function fetchResult(
  http: Http,
  id: TaskId,
  url: string,
  { statements, signal }: ResultOptions,
): Promise<TaskResult> {
  const call = { method: 'GET', to: { url }, repeat: 'safe', transfer: true, signal } as const;
  const { text } = await http.send(call).catch((error) => {
    // If the server requires the key, it is sent, provided that the URL is the service's.
    const path = url.startsWith(`${http.base}/`) ? url.slice(http.base.length) : undefined;
    if (path === undefined || error.status !== 401) throw error;
    return http.send({ ...call, to: { path } });
  });
  const json = readJson(text, 'The result url');
  const file = readResultFile(json);
  const aggregate = file && requireWireHex('aggregate', file.aggregate);
  if (file !== null && file.process_id !== null && file.process_id !== id) {
    throw bad('it belongs to another task');
  }
  if (statements !== undefined) await check(file, aggregate, statements);
  return { process_id: id, url, text, json, file, aggregate, checked: statements !== undefined };
}

/** Returns the result file, or null if it is not one of this service. */
function readResultFile(json: unknown): ResultFile | null {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return null;
  const file = json as Record<string, unknown>;
  const { version, process_id, count, format, statement, aggregate } = file;
  const whole =
    version === 1 &&
    typeof count === 'number' &&
    typeof format === 'string' &&
    isWireHex(statement) &&
    isWireHex(aggregate);
  if (!whole) return null;
  return {
    version,
    process_id: process_id === null ? null : readId(process_id),
    count,
    format,
    parameter_set: String(file.parameter_set),
    statement,
    aggregate,
    sizes: asObject(file.sizes ?? {}, 'sizes') as Record<string, number>,
    timings: asObject(file.timings ?? {}, 'timings') as Record<string, number>,
  };
}

async function check(
  file: ResultFile | null,
  aggregate: Uint8Array | null,
  inputs: readonly StatementInput[],
): Promise<void> {
  if (file === null || aggregate === null) {
    throw bad('it is not a result file that can be verified');
  }
  const library = await import('../aggregate/index.ts');
  const statements = inputs.map(toStatement);
  if (file.count !== statements.length) {
    throw bad(`it is about ${file.count} statements, not ${statements.length}`);
  }
  const statement = requireWireHex('statement', file.statement);
  // The identity of a series or a merged proof depends on its division.
  const identity =
    file.format === 'series' || file.format === 'merged'
      ? library.inspectAggregate(aggregate).statement
      : library.statementCommitment(statements);
  if (!equal(statement, identity)) throw bad('it is about a different list');
  if (!library.verifyAggregate(aggregate, statements)) throw bad('its aggregate is not valid');
}

const bad = (why: string) =>
  new ClientError('result', { code: 'BAD_RESULT', message: `The result is refused: ${why}` });
