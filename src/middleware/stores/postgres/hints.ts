/**
 * Hints to other processes that tasks have changed, by NOTIFY on a channel with the schema's name.
 *
 * A hint is sent after the commit, not in the transaction: NOTIFY makes transactions commit one
 * after the other. Those of a few milliseconds go in one message, and so do those that come while
 * one is under way: the busier the server, the fewer they are. A hint may be lost, and nothing
 * depends on it: whoever missed it looks again within a second.
 *
 * Listening takes a connection of its own, which a pooler cannot lend. It is made when the first
 * listener comes, and anew after every loss. What happened in between is not known then, so the new
 * start counts as a hint that something waits: task 0, which there is not.
 */
import pg from 'pg';
import type { TaskState } from '../../../wire/taskStates.ts';
import type { TaskNews } from '../port/taskStore.ts';
import type { Address } from './address.ts';
import type { Database, Statement } from './database.ts';

type Listener = (news: readonly TaskNews[]) => void;

/** As sent: id, client, state, attempt. */
type Packed = readonly [number, number, TaskState, number];
interface Message {
  /** The store object that sends it, which does not listen to itself. */
  readonly from: string;
  readonly news: readonly Packed[];
}

const JOINED_MS = 3;
/** A message holds at most 8000 bytes; a packed change has at most 60. */
const PER_MESSAGE = 100;
const CHECK_MS = 30_000;
const SOMETHING: TaskNews = { id: 0, clientId: 0, state: 'waiting', attempt: 0, own: false };

export class Hints {
  readonly #database: Database;
  /** Null: there is no way to listen, behind a pooler. */
  readonly #address: Address | null;
  readonly #from = crypto.randomUUID();
  readonly #send: Statement;
  #pending: Packed[] = [];
  /** While there is something to send. */
  #sending: Promise<void> | null = null;
  #listener: Listener | null = null;
  #client: pg.Client | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #losses = 0;
  #closed = false;

  constructor(database: Database, address: Address | null) {
    this.#database = database;
    this.#address = address;
    // A hint need not survive a crash, so its commit does not wait for the disk.
    const text = `SELECT set_config('synchronous_commit', 'off', true),
      pg_notify('${this.#channel}', $1)`;
    this.#send = { name: 'hint', text };
  }

  get #channel(): string {
    return this.#database.schema.slice(1, -1);
  }

  send(news: readonly TaskNews[]): void {
    if (this.#closed) return;
    for (const { id, clientId, state, attempt } of news) {
      this.#pending.push([id, clientId, state, attempt]);
    }
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    await new Promise((go) => setTimeout(go, JOINED_MS));
    while (this.#pending.length > 0) {
      const news = this.#pending.splice(0, PER_MESSAGE);
      const message: Message = { from: this.#from, news };
      await this.#database.ask(this.#send, [JSON.stringify(message)]).catch(() => {});
    }
    this.#sending = null;
  }

  /** Starts to listen, if that is possible; a second call does nothing. */
  listen(listener: Listener): void {
    if (this.#listener || this.#closed || !this.#address) return;
    this.#listener = listener;
    void this.#connect(this.#address);
  }

  async #connect({ config }: Address): Promise<void> {
    const client = new pg.Client(config);
    this.#client = client;
    const lost = () => this.#reconnect(client);
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload = '' }) => this.#hear(payload));
    try {
      await client.connect();
      await client.query(`LISTEN "${this.#channel}"`);
    } catch {
      lost();
      return;
    }
    if (this.#client !== client) return;
    if (this.#losses > 0) this.#listener?.([SOMETHING]);
    this.#losses = 0;
    this.#check(client);
  }

  /** A host that has vanished sends nothing, not even an end. */
  #check(client: pg.Client): void {
    this.#timer = setTimeout(() => {
      client.query('SELECT 1').then(
        () => this.#client === client && this.#check(client),
        () => this.#reconnect(client),
      );
    }, CHECK_MS);
    this.#timer.unref();
  }

  /** Not all processes at the same moment, and less and less often. */
  #reconnect(client: pg.Client): void {
    if (this.#client !== client || this.#closed) return;
    this.#client = null;
    clearTimeout(this.#timer);
    void client.end().catch(() => {});
    const delayMs = Math.min(5000, 200 * 2 ** this.#losses++) * (0.5 + Math.random());
    this.#timer = setTimeout(() => void this.#connect(this.#address!), delayMs);
    this.#timer.unref();
  }

  #hear(payload: string): void {
    let message: Message;
    try {
      message = JSON.parse(payload) as Message;
      if (message.from === this.#from) return;
      this.#listener?.(message.news.map(unpack));
    } catch {
      // Whoever else uses the channel: something may have happened.
      this.#listener?.([SOMETHING]);
    }
  }

  /** Sends what is left, so that others learn of the last changes of a process that ends. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#listener = null;
    clearTimeout(this.#timer);
    await this.#sending;
    await this.#client?.end().catch(() => {});
  }
}

function unpack([id, clientId, state, attempt]: Packed): TaskNews {
  return { id, clientId, state, attempt, own: false };
}
