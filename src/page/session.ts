/** The API key: in memory, and in the tab's own storage only on request. Never in an address. */

type Listener = () => void;

/** The key in use. */
export class Session {
  readonly #place: string;
  readonly #listeners = new Set<Listener>();
  #key: string | null;

  /** @param base address of the service, since services on one host do not share keys */
  constructor(base: string) {
    this.#place = `falconry key ${base}`;
    this.#key = readStored(this.#place);
  }

  get key(): string | null {
    return this.#key;
  }

  /** Uses a key; with `keep` it survives reloads of this tab. */
  use(key: string, keep: boolean): void {
    this.#key = key;
    if (keep) store(this.#place, key);
    else unstore(this.#place);
    this.#tell();
  }

  forget(): void {
    this.#key = null;
    unstore(this.#place);
    this.#tell();
  }

  /** Calls the listener at every change. */
  onChange(listener: Listener): void {
    this.#listeners.add(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

// If the browser forbids storage, nothing is kept.

function readStored(place: string): string | null {
  try {
    return sessionStorage.getItem(place);
  } catch {
    return null;
  }
}

function store(place: string, key: string): void {
  try {
    sessionStorage.setItem(place, key);
  } catch {}
}

function unstore(place: string): void {
  try {
    sessionStorage.removeItem(place);
  } catch {}
}
