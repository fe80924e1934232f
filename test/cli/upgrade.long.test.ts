/**
 * Versions beside each other: this one on a schema that a newer one has brought up, as long as that
 * still counts us among its readers; and what becomes of it when it does not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrateBy } from '../../src/middleware/stores/postgres/migrate.ts';
import { LAST_OLD_STEP, STEPS, type Step } from '../../src/middleware/stores/postgres/schema.ts';
import { parseResultFile, verifyResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile } from '../../src/wire/triple.ts';
import { makeItems } from '../middleware/triples.ts';
import { overPostgres, type PostgresServer } from '../support/postgres.ts';
import { hasRgw, openRgw } from '../support/rgw.ts';
import { ask, completed, type Host, Hosts } from './hosts.ts';

/** The last step of this version. */
const TO = LAST_OLD_STEP + STEPS.length;

/** What later versions may add, which ours must not notice. */
const LATER: readonly Step[] = [
  {
    about: 'a column with a default, and one without',
    oldestReader: TO,
    statements: (s) => [
      `ALTER TABLE ${s}.tasks ADD COLUMN colour text NOT NULL DEFAULT 'red'`,
      `ALTER TABLE ${s}.clients ADD COLUMN colour text`,
    ],
  },
  {
    about: 'an index',
    oldestReader: TO,
    statements: (s) => [`CREATE INDEX tasks_colour ON ${s}.tasks (colour)`],
  },
  {
    about: 'a table',
    oldestReader: TO,
    statements: (s) => [`CREATE TABLE ${s}.colours (name text PRIMARY KEY)`],
  },
];
/** After this step, only versions that know the step before it can read. */
const BEYOND: Step = {
  about: 'the end of an old column',
  oldestReader: TO + LATER.length,
  statements: () => [],
};

let hosts: Hosts;
let key: string;
const url = () => hosts.env.FALCONRY_DATABASE!;
const SERVE = ['serve', '--port', '0', '--no-workers', '--threads', '1'];
const WORK = ['worker', '--threads', '1'];

async function begin(server: PostgresServer): Promise<void> {
  const rgw = await openRgw();
  await server.query('CREATE DATABASE upgraded');
  hosts = new Hosts(server, 'upgraded', rgw);
}

async function aggregate(host: Host): Promise<void> {
  const items = makeItems(5);
  const data = JSON.parse(formatTaskFile(items));
  const accepted = await ask(key, host, 'POST', '/v1/svc/aggsign', { data });
  expect(accepted.status, accepted.text).toBe(202);
  const { result_path } = await completed(key, host, accepted.json.process_id);
  const file = await (await fetch(result_path)).text();
  expect(verifyResultFile(parseResultFile(file), items)).toBe(true);
}

/** What a command ends with that must not use the schema. */
async function refused(args: readonly string[], message: RegExp): Promise<void> {
  const { code, stdout } = await hosts.try(...args);
  expect([args[0], code]).toEqual([args[0], 3]);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, message: expect.stringMatching(message) });
}

async function checked(advice: string): Promise<void> {
  const { code, stdout } = await hosts.try('doctor', '--port', '0');
  expect(code).toBe(1);
  const { findings } = JSON.parse(stdout);
  expect(findings).toContainEqual(
    expect.objectContaining({ level: 'fault', check: 'database', advice }),
  );
}

describe.skipIf(!hasRgw())('versions beside each other', () => {
  overPostgres('newest', (server) => {
    beforeAll(() => begin(server()));
    afterAll(() => hosts?.end());
    versions(server);
  });
});

function versions(server: () => PostgresServer): void {
  it('nothing starts before the schema is there, and nothing makes it but migrate', async () => {
    for (const args of [SERVE, WORK, ['keys', 'list'], ['queue']]) {
      await refused(args, /brought up to date: falconry migrate$/);
    }
    await checked('falconry migrate');
    const made = await server().query("SELECT 1 FROM pg_namespace WHERE nspname = 'falconry'");
    expect(made).toEqual([]);
  });

  it('a newer schema that counts us among its readers serves and works', async () => {
    await hosts.run('migrate');
    ({ key } = await hosts.run('keys', 'create', '--name', 'old'));
    const [running] = await Promise.all([hosts.start(...SERVE), hosts.start(...WORK)]);
    await aggregate(running);
    const taken = await migrateBy([...STEPS, ...LATER], url());
    expect(taken.steps.map(({ step }) => step)).toEqual(LATER.map((_, at) => TO + 1 + at));
    await aggregate(running);
    const started = await hosts.start(...SERVE);
    await hosts.start(...WORK);
    await aggregate(started);
    expect((await fetch(`${started.base}/readyz`)).status).toBe(200);
    expect(await hosts.run('migrate')).toMatchObject({
      from: TO + LATER.length,
      steps: [],
    });
    const { code, stdout } = await hosts.try('doctor', '--port', '0');
    expect([code, JSON.parse(stdout).faults]).toEqual([0, 0]);
  });

  it('one that no longer does: what runs is not ready, and nothing starts', async () => {
    const running = await hosts.start(...SERVE);
    const worker = await hosts.start(...WORK);
    for (const at of [running.base, worker.metrics]) {
      expect((await fetch(`${at}/readyz`)).status).toBe(200);
    }
    await migrateBy([...STEPS, ...LATER, BEYOND], url());
    for (const at of [running.base, worker.metrics]) {
      const endMs = Date.now() + 5000;
      let ready = await fetch(`${at}/readyz`);
      while (ready.status === 200 && Date.now() < endMs) {
        await sleep(100);
        ready = await fetch(`${at}/readyz`);
      }
      expect(await ready.json()).toMatchObject({ checks: { store: 'STORE_NEWER', blobs: 'ok' } });
    }
    for (const args of [SERVE, WORK, ['keys', 'list'], ['queue'], ['migrate']]) {
      await refused(args, /written by a newer version/);
    }
    await checked('run the newer version');
  });
}
