/** The checks of a database and a bucket: asked, left as they are. */
import { isCodedError } from '../../shared/errors.ts';
import { type Io, IoFailure, UsageError } from '../lib/command.ts';
import { type Finding, fault, ok, warning } from './finding.ts';
import {
  explained,
  makeBlobs,
  makeStore,
  type SharedValues,
  showDatabase,
} from './sharedStores.ts';

type Values = SharedValues & { readonly firstKey: string | undefined };

/** Nothing without `--database` and `--blobs`. */
export async function checkShared(values: Values, env: Io['env']): Promise<Finding[]> {
  const { database, blobs } = values;
  const [ofDatabase, ofBlobs] = await Promise.all([
    database === undefined ? [] : guarded('database', () => askDatabase(values, database)),
    blobs === undefined ? [] : guarded('blobs', () => askBlobs(values, blobs, env)),
  ]);
  return [...ofDatabase, ...ofBlobs];
}

/** What the drivers refuse, as a finding. */
async function guarded(check: string, ask: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await ask();
  } catch (error) {
    const told = explained(error);
    if (!(told instanceof IoFailure || told instanceof UsageError)) throw error;
    const { code } = isCodedError(error) ? error : { code: '' };
    return [fault(check, told.message, ADVICE[code])];
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  STORE_OLDER: 'falconry migrate',
  STORE_OUTDATED: 'name another database, or remove its schema "falconry"',
  STORE_NEWER: 'run the newer version',
};

async function askDatabase(values: Values, database: string): Promise<Finding[]> {
  const store = await makeStore(values, 1);
  try {
    await store.open();
    await store.tasks.ping();
    const fits = ok('database', `${await showDatabase(database)} answers, and its schema fits`);
    const count = (await store.apiKeys.listApiKeys()).length;
    if (count > 0) return [fits, ok('apiKeys', `${count} in the database`)];
    const none = 'none in the database';
    if (values.firstKey !== undefined) {
      return [fits, ok('apiKeys', `${none}: the next start stores the given one`)];
    }
    return [fits, warning('apiKeys', none, 'falconry keys create --database URL')];
  } finally {
    await store.close();
  }
}

async function askBlobs(values: Values, blobs: string, env: Io['env']): Promise<Finding[]> {
  const store = await makeBlobs(values, env);
  await store.ping();
  const seconds = Math.round((store.clockSkewMs ?? 0) / 1000);
  const clocks = seconds === 0 ? '' : `; its clock differs by ${seconds} s`;
  return [ok('blobs', `${blobs} answers${clocks}`)];
}
