/** API keys, the numbers of clients, and secrets: written rarely. */
import type { ApiKeyRecord, ApiKeyStore, TaskStore } from '../stores/taskStore.ts';
import type { Database } from './database.ts';

type Clients = ApiKeyStore & Pick<TaskStore, 'secret' | 'clientNamed'>;

const RECORD = `sha256, name, client_id AS "clientId", created_at AS "createdAt"`;

export function clients(database: Database): Clients {
  const sql = statements(database.schema);
  return {
    async putApiKey({ sha256, name, clientId }) {
      const [made] = await database.ask<ApiKeyRecord>(sql.putKey, [sha256, name, clientId ?? null]);
      return made ?? null;
    },
    async findApiKey(sha256) {
      const [found] = await database.ask<ApiKeyRecord>(sql.findKey, [sha256]);
      return found ?? null;
    },
    listApiKeys: () => database.ask<ApiKeyRecord>(sql.listKeys),
    async removeApiKey(sha256) {
      return (await database.ask(sql.removeKey, [sha256])).length > 0;
    },
    async secret(name) {
      type Secret = { readonly value: Uint8Array };
      let [known] = await database.ask<Secret>(sql.secret, [name]);
      if (!known) {
        const fresh = Buffer.from(crypto.getRandomValues(new Uint8Array(32)));
        await database.ask(sql.putSecret, [name, fresh]);
        [known] = await database.ask<Secret>(sql.secret, [name]);
      }
      return new Uint8Array(known!.value);
    },
    async clientNamed(name) {
      type Named = { readonly id: number };
      let [known] = await database.ask<Named>(sql.named, [name]);
      if (!known) {
        await database.ask(sql.putNamed, [name]);
        [known] = await database.ask<Named>(sql.named, [name]);
      }
      return known!.id;
    },
  };
}

function statements(s: string) {
  return {
    // A number given by hand moves the counter too, so that no new client gets it.
    putKey: {
      name: 'put key',
      text: `WITH owner AS (
          UPDATE ${s}.client_numbers SET last =
            CASE WHEN $3::bigint IS NULL THEN last + 1 ELSE greatest(last, $3) END
          WHERE NOT EXISTS (SELECT 1 FROM ${s}.api_keys WHERE sha256 = $1)
          RETURNING coalesce($3, last) AS id)
        INSERT INTO ${s}.api_keys (sha256, name, client_id, created_at)
          SELECT $1, $2, owner.id, clock_timestamp() FROM owner
        ON CONFLICT (sha256) DO NOTHING RETURNING ${RECORD}`,
    },
    findKey: {
      name: 'find key',
      text: `SELECT ${RECORD} FROM ${s}.api_keys WHERE sha256 = $1`,
    },
    listKeys: {
      name: 'list keys',
      text: `SELECT ${RECORD} FROM ${s}.api_keys ORDER BY created_at, sha256`,
    },
    removeKey: {
      name: 'remove key',
      text: `DELETE FROM ${s}.api_keys WHERE sha256 = $1 RETURNING 1`,
    },
    secret: { name: 'secret', text: `SELECT value FROM ${s}.secrets WHERE name = $1` },
    // The first one stays.
    putSecret: {
      name: 'put secret',
      text: `INSERT INTO ${s}.secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
    },
    named: { name: 'named', text: `SELECT id FROM ${s}.clients WHERE name = $1` },
    // Above every number that is in use, also those that a host made itself.
    putNamed: {
      name: 'put named',
      text: `WITH owner AS (
          UPDATE ${s}.client_numbers SET last =
            greatest(last, (SELECT max(id) FROM ${s}.clients)) + 1
          WHERE NOT EXISTS (SELECT 1 FROM ${s}.clients WHERE name = $1)
          RETURNING last AS id)
        INSERT INTO ${s}.clients (id, name, open_tasks, stored_bytes, last_task, last_turn)
          SELECT owner.id, $1, 0, 0, 0, 0 FROM owner
        ON CONFLICT (name) DO NOTHING`,
    },
  };
}
