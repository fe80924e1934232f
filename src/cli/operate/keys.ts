/** `falconry keys`: manages the API keys in the store of a service. */
import { createApiKey, type NewApiKey, rotateApiKey } from '../../middleware/identity/apiKeys.ts';
import type { ApiKeyRecord, ApiKeyStore } from '../../middleware/stores/port/taskStore.ts';
import { duration } from '../../shared/optionRows.ts';
import { type Command, EXIT, FILE_EXITS, UsageError } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { refuseOnTerminal, SHOW } from '../lib/io.ts';
import { readNumber } from '../lib/settingText.ts';
import { printable } from '../lib/text.ts';
import { CLIENT, STORE_SETTINGS, type StoreSetting, withStore } from './ownStore.ts';

const VERBS = {
  create: 'create a key and print it',
  list: 'print hash, client, date, expiry, last use and name of every key',
  rotate: 'create a new key for the same client, with the same name; the old one expires',
  revoke: 'remove a key',
} as const;
type Verb = keyof typeof VERBS;

/** The `keys` command. */
export const command: Command = defineCommand({
  name: 'keys',
  summary: 'create, list, rotate and revoke API keys of the service',
  usage: ['create [options]', 'list', 'rotate <hash> [options]', 'revoke <hash>'],
  about: [
    'Manages the API keys in the store of a service; a running service notices changes at once. ' +
      'The store keeps only the SHA-256 of a key: the key itself is shown once, when it is ' +
      'created.',
    'Requests with an expired key get an error that says so. Last-use times may lag by a minute.',
  ],
  verbs: VERBS,
  operands: { '<hash>': 'the first 8 or more hex digits of the SHA-256 of a key' },
  options: [
    { name: 'name', value: 'name', verbs: ['create'], about: 'name of the key in lists [key]' },
    { name: 'client', value: 'n', verbs: ['create'], about: 'client of the key [a new client]' },
    {
      name: 'expires',
      value: 'time',
      verbs: ['create', 'rotate'],
      about: 'lifetime of the key, such as 90d, or none [none; required if the old key expires]',
    },
    {
      name: 'overlap',
      value: 'time',
      verbs: ['rotate'],
      about: 'time left to the old key, unless it expires earlier [24h]',
    },
    { ...SHOW, verbs: ['create', 'rotate'] },
  ],
  settings: STORE_SETTINGS,
  examples: [
    'falconry keys create --name alice',
    'falconry keys create --name carol --expires 90d',
    'falconry keys create --name bob --quiet > bob.key',
    'falconry keys list --json',
  ],
  more: ['falconry keys rotate 5f3a9c01 --overlap 1h', 'falconry keys create --name dave --show'],
  exits: FILE_EXITS,
  execute,
});

const YEAR_MS = 365 * 86_400_000;
const EXPIRES = duration('life of a key', { min: 1000, max: 100 * YEAR_MS, none: true });
const OVERLAP = duration('time for which both keys work', { max: YEAR_MS });
const DEFAULT_OVERLAP_MS = 86_400_000;

async function execute(invocation: Invocation<StoreSetting>): Promise<number> {
  const verb = invocation.verb as Verb;
  const [hash = '', ...more] = invocation.positionals;
  const takesHash = verb === 'revoke' || verb === 'rotate';
  const unexpected = takesHash ? more[0] : invocation.positionals[0];
  if (unexpected !== undefined) throw new UsageError(`unexpected argument ${unexpected}`);
  if (takesHash && !/^[0-9a-f]{8,64}$/i.test(hash)) {
    throw new UsageError('expected 8 to 64 hex digits of the hash');
  }
  if (verb === 'create' || verb === 'rotate') {
    refuseOnTerminal(invocation, 'the key', `write it to a file (keys ${verb} … > my.key)`);
  }
  const life = readLife(invocation);
  return withStore(invocation, { mayBeNew: verb === 'create' }, ({ apiKeys: store }) => {
    if (verb === 'create') return create(store, life, invocation);
    if (verb === 'list') return list(store, invocation);
    if (verb === 'rotate') return rotate(store, hash.toLowerCase(), life, invocation);
    return revoke(store, hash.toLowerCase(), invocation);
  });
}

/** `--expires`; null: for ever. */
function readLife({ option }: Invocation<StoreSetting>): number | null | undefined {
  const expires = option('expires');
  return expires === undefined ? undefined : readNumber('--expires', EXPIRES, expires);
}

async function create(
  store: ApiKeyStore,
  life: number | null | undefined,
  invocation: Invocation<StoreSetting>,
) {
  const { option } = invocation;
  const name = option('name') ?? 'key';
  const client = option('client');
  const made = await createApiKey(store, {
    name,
    ...(client !== undefined && { clientId: readNumber('--client', CLIENT, client) }),
    ...(typeof life === 'number' && { ttlMs: life }),
  });
  showKey(made, invocation);
  return EXIT.ok;
}

