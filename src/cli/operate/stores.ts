/**
 * The stores of a service: the embedded one in a directory, or those that all hosts share, with
 * tasks and API keys in PostgreSQL and files in a bucket. The packages that only some users install
 * are loaded when a setting asks for them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { STORE_FILE } from '../../middleware/options/options.ts';
import type { CompleteStore } from '../../middleware/stores/port/serviceStore.ts';
import { sqliteTableStore } from '../../middleware/stores/sqlite/sqliteTable.ts';
import { isCodedError } from '../../shared/errors.ts';
import { integer } from '../../shared/optionRows.ts';
import { type Io, IoFailure, UsageError } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import type { Invocation } from '../lib/define.ts';
import { isMissing } from '../lib/io.ts';
import type { SettingName, SHARED } from '../lib/settings.ts';
import { proxyAdvice } from '../lib/text.ts';

/** The settings of commands on the store of a service. */
export const STORE_SETTINGS = ['data', 'allowShared', 'database'] as const;
export type StoreSetting = (typeof STORE_SETTINGS)[number];

export const CLIENT = integer('client');

/**
 * Opens the database, or else the store in the data directory, which `mayBeNew`, and closes it
 * afterwards. The service may be running.
 *
 * @throws IoFailure if there is none, or if the database cannot be used
 */
export async function withStore<T>(
  { config }: Pick<Invocation<StoreSetting>, 'config'>,
  { mayBeNew }: { readonly mayBeNew: boolean },
  use: (store: CompleteStore) => Promise<T>,
): Promise<T> {
  const { values } = await config();
  const { database, data, allowShared } = values;
  const path = join(data, STORE_FILE);
  if (database === undefined && !mayBeNew && !existsSync(path)) {
    throw new IoFailure(`there is no store at ${path}`);
  }
  const store =
    database === undefined ? sqliteTableStore({ path, allowShared }) : await makeStore(values);
  try {
    await store.open().catch((error) => {
      throw database === undefined ? error : explained(error);
    });
    return await use(store);
  } finally {
    await store.close();
  }
}

type Values<Name extends SettingName> = Config<Name>['values'];
type BlobValues = Values<'blobs' | 's3Endpoint' | 's3Region'> & Partial<Values<'transfers'>>;

export type SharedStores = Awaited<ReturnType<typeof openShared>>;

/**
 * Opens the stores that the settings name, and null for the others. Both are called before anything
 * else starts, so that a wrong address is reported at once. @throws UsageError, IoFailure
 */
export async function openShared(
  values: Values<(typeof SHARED)[number]> & BlobValues,
  env: Io['env'],
  connections?: number,
) {
  const { database } = values;
  // First the bucket, which finds mistakes in the settings without a connection.
  const blobs = values.blobs === undefined ? null : await makeBlobs(values, env);
  const store = database === undefined ? null : await makeStore(values, connections);
  try {
    await store?.open().catch((error) => {
      throw explained(error);
    });
    if (blobs !== null) await reach(blobs, values.blobs!, proxyAdvice(env));
  } catch (error) {
    await store?.close();
    throw error;
  }
  return {
    store,
    blobs,
    /** Their addresses, without passwords. */
    shown: {
      database: database ? await showDatabase(database) : null,
      blobs: values.blobs ?? null,
    },
  };
}

/** The store in the database, not opened yet. @throws UsageError, IoFailure */
export async function makeStore(
  { database, databaseDirect }: Values<'database'> & Partial<Values<'databaseDirect'>>,
  connections = 10,
): Promise<CompleteStore> {
  const { postgresStore } = await loadPostgres();
  const direct = databaseDirect === undefined ? {} : { directUrl: databaseDirect };
  return asUsage({ url: 'database', directUrl: 'databaseDirect' }, () =>
    postgresStore({ url: database!, ...direct, connections }),
  );
}

export async function showDatabase(url: string): Promise<string> {
  const { readAddress } = await import('../../middleware/stores/postgres/address.ts');
  return readAddress('database', url).shown;
}

const CREDENTIALS =
  'a bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or the files ' +
  'that AWS_ACCESS_KEY_ID_FILE and AWS_SECRET_ACCESS_KEY_FILE name';

/** The store in the bucket, not opened yet. @throws UsageError, IoFailure */
export async function makeBlobs(values: BlobValues, env: Io['env']) {
  const { s3Blobs, environmentCredentials } = await loadS3();
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]*)\/?(.*)$/.exec(values.blobs!) ?? [];
  const { s3Endpoint: endpoint, s3Region: region, transfers } = values;
  const credentials = asUsage(CREDENTIALS, () => environmentCredentials(env));
  const options = {
    bucket,
    credentials,
    ...(prefix !== '' && { prefix }),
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(transfers !== undefined && { uploads: transfers, results: transfers }),
  };
  const names = { bucket: 'blobs', prefix: 'blobs', region: 's3Region', endpoint: 's3Endpoint' };
  return asUsage(names, () => s3Blobs(options));
}

/** Rewrites a driver's complaint about an option in terms of the settings. */
function asUsage<T>(words: string | Readonly<Record<string, string>>, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    if (typeof words === 'string') throw new UsageError(words);
    const named = (_: string, name: string) => `"${words[name] ?? name}"`;
    throw new UsageError(error.message.replace(/"(?:options\.)?(\w+)"/g, named));
  }
}

type Pinged = { ping(): Promise<void> };

async function reach(blobs: Pinged, address: string, advice: string, tries = 5): Promise<void> {
  try {
    await blobs.ping();
  } catch (error) {
    const mayPass = isCodedError(error) && error.retriable;
    if (tries === 1 || !mayPass) throw explained(error, address, advice);
    await sleep(500);
    await reach(blobs, address, advice, tries - 1);
  }
}

/** Adds the message of the driver, which is more specific than the error itself. */
export function explained(error: unknown, where?: string, advice = ''): unknown {
  if (!isCodedError(error)) return error;
  const why = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return new IoFailure(
    `${where === undefined ? '' : `${where}: `}${error.message}${why}${advice && `; ${advice}`}`,
  );
}

/** Loads what needs a package. @throws IoFailure if the package is not installed */
export async function load<Module>(
  names: readonly string[],
  message: string,
  module: () => Promise<Module>,
): Promise<Module> {
  try {
    return await module();
  } catch (error) {
    // An older version of a package lacks files or exports.
    const isOld =
      error instanceof SyntaxError ||
      (error as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
    if (!isOld && !names.some((name) => isMissing(error, name))) throw error;
    throw new IoFailure(message, { cause: error });
  }
}

export const loadPostgres = () =>
  load(
    ['pg'],
    'a database needs the package pg: npm install pg',
    () => import('../../middleware/stores/postgres/index.ts'),
  );

const loadS3 = () =>
  load(['aws4fetch'], 'a bucket needs the package aws4fetch: npm install aws4fetch', async () => {
    // The store itself loads it only when it signs.
    await import('aws4fetch');
    return import('../../middleware/blobs/s3/index.ts');
  });
