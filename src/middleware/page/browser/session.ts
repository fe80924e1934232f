/**
 * The API key: in memory, and in the tab's own storage only on request, or if it is the key of a
 * demonstration. Never in an address.
 */

type Listener = () => void;

/** The key in use. */
export class Session {
  readonly #place: string;
  readonly #listeners = new Set<Listener>();
  #key: string | null;
  #endsAt: string | null;

  /** @param base address of the service, since services on one host do not share keys */
  constructor(base: string) {
    this.#place = `falconry key ${base}`;
    this.#key = readStored(this.#place);
    this.#endsAt = readStored(this.#endPlace);
    if (this.#endsAt !== null && Date.parse(this.#endsAt) <= Date.now()) this.forget();
  }

  get #endPlace(): string {
    return `${this.#place} until`;
  }

  get key(): string | null {
    return this.#key;
  }

  /** When the key of a demonstration ends; null for every other key. */
  get endsAt(): string | null {
    return this.#endsAt;
  }

  /** Uses a key; with `keep` it survives reloads of this tab. */
  use(key: string, keep: boolean): void {
    this.#take(key, keep ? key : null, null);
  }

  /** Uses the key of a demonstration, which survives reloads of this tab. */
  useUntil(key: string, endsAt: string): void {
    this.#take(key, key, endsAt);
  }

  forget(): void {
    this.#take(null, null, null);
  }

  #take(key: string | null, kept: string | null, endsAt: string | null): void {
    this.#key = key;
    this.#endsAt = endsAt;
    store(this.#place, kept);
    store(this.#endPlace, endsAt);
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

/** Null removes it. */
function store(place: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(place);
    else sessionStorage.setItem(place, text);
  } catch {}
}