/** The key alone on standard output, so that it can be captured. */
function showKey(
  { key, record }: NewApiKey,
  { io, json, note }: Invocation<StoreSetting>,
  more: Readonly<Record<string, unknown>> = {},
  text = '',
): void {
  const fields = { ok: true, key, ...wireRecord(record), ...more };
  io.stdout.write(json ? `${JSON.stringify(fields)}\n` : `${key}\n`);
  const end = record.expiresAt === null ? '' : ` It expires at ${record.expiresAt}.`;
  note(`Client ${record.clientId}. The key will not be shown again.${end}${text}\n`);
}

async function list(store: ApiKeyStore, { io, json }: Invocation<StoreSetting>) {
  const records = await store.listApiKeys();
  if (json) {
    io.stdout.write(`${JSON.stringify(records.map(wireRecord))}\n`);
    return EXIT.ok;
  }
  for (const { sha256, clientId, name, createdAt, ...times } of records) {
    const facts = [`client ${clientId}`, createdAt.slice(0, 10), expiry(times), lastUse(times)];
    io.stdout.write(`${sha256.slice(0, 16)}  ${facts.join('  ')}  ${printable(name)}\n`);
  }
  return EXIT.ok;
}

function expiry({ expiresAt, expired }: Pick<ApiKeyRecord, 'expiresAt' | 'expired'>): string {
  if (expiresAt === null) return 'never expires';
  return `${expired ? 'expired' : 'expires'} ${minute(expiresAt)}`;
}

const lastUse = ({ lastUsedAt }: Pick<ApiKeyRecord, 'lastUsedAt'>): string =>
  lastUsedAt === null ? 'not used' : `used ${minute(lastUsedAt)}`;

/** `2026-11-23T19:12Z` */
const minute = (time: string) => `${time.slice(0, 16)}Z`;

const wireRecord = (record: ApiKeyRecord) => ({
  sha256: record.sha256,
  client_id: record.clientId,
  name: record.name,
  created_at: record.createdAt,
  expires_at: record.expiresAt,
  expired: record.expired,
  last_used_at: record.lastUsedAt,
});

async function rotate(
  store: ApiKeyStore,
  hash: string,
  life: number | null | undefined,
  invocation: Invocation<StoreSetting>,
) {
  const overlap = invocation.option('overlap');
  const overlapMs =
    overlap === undefined ? DEFAULT_OVERLAP_MS : readNumber('--overlap', OVERLAP, overlap);
  const old = await findKey(store, hash, invocation);
  if (old === null) return EXIT.invalid;
  if (old.expiresAt !== null && life === undefined) {
    throw new UsageError('the old key expires: give --expires 90d, for example, or --expires none');
  }
  const next = { overlapMs, ...(typeof life === 'number' && { ttlMs: life }) };
  const made = await rotateApiKey(store, old.sha256, next);
  // Revoked a moment ago.
  if (made === null) return notFound(`no hash starts with ${hash}`, invocation);
  const { expiresAt } = (await store.findApiKey(old.sha256)) ?? old;
  const replaced = { replaces: old.sha256, replaced_expires_at: expiresAt };
  showKey(made, invocation, replaced, `\nThe old key ends at ${expiresAt}.`);
  return EXIT.ok;
}

async function revoke(store: ApiKeyStore, hash: string, invocation: Invocation<StoreSetting>) {
  const key = await findKey(store, hash, invocation);
  if (key === null) return EXIT.invalid;
  await store.removeApiKey(key.sha256);
  const { clientId, name, sha256 } = key;
  const facts = { ok: true, sha256, client_id: clientId, name };
  invocation.report(facts, `Revoked ${name} of client ${clientId}.\n`);
  return EXIT.ok;
}

/** The one key whose hash starts so; else says what is wrong. */
async function findKey(
  store: ApiKeyStore,
  hash: string,
  invocation: Invocation<StoreSetting>,
): Promise<ApiKeyRecord | null> {
  const found = (await store.listApiKeys()).filter(({ sha256 }) => sha256.startsWith(hash));
  const [key] = found;
  if (key !== undefined && found.length === 1) return key;
  notFound(`${key ? 'several hashes start' : 'no hash starts'} with ${hash}`, invocation);
  return null;
}

function notFound(message: string, { io, json, report }: Invocation<StoreSetting>): number {
  if (json) report({ ok: false, code: 'NOT_FOUND', message }, '');
  else io.stderr.write(`falconry keys: ${message}\n`);
  return EXIT.invalid;
}
