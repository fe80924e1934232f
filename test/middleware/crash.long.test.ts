/**
 * Accepted work survives kill -9 at any moment, and completes once.
 *
 * A child process runs the real service; clients use it over HTTP without a pause: three-step
 * flows, direct requests with an Idempotency-Key, repeats of those. After a random number of
 * answers and task changes (or in the middle of its start) the child is killed, and the next one
 * goes on with the same directory. In the end everything that was ever acknowledged must be there,
 * completed, with a result that verifies; a trigger in the database counts completions.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import { createApiKey } from '../../src/middleware/identity/apiKeys.ts';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { sqliteStore } from '../../src/middleware/stores/sqlite/sqlite.ts';
import { deferred } from '../../src/shared/wait.ts';
import { parseResultFile, verifyResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile, type TaskItem } from '../../src/wire/triple.ts';
import { fact } from '../support/facts.ts';
import { Child } from './crashChild.ts';
import { it } from './support.ts';
import { makeItems } from './triples.ts';

const ROUNDS = 30;
/** Every so many rounds the kill comes while the service starts. */
const START_ROUNDS = 5;
const START_KILL_MS = 60;
/** Answers and task changes until the kill, at most. */
const MAX_EVENTS = 50;
/** Further delay of a kill, at most: not only right after something happened. */
const JITTER_MS = 8;
const FLOWS = 4;

const random = (below: number) => Math.floor(Math.random() * below);
const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let folder: string;
let apiKey: string;
let items: TaskItem[];

it.beforeEach(async ({ folder: given }) => {
  folder = given;
  items = makeItems(60, 6);
  const store = sqliteStore({ path: join(folder, STORE_FILE) });
  apiKey = (await createApiKey(store.apiKeys, { name: 'crash test' })).key;
  await store.close();
  const db = new DatabaseSync(join(folder, STORE_FILE));
  db.exec(`
    CREATE TABLE completions (id INTEGER NOT NULL);
    CREATE TRIGGER count_completions AFTER UPDATE OF state ON tasks WHEN new.state = 'completed'
      BEGIN INSERT INTO completions VALUES (new.id); END`);
  db.close();
});

/** The connection ended under a request: the child was killed. */
class Cut extends Error {}

/** What the clients know: only what was acknowledged to them. */
class Clients {
  readonly created = new Map<number, string>();
  readonly uploaded = new Map<number, TaskItem[]>();
  readonly accepted = new Map<number, TaskItem[]>();
  readonly direct: { key: string; body: string; id: number }[] = [];
  /** Requests that can have made a task. */
  attempts = 0;
  address = '';
  onAnswer = () => {};

  async call(method: string, path: string, body?: string, key?: string) {
    const headers = new Headers({ authorization: apiKey });
    if (body !== undefined) headers.set('content-type', 'application/json');
    if (key !== undefined) headers.set('idempotency-key', key);
    let status: number;
    let text: string;
    try {
      const response = await fetch(this.address + path, { method, headers, body: body ?? null });
      status = response.status;
      text = await response.text();
    } catch {
      throw new Cut();
    }
    this.onAnswer();
    return { status, text, json: () => JSON.parse(text) };
  }

  async create(): Promise<void> {
    this.attempts++;
    const answer = await this.call('POST', '/v1/svc/aggsign/task');
    expect(answer.status, answer.text).toBe(201);
    const { process_id, url } = answer.json();
    const { pathname, search } = new URL(url);
    this.created.set(process_id, pathname + search);
  }

  async upload(id: number): Promise<void> {
    const batch = someItems();
    const url = this.created.get(id)!;
    this.created.delete(id);
    let answer: Awaited<ReturnType<Clients['call']>>;
    try {
      answer = await this.call('PUT', url, formatTaskFile(batch));
    } catch (error) {
      this.created.set(id, url);
      throw error;
    }
    expect(answer.status, answer.text).toBe(200);
    this.uploaded.set(id, batch);
  }

  async notify(id: number): Promise<void> {
    const answer = await this.call('POST', `/v1/svc/aggsign/notify/${id}`);
    expect(answer.status, answer.text).toBe(202);
    expect(answer.json().process_id).toBe(id);
    this.accepted.set(id, this.uploaded.get(id)!);
    this.uploaded.delete(id);
  }

  async request(): Promise<void> {
    this.attempts++;
    const batch = someItems();
    const key = crypto.randomUUID();
    const body = `{"data":${formatTaskFile(batch)}}`;
    const answer = await this.call('POST', '/v1/svc/aggsign', body, key);
    expect(answer.status, answer.text).toBe(202);
    const id: number = answer.json().process_id;
    this.accepted.set(id, batch);
    this.direct.push({ key, body, id });
  }

  async repeat(): Promise<void> {
    const { key, body, id } = this.direct[random(this.direct.length)]!;
    const answer = await this.call('POST', '/v1/svc/aggsign', body, key);
    expect(answer.status, answer.text).toBe(202);
    expect(answer.json().process_id).toBe(id);
  }

  /** One client's life until the line is cut: whatever can be done next, in a random mixture. */
  async flow(): Promise<void> {
    for (;;) {
      const uploaded = this.uploaded.keys().next().value;
      const created = this.created.keys().next().value;
      const dice = random(10);
      if (dice < 3 && uploaded !== undefined && !this.#busy.has(uploaded)) {
        await this.#alone(uploaded, () => this.notify(uploaded));
      } else if (dice < 5 && created !== undefined && !this.#busy.has(created)) {
        await this.#alone(created, () => this.upload(created));
      } else if (dice === 5 && this.direct.length > 0) await this.repeat();
      else if (dice < 8) await this.create();
      else await this.request();
    }
  }

