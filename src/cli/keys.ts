/** `falconry keys`: manages the API keys in the store of a service. */
import { createApiKey } from '../middleware/keys/apiKeys.ts';
import { integer } from '../middleware/optionRows.ts';
import type { ApiKeyRecord, ApiKeyStore } from '../middleware/stores/taskStore.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, type Invocation, TEXT } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { withStore } from './ownStore.ts';
import { settingLines } from './settings.ts';
import { readNumber } from './settingText.ts';
import { hint } from './suggest.ts';

const help = `Usage: falconry keys <create | list | revoke> [options]

Manages the API keys in the store of a service; a running service notices changes at once. The
store keeps only the SHA-256 of a key: the key itself is shown once, when it is created.

  create              create a key and print it
      --name <name>   name of the key in lists (default: key)
      --client <n>    another key for client n (default: a new client)
  list                print the hash, client, date and name of every key
  revoke <hash>       remove the key whose SHA-256 starts with these 8 or more hex digits

${settingLines(['data'])}
      --json          answer in JSON
  -q, --quiet         print the key and nothing else
  -h, --help          this text

Examples
  falconry keys create --name alice
  falconry keys list --json

To store a key without showing it:
  falconry keys create --name bob --quiet > bob.key

${exitHelp('invalid', 'usage', 'io')}`;

/** The `keys` command. */
export const command: Command = defineCommand({
  name: 'keys',
  summary: 'create, list and revoke API keys of the service',
  help,
  options: { name: TEXT, client: TEXT },
  settings: ['data'],
  execute,
});

/** The number of a client. */
const CLIENT = integer('client');

const VERBS = ['create', 'list', 'revoke'] as const;

async function execute(invocation: Invocation<'data'>): Promise<number> {
  const [verb = '', hash = '', ...more] = invocation.positionals;
  if (verb === '') throw new UsageError('expected create, list or revoke');
  if (!(VERBS as readonly string[]).includes(verb)) {
    throw new UsageError(`there is no "keys ${verb}"${hint(verb, VERBS)}`);
  }
  if (more.length > 0 || (verb !== 'revoke' && hash !== '')) {
    throw new UsageError(`unexpected argument ${more[0] ?? hash}`);
  }
  if (verb === 'revoke' && !/^[0-9a-f]{8,64}$/i.test(hash)) {
    throw new UsageError('expected 8 to 64 hex digits of the hash');
  }
  return withStore(invocation, { mayBeNew: verb === 'create' }, (store) => {
    if (verb === 'create') return create(store, invocation);
    if (verb === 'list') return list(store, invocation);
    return revoke(store, hash.toLowerCase(), invocation);
  });
}

async function create(store: ApiKeyStore, { io, option, json, note }: Invocation<'data'>) {
  const name = option('name') ?? 'key';
  const client = option('client');
  const owner =
    client === undefined ? { name } : { name, clientId: readNumber('--client', CLIENT, client) };
  const { key, record } = await createApiKey(store, owner);
  const fields = { ok: true, key, client_id: record.clientId, name, sha256: record.sha256 };
  // The key alone on standard output, so that it can be captured.
  io.stdout.write(json ? `${JSON.stringify(fields)}\n` : `${key}\n`);
  note(`Client ${record.clientId}. The key will not be shown again.\n`);
  return EXIT.ok;
}

async function list(store: ApiKeyStore, { io, json }: Invocation<'data'>) {
  const records = await store.listApiKeys();
  if (json) {
    io.stdout.write(`${JSON.stringify(records.map(wireRecord))}\n`);
    return EXIT.ok;
  }
  for (const { sha256, clientId, name, createdAt } of records) {
    io.stdout.write(
      `${sha256.slice(0, 16)}  client ${clientId}  ${createdAt.slice(0, 10)}  ${name}\n`,
    );
  }
  return EXIT.ok;
}

const wireRecord = ({ sha256, clientId, name, createdAt }: ApiKeyRecord) => ({
  sha256,
  client_id: clientId,
  name,
  created_at: createdAt,
});

async function revoke(store: ApiKeyStore, hash: string, { io, json, report }: Invocation<'data'>) {
  const found = (await store.listApiKeys()).filter(({ sha256 }) => sha256.startsWith(hash));
  const [key] = found;
  if (key === undefined || found.length > 1) {
    const message = `${key === undefined ? 'no hash starts' : 'several hashes start'} with ${hash}`;
    if (json) report({ ok: false, code: 'NOT_FOUND', message }, '');
    else io.stderr.write(`falconry keys: ${message}\n`);
    return EXIT.invalid;
  }
  await store.removeApiKey(key.sha256);
  const { clientId, name, sha256 } = key;
  const facts = { ok: true, sha256, client_id: clientId, name };
  report(facts, `Revoked ${name} of client ${clientId}.\n`);
  return EXIT.ok;
}
