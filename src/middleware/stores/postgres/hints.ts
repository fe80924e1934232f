/**
 * Hints to other processes that tasks have changed, by NOTIFY on a channel with the schema's name.
 *
 * A hint is sent after the commit, not in the transaction, since NOTIFY serialises commits. Hints
 * within a few milliseconds share a message, and so do those that arrive while one is being sent. A
 * hint may be lost: all processes also poll once a second.
 *
 * Listening needs a separate connection, which a pooler cannot provide. It is opened for the first
 * listener, and again after every loss. Changes in between are unknown, so reopening counts as a
 * hint that something waits, with the nonexistent task 0.
 */
import type { TaskState } from '../../../wire/taskStates.ts';
import type { TaskNews } from '../port/taskStore.ts';
import type { Address } from './address.ts';
import { checkServer, type Database, type Line, type Statement } from './database.ts';

type Listener = (news: readonly TaskNews[]) => void;

/** As sent: id, client, state, attempt. */
type Packed = readonly [number, number, TaskState, number];
interface Message {
  /** Identifies the sender, which ignores its own messages. */
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
  /** Null behind a pooler, where listening is impossible. */
  readonly #address: Address | null;
  readonly #from = crypto.randomUUID();
  readonly #send: Statement;
  #pending: Packed[] = [];
  /** Not null while there is something to send. */
  #sending: Promise<void> | null = null;
  #listener: Listener | null = null;
  #client: Line | null = null;
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
    database.onDemoted = () => {
      if (this.#client) this.#reconnect(this.#client);
    };
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

  /** Starts to listen, if possible. Idempotent. */
  listen(listener: Listener): void {
    if (this.#listener || this.#closed || !this.#address) return;
    this.#listener = listener;
    this.#connectTo(this.#address);
  }

  /** Without its files, such as the CA of the server, no connection can even be made. */
  #connectTo(address: Address): void {
    this.#connect(address).catch(() => this.#connectLater());
  }

  async #connect(address: Address): Promise<void> {
    const client = this.#database.open(address.config);
    this.#client = client;
    const lost = () => this.#reconnect(client);
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload = '' }) => this.#hear(payload));
    try {
      await client.connect();
      await checkServer(client, address);
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

  /** Polls the server, which may vanish without closing its connections, or become a standby. */
  #check(client: Line): void {
    this.#timer = setTimeout(() => {
      checkServer(client, this.#address!).then(
        () => this.#client === client && this.#check(client),
        () => this.#reconnect(client),
      );
    }, CHECK_MS);
    this.#timer.unref();
  }

  /** Reconnects with jitter and exponential backoff. */
  #reconnect(client: Line): void {
    if (this.#client !== client || this.#closed) return;
    this.#client = null;
    clearTimeout(this.#timer);
    void client.end().catch(() => {});
    this.#connectLater();
  }

  #connectLater(): void {
    if (this.#closed) return;
    const delayMs = Math.min(5000, 200 * 2 ** this.#losses++) * (0.5 + Math.random());
    this.#timer = setTimeout(() => this.#connectTo(this.#address!), delayMs);
    this.#timer.unref();
  }

  #hear(payload: string): void {
    let message: Message;
    try {
      message = JSON.parse(payload) as Message;
      if (message.from === this.#from) return;
      this.#listener?.(message.news.map(unpack));
    } catch {
      // Another user of the channel: something may have happened.
      this.#listener?.([SOMETHING]);
    }
  }

  /** Sends the rest, so that others learn of the last changes of this process. */
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