  /** Tasks that one of the flows is busy with. */
  readonly #busy = new Set<number>();

  async #alone(id: number, work: () => Promise<void>): Promise<void> {
    this.#busy.add(id);
    try {
      await work();
    } finally {
      this.#busy.delete(id);
    }
  }

  /** Every task that the service lists for us, page by page. */
  async list(status?: string): Promise<Map<number, { status: string }>> {
    const tasks = new Map<number, { status: string }>();
    const filter = status === undefined ? '' : `&status=${status}`;
    let path = `/v1/svc/tasks?limit=50${filter}`;
    for (;;) {
      const answer = await this.call('GET', path);
      expect(answer.status, answer.text).toBe(200);
      const page = answer.json();
      for (const task of page.tasks) tasks.set(task.id, task);
      if (page.next === '') return tasks;
      path = `/v1/svc/tasks?limit=50${filter}&cursor=${encodeURIComponent(page.next)}`;
    }
  }
}

/** Mostly small batches, now and then one that keeps a worker busy. */
function someItems(): TaskItem[] {
  const count = random(6) === 0 ? items.length : 1 + random(4);
  const from = random(items.length - count + 1);
  return items.slice(from, from + count);
}

async function untilCut(flow: Promise<void>): Promise<void> {
  try {
    await flow;
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
  }
}

it('loses nothing and does nothing twice, killed at random moments', {
  timeout: 600_000,
}, async ({ task }) => {
  const clients = new Clients();
  let standby = new Child(folder);
  let killedAtStart = 0;

  for (let round = 0; round < ROUNDS; round++) {
    const child = standby;
    await child.loaded;
    // The next one loads its code while this one works.
    standby = new Child(folder);
    if (round % START_ROUNDS === START_ROUNDS - 1) {
      child.begin();
      await delay(random(START_KILL_MS));
      await child.kill();
      killedAtStart++;
      continue;
    }
    await child.open();
    clients.address = child.address;
    const killed = deferred<void>();
    let left = 1 + random(MAX_EVENTS);
    const count = () => {
      if (--left === 0)
        delay(random(JITTER_MS))
          .then(() => child.kill())
          .then(killed.resolve);
    };
    child.onNews = count;
    clients.onAnswer = count;
    const flows = Array.from({ length: FLOWS }, () => untilCut(clients.flow()));
    await Promise.all([...flows, killed.promise]);
  }

  // A last one, that lives: what was begun is brought to its end.
  const last = standby;
  await last.loaded;
  await last.open();
  clients.address = last.address;
  clients.onAnswer = () => {};
  for (const id of clients.created.keys()) await clients.upload(id);
  for (const id of clients.uploaded.keys()) await clients.notify(id);
  let news = deferred<void>();
  last.onNews = () => {
    news.resolve();
    news = deferred<void>();
  };
  // Also what was accepted and nobody heard of: its lease may still be that of the one that was
  // killed last.
  const settledStates = ['created', 'completed', 'failed', 'cancelled', 'expired'];
  for (;;) {
    const { promise } = news;
    const states = [...(await clients.list()).values()].map(({ status }) => status);
    if (states.every((state) => settledStates.includes(state))) break;
    await promise;
  }

  const listed = await clients.list();
  let lost = 0;
  for (const [id, batch] of clients.accepted) {
    const record = (await clients.call('GET', `/v1/svc/tasks/${id}`)).json();
    if (record.status !== 'completed') {
      lost++;
      continue;
    }
    const file = await (await fetch(record.result_path)).text();
    const result = parseResultFile(file);
    if (result.processId !== id || !verifyResultFile(result, batch)) lost++;
  }
  await last.kill();

  const db = new DatabaseSync(join(folder, STORE_FILE));
  const completions = db.prepare('SELECT id, count(*) AS times FROM completions GROUP BY id').all();
  const takenOver = db.prepare('SELECT count(*) AS tasks FROM tasks WHERE losses > 0').get()!.tasks;
  const unfit = db
    .prepare(`SELECT state, count(*) AS tasks FROM tasks
    WHERE state NOT IN ('created', 'completed') GROUP BY state`)
    .all();
  expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  db.close();
  const twice = completions.filter(({ times }) => times !== 1).length;
  expect({ lost, twice }).toEqual({ lost: 0, twice: 0 });
  // What nobody was told of may be there too, but in a sound state, and no more than was tried.
  expect(unfit).toEqual([]);
  const completed = [...listed.values()].filter((task) => task.status === 'completed').length;
  expect(completions.length).toBe(completed);
  expect(listed.size).toBeLessThanOrEqual(clients.attempts);

  // What the kills left of files goes away, and nothing else.
  const store = sqliteStore({ path: join(folder, STORE_FILE) });
  const blobs = directoryBlobs({ path: join(folder, 'files') });
  const orphans = await blobs.clean({
    olderThanMs: -1000,
    referenced: (keys) => store.tasks.referenced(keys),
  });
  await store.close();
  const left = await readdir(join(folder, 'files'), { recursive: true, withFileTypes: true });
  expect(left.filter((entry) => entry.isFile()).length).toBe(completed);

  expect(clients.accepted.size).toBeGreaterThan(ROUNDS);
  expect(takenOver).toBeGreaterThan(0);
  const line =
    `${ROUNDS} kill -9 (${killedAtStart} while starting), accepted ${clients.accepted.size}, ` +
    `completed ${completed}, lost ${lost}, twice ${twice}; ` +
    `${takenOver} taken over in the middle, ${orphans} orphaned files cleaned`;
  console.log(`crash rounds: ${line}`);
  fact({ task }, 'crash rounds', line);
});
