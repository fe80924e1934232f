/** The API key: in memory, and in the tab's own storage only on request. */
export class Session {
  readonly #place: string;
  readonly #listeners = new Set<() => void>();
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
    this.#take(key, keep ? key : null);
  }

  forget(): void {
    this.#take(null, null);
  }

  #take(key: string | null, kept: string | null): void {
    this.#key = key;
    store(this.#place, kept);
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener at every change. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
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

/** Null removes it. */
function store(place: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(place);
    else sessionStorage.setItem(place, text);
  } catch {}
}
