/**
 * The stores that all hosts of a service share: tasks and API keys in PostgreSQL, files in a
 * bucket. Both are asked before anything else starts, so that a wrong address is told at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger, ServiceOptions } from '../../middleware/index.ts';
import type { CompleteStore } from '../../middleware/stores/port/serviceStore.ts';
import { isCodedError } from '../../shared/errors.ts';
import { type Io, IoFailure, UsageError } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import type { SettingName, SHARED } from '../lib/settings.ts';
import { loadPostgres, loadS3 } from './drivers.ts';
import { createLogger } from './log.ts';

type SharedName = (typeof SHARED)[number];
type Values<Name extends SettingName> = Config<Name>['values'];
type DatabaseValues = Pick<Values<'database' | 'databaseDirect'>, 'database'> &
  Partial<Values<'databaseDirect'>>;
type BlobValues = Values<'blobs' | 's3Endpoint' | 's3Region'> &
  Partial<Values<'uploads' | 'results'>>;
export type SharedValues = Values<SharedName> & BlobValues;

export interface SharedStores {
  /** Null without `--database`. */
  readonly store: CompleteStore | null;
  /** Those that were asked for. */
  readonly options: Pick<ServiceOptions, 'store' | 'blobs'>;
  /** As people may see them; null for those that were not asked for. */
  readonly shown: { readonly database: string | null; readonly blobs: string | null };
  /** To be called after the service has stopped. */
  close(): Promise<void>;
}

/** What serving and working begin with. */
export interface Opened {
  readonly shared: SharedStores;
  readonly logger: Logger;
}

/**
 * Opens the log, tells it the warnings, and opens the shared stores, which are closed afterwards.
 *
 * @param connections most of them to the database
 * @throws UsageError, IoFailure
 */
export async function withShared<T>(
  { values, warnings }: Pick<Config<SharedName | 'log' | 'logLevel'>, 'values' | 'warnings'>,
  io: Io,
  use: (opened: Opened) => Promise<T>,
  connections?: number,
): Promise<T> {
  const logger = createLogger(io, values.logLevel, values.log);
  for (const warning of warnings) logger.warn(warning);
  const shared = await openShared(values, io.env, connections);
  try {
    return await use({ shared, logger });
  } finally {
    await shared.close();
  }
}

/**
 * Opens the stores that the settings name; with none, the service has its own.
 *
 * @param connections most of them to the database
 * @throws UsageError, IoFailure
 */
async function openShared(
  values: SharedValues,
  env: Io['env'],
  connections?: number,
): Promise<SharedStores> {
  const { database } = values;
  // First what cannot wait: a mistake in the settings.
  const blobs = values.blobs === undefined ? null : await makeBlobs(values, env);
  const store = database === undefined ? null : await makeStore(values, connections);
  try {
    await store?.open().catch((error) => {
      throw explained(error);
    });
    if (blobs !== null) await reach(blobs, values.blobs!);
  } catch (error) {
    await store?.close();
    throw error;
  }
  return {
    store,
    options: { ...(store && { store }), ...(blobs && { blobs }) },
    shown: {
      database: database === undefined ? null : await showDatabase(database),
      blobs: values.blobs ?? null,
    },
    close: async () => store?.close(),
  };
}

/** The store in the database, not opened yet. @throws UsageError, IoFailure */
export async function makeStore(
  { database, databaseDirect }: DatabaseValues,
  connections = 10,
): Promise<CompleteStore> {
  const { postgresStore } = await loadPostgres();
  const direct = databaseDirect === undefined ? {} : { directUrl: databaseDirect };
  return asUsage({ url: 'database', directUrl: 'databaseDirect' }, () =>
    postgresStore({ url: database!, ...direct, connections }),
  );
}

/** Host, port and name of a database. */
export async function showDatabase(url: string): Promise<string> {
  const { readAddress } = await import('../../middleware/stores/postgres/address.ts');
  return readAddress('database', url).shown;
}

const CREDENTIALS =
  'a bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or the files ' +
  'that AWS_ACCESS_KEY_ID_FILE and AWS_SECRET_ACCESS_KEY_FILE name';

/** The store in the bucket, which was not asked for anything yet. @throws UsageError, IoFailure */
export async function makeBlobs(values: BlobValues, env: Io['env']) {
  const { s3Blobs, environmentCredentials } = await loadS3();
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]*)\/?(.*)$/.exec(values.blobs!) ?? [];
  const { s3Endpoint: endpoint, s3Region: region, uploads, results } = values;
  const names = { bucket: 'blobs', prefix: 'blobs', region: 's3Region', endpoint: 's3Endpoint' };
  return asUsage(names, () => {
    const credentials = withoutDetails(() => environmentCredentials(env));
    return s3Blobs({
      bucket,
      credentials,
      ...(prefix !== '' && { prefix }),
      ...(endpoint !== undefined && { endpoint }),
      ...(region !== undefined && { region }),
      ...(uploads !== undefined && { uploads }),
      ...(results !== undefined && { results }),
    });
  });
}

/** The names of options would say nothing here. */
function withoutDetails<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(CREDENTIALS);
  }
}

/** The names of our settings in place of those of options. */
function asUsage<T>(names: Readonly<Record<string, string>>, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    const named = error.message.replace(
      /"(?:options\.)?(\w+)"/g,
      (_, name: string) => `"${names[name] ?? name}"`,
    );
    throw new UsageError(named);
  }
}

const REACH_TRIES = 5;

async function reach(blobs: { ping(): Promise<void> }, address: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await blobs.ping();
    } catch (error) {
      if (tries === REACH_TRIES || !isPassing(error)) throw explained(error, address);
      await sleep(500);
    }
  }
}

const isPassing = (error: unknown): boolean => isCodedError(error) && error.retriable;

/** What the server said is more to an operator than that it cannot be used. */
export function explained(error: unknown, where?: string): unknown {
  const { cause } = error as Error;
  if (!isCodedError(error)) return error;
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  return new IoFailure(`${where === undefined ? '' : `${where}: `}${error.message}${why}`);
}
