/** `falconry keys`: the API keys of a service that keeps them in its own store. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createApiKey } from '../middleware/keys/apiKeys.ts';
import { STORE_FILE } from '../middleware/options.ts';
import { sqliteStore } from '../middleware/stores/sqlite.ts';
import type { ApiKeyRecord, ApiKeyStore } from '../middleware/stores/taskStore.ts';
import { type Command, type Io, UsageError } from './command.ts';

const HELP = `Usage: falconry keys <create | list | revoke> [options]

The API keys of a service's store; a running service knows of a change at once. Keys themselves are
not stored, only their SHA-256: a key is shown once, when it is made.

  create              make a key and print it
    --name NAME       what the list calls it (default: key)
    --client N        one more key for client N (default: a new client)
  list                print every key's hash, client, name and age
  revoke HASH         take the key away whose SHA-256 starts with HASH (at least 8 digits)

Options:
  --data DIRECTORY    (FALCONRY_DATA; .falconry) the service's data
  --json              print JSON

Examples:
  falconry keys create --name alice
  falconry keys list --json
  falconry keys revoke 3f9a01bc
`;

export const command: Command = {
  name: 'keys',
  summary: 'Create, list and revoke API keys of the service',
  help: HELP,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        name: { type: 'string' },
        client: { type: 'string' },
        data: { type: 'string' },
        json: { type: 'boolean' },
      },
    });
    const [verb, hash, ...more] = positionals;
    const expected = verb === 'revoke' ? 2 : 1;
    if (positionals.length !== expected || more.length > 0) {
      throw new UsageError('expected create, list, or revoke with a hash');
    }
    const path = join(values.data ?? (io.env.FALCONRY_DATA || '.falconry'), STORE_FILE);
    if (verb !== 'create' && !existsSync(path)) throw new Error(`there is no store at ${path}`);
    const store = sqliteStore({ path });
    try {
      switch (verb) {
        case 'create':
          return await create(store, values, io);
        case 'list':
          return await list(store, values.json === true, io);
        case 'revoke':
          return await revoke(store, hash!, io);
        default:
          throw new UsageError(`there is no "keys ${verb}"`);
      }
    } finally {
      await store.close();
    }
  },
};

async function create(
  store: ApiKeyStore,
  options: { name?: string; client?: string; json?: boolean },
  io: Io,
): Promise<number> {
  const { name = 'key', client } = options;
  if (client !== undefined && !/^\d{1,15}$/.test(client)) {
    throw new UsageError('--client must be a number');
  }
  const owner = client === undefined ? { name } : { name, clientId: Number(client) };
  const { key, record } = await createApiKey(store, owner);
  if (options.json) {
    io.stdout.write(`${JSON.stringify({ key, client_id: record.clientId, name })}\n`);
  } else {
    // The key alone on standard output, so that it can be captured.
    io.stdout.write(`${key}\n`);
    io.stderr.write(`Client ${record.clientId}. The key is not shown again.\n`);
  }
  return 0;
}

async function list(store: ApiKeyStore, json: boolean, io: Io): Promise<number> {
  const records = await store.listApiKeys();
  if (json) {
    io.stdout.write(`${JSON.stringify(records.map(wireRecord))}\n`);
    return 0;
  }
  for (const { sha256, clientId, name, createdAt } of records) {
    io.stdout.write(
      `${sha256.slice(0, 16)}  client ${clientId}  ${createdAt.slice(0, 10)}  ${name}\n`,
    );
  }
  return 0;
}

const wireRecord = ({ sha256, clientId, name, createdAt }: ApiKeyRecord) => ({
  sha256,
  client_id: clientId,
  name,
  created_at: createdAt,
});

async function revoke(store: ApiKeyStore, hash: string, io: Io): Promise<number> {
  if (!/^[0-9a-f]{8,64}$/i.test(hash)) throw new UsageError('HASH must be 8 to 64 hex digits');
  const found = (await store.listApiKeys()).filter(({ sha256 }) =>
    sha256.startsWith(hash.toLowerCase()),
  );
  if (found.length !== 1) {
    io.stderr.write(`${found.length === 0 ? 'No' : 'More than one'} key starts with ${hash}.\n`);
    return 1;
  }
  await store.removeApiKey(found[0]!.sha256);
  io.stdout.write(`Revoked ${found[0]!.name} of client ${found[0]!.clientId}.\n`);
  return 0;
}
