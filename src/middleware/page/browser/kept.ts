/**
 * What survives a reload of the tab: the draft of a task, and signatures. It is kept in the
 * browser's own database, under a name that only this tab knows, and removed after a day. Where the
 * browser forbids that, nothing is kept.
 */

const DATABASE = 'falconry';
const TABLE = 'kept';
const TAB = 'falconry tab';
const LIFE_MS = 24 * 3_600_000;

/** A larger draft is not kept. */
export const MAX_KEPT_BYTES = 16 * 1024 * 1024;

interface Entry {
  readonly savedMs: number;
  readonly value: unknown;
}

/** The things that are kept for this tab. */
export class Kept {
  readonly #base: string;
  #database: Promise<IDBDatabase> | undefined;
  /** Writes happen in their order. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param base address of the service, since services on one host share a database */
  constructor(base: string) {
    this.#base = base;
  }

  /** @returns what was saved under the name, or null */
  async read(name: string): Promise<unknown> {
    const tab = tabName(false);
    if (tab === null) return null;
    try {
      const table = await this.#table('readonly');
      const entry = (await done(table.get(this.#keyOf(tab, name)))) as Entry | undefined;
      return entry?.value ?? null;
    } catch {
      return null;
    }
  }

  /** Saves a value, or with null removes it. Never rejects. */
  save(name: string, value: unknown): Promise<void> {
    const saved = this.#last.then(() => this.#save(name, value)).catch(() => {});
    this.#last = saved;
    return saved;
  }

  async #save(name: string, value: unknown): Promise<void> {
    const tab = tabName(value !== null);
    if (tab === null) return;
    const key = this.#keyOf(tab, name);
    const table = await this.#table('readwrite');
    if (value === null) await done(table.delete(key));
    else await done(table.put({ savedMs: Date.now(), value } satisfies Entry, key));
  }

  #keyOf(tab: string, name: string): string {
    return `${this.#base} ${tab} ${name}`;
  }

  async #table(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    this.#database ??= openDatabase();
    return (await this.#database).transaction(TABLE, mode).objectStore(TABLE);
  }
}

/** The name of this tab; a new one if it has none and `make` is set. */
function tabName(make: boolean): string | null {
  try {
    const known = sessionStorage.getItem(TAB);
    if (known !== null || !make) return known;
    const name = String(crypto.getRandomValues(new Uint32Array(2)));
    sessionStorage.setItem(TAB, name);
    return name;
  } catch {
    return null;
  }
}

async function openDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE);
  const database = await done(opening);
  removeOld(database.transaction(TABLE, 'readwrite').objectStore(TABLE));
  return database;
}

/** What closed tabs have left behind. */
function removeOld(table: IDBObjectStore): void {
  const walk = table.openCursor();
  walk.onsuccess = () => {
    const cursor = walk.result;
    if (cursor === null) return;
    const { savedMs } = cursor.value as Entry;
    if (Math.abs(Date.now() - savedMs) > LIFE_MS) cursor.delete();
    cursor.continue();
  };
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
