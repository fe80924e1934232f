/** `falconry keys`: manages the API keys in the store of a service. */
import { createApiKey, type NewApiKey, rotateApiKey } from '../../middleware/identity/apiKeys.ts';
import type { ApiKeyRecord, ApiKeyStore } from '../../middleware/stores/port/taskStore.ts';
import { duration } from '../../shared/optionRows.ts';
import { type Command, FILE_EXITS, type Takes, UsageError, valued } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { refuseOnTerminal, SHOW } from '../lib/io.ts';
import { readNumber } from '../lib/settingText.ts';
import { printable } from '../lib/text.ts';
import { CLIENT, STORE_SETTINGS, type StoreSetting, withStore } from './stores.ts';

const VERBS = {
  create: 'create a key and print it',
  list: 'print hash, client, date, expiry, last use and name of every key',
  rotate: 'create a new key for the same client, with the same name; the old one expires',
  revoke: 'remove a key',
} as const;
type Verb = keyof typeof VERBS;

const HASH: Takes = [1, 1, '8 to 64 hex digits of the hash'];

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
  takes: { rotate: HASH, revoke: HASH },
  options: [
    valued('name', 'name', 'name of the key in lists', { verbs: ['create'], fallback: 'key' }),
    valued('client', 'n', 'client of the key [a new client]', { verbs: ['create'] }),
    valued(
      'expires',
      'time',
      'lifetime of the key, such as 90d, or none [none; required if the old key expires]',
      { verbs: ['create', 'rotate'] },
    ),
    valued('overlap', 'time', 'time left to the old key, unless it expires earlier', {
      verbs: ['rotate'],
      fallback: '24h',
    }),
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

type Call = Invocation<StoreSetting>;

async function execute(call: Call): Promise<void> {
  const verb = call.verb as Verb;
  const [hash] = call.positionals;
  if (hash !== undefined && !/^[0-9a-f]{8,64}$/i.test(hash)) {
    throw new UsageError(`expected ${HASH[2]}`);
  }
  if (verb === 'create' || verb === 'rotate') {
    refuseOnTerminal(call, 'the key', `write it to a file (keys ${verb} … > my.key)`);
  }
  const expires = call.option('expires');
  const ttlMs = expires === undefined ? null : readNumber('--expires', EXPIRES, expires);
  const ttl: Ttl = ttlMs ? { ttlMs } : {};
  const overlapMs = readNumber('--overlap', OVERLAP, call.option('overlap')!);
  return withStore(call, { mayBeNew: verb === 'create' }, async ({ apiKeys: store }) => {
    if (verb === 'create') return create(store, ttl, call);
    if (verb === 'list') return list(store, call);
    const start = hash!.toLowerCase();
    const found = (await store.listApiKeys()).filter(({ sha256 }) => sha256.startsWith(start));
    const [key] = found;
    if (key === undefined) return notFound(`no hash starts with ${start}`, call);
    if (found.length > 1) return notFound(`several hashes start with ${start}`, call);
    if (verb === 'rotate') return rotate(store, key, { overlapMs, ...ttl }, call);
    await store.removeApiKey(key.sha256);
    const { sha256, clientId, name } = key;
    const facts = { ok: true, sha256, client_id: clientId, name };
    call.report(facts, `Revoked ${name} of client ${clientId}.\n`);
  });
}

/** The lifetime of a new key; absent: it never expires. */
type Ttl = { readonly ttlMs?: number };

const notFound = (message: string, { fail }: Call) =>
  fail({ ok: false, code: 'NOT_FOUND', message }, `${message}\n`);

async function create(store: ApiKeyStore, ttl: Ttl, call: Call) {
  const client = call.option('client');
  const made = await createApiKey(store, {
    name: call.option('name')!,
    ...(client !== undefined && { clientId: readNumber('--client', CLIENT, client) }),
    ...ttl,
  });
  showKey(made, call);
}

/** Prints the key alone on standard output, so that it can be captured. */
function showKey({ key, record }: NewApiKey, { print, note }: Call, more = {}, text = ''): void {
  print({ ok: true, key, ...wireRecord(record), ...more }, `${key}\n`);
  const end = record.expiresAt === null ? '' : ` It expires at ${record.expiresAt}.`;
  note(`Client ${record.clientId}. The key will not be shown again.${end}${text}\n`);
}

async function list(store: ApiKeyStore, { print }: Call) {
  const records = await store.listApiKeys();
  const lines = records.map((record) => {
    const { sha256, clientId, name, createdAt, expiresAt, expired, lastUsedAt } = record;
    const used = lastUsedAt === null ? 'not used' : `used ${minute(lastUsedAt)}`;
    const ends =
      expiresAt === null
        ? 'never expires'
        : `${expired ? 'expired' : 'expires'} ${minute(expiresAt)}`;
    const facts = [`client ${clientId}`, createdAt.slice(0, 10), ends, used];
    return `${sha256.slice(0, 16)}  ${facts.join('  ')}  ${printable(name)}\n`;
  });
  print(records.map(wireRecord), lines.join(''));
}

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
  old: ApiKeyRecord,
  times: Ttl & { readonly overlapMs: number },
  call: Call,
) {
  if (old.expiresAt !== null && call.option('expires') === undefined) {
    throw new UsageError('the old key expires: give --expires 90d, for example, or --expires none');
  }
  const made = await rotateApiKey(store, old.sha256, times);
  // Null if it was revoked a moment ago.
  if (made === null) return notFound(`no hash starts with ${call.positionals[0]}`, call);
  const { expiresAt } = (await store.findApiKey(old.sha256)) ?? old;
  const replaced = { replaces: old.sha256, replaced_expires_at: expiresAt };
  showKey(made, call, replaced, `\nThe old key ends at ${expiresAt}.`);
}
