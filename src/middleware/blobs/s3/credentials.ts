/**
 * The credentials that sign requests and URLs, and their renewal. They never appear in an error or
 * a log.
 */
import { readFile } from 'node:fs/promises';
import { CodedError } from '../../../shared/errors.ts';
import { withTimeout } from '../../../shared/wait.ts';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For temporary credentials. URLs signed by them expire with them. */
  readonly sessionToken?: string;
  /** Expiry, if known: they are renewed 5 minutes before. */
  readonly expiresAtMs?: number;
}

/** Returns the current credentials. */
export type CredentialsCallback = () => S3Credentials | Promise<S3Credentials>;

/** Credentials, and the keys derived from them, by day and region. */
export interface SigningCredentials extends S3Credentials {
  readonly cache: Map<string, ArrayBuffer>;
}

const RENEW_MS = 5 * 60_000;

/** Reads the credentials at the first use, then again every 5 minutes. */
export class CredentialsSource {
  readonly #ask: CredentialsCallback;
  readonly #nowMs: () => number;
  #known: SigningCredentials | undefined;
  #askAgainAtMs = 0;
  #asking: Promise<SigningCredentials> | undefined;

  constructor(ask: CredentialsCallback, nowMs: () => number) {
    this.#ask = ask;
    this.#nowMs = nowMs;
  }

  /** @throws CodedError `STORE_UNAVAILABLE` if there are none */
  async current(): Promise<SigningCredentials> {
    if (this.#known && this.#nowMs() < this.#askAgainAtMs) return this.#known;
    return this.#renew();
  }

  /** Returns other credentials than those that the store refused, or null. */
  async otherThan(refused: SigningCredentials): Promise<SigningCredentials | null> {
    const known = this.#known === refused ? await this.#renew() : await this.current();
    return known === refused ? null : known;
  }

  /** Renews once at a time. If that fails, the known ones are used until the store refuses them. */
  #renew(): Promise<SigningCredentials> {
    this.#asking ??= this.#question().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #question(): Promise<SigningCredentials> {
    let told: S3Credentials;
    try {
      told = readCredentials(await withTimeout(this.#ask(), ASK_MS, () => undefined));
    } catch {
      // The host's error may contain a secret, so it is not passed on.
      const cause = new Error('the credentials of the blob store could not be read');
      if (this.#known === undefined) throw new CodedError('STORE_UNAVAILABLE', { cause });
      this.#askAgainAtMs = this.#nowMs() + RETRY_MS;
      return this.#known;
    }
    const lastMs = (told.expiresAtMs ?? Number.POSITIVE_INFINITY) - RENEW_MS;
    this.#askAgainAtMs = Math.max(
      Math.min(this.#nowMs() + RENEW_MS, lastMs),
      this.#nowMs() + RETRY_MS,
    );
    if (!sameAs(this.#known, told)) this.#known = { ...told, cache: new Map() };
    return this.#known!;
  }
}

/** Time limit of the host's function. */
const ASK_MS = 10_000;

/** Delay of renewal after a failure, or for credentials that are about to expire. */
const RETRY_MS = 5_000;

function sameAs(known: S3Credentials | undefined, told: S3Credentials): boolean {
  return (
    known?.accessKeyId === told.accessKeyId &&
    known.secretAccessKey === told.secretAccessKey &&
    known.sessionToken === told.sessionToken
  );
}

/**
 * Checks credentials.
 *
 * @returns a copy of them
 * @throws TypeError for anything else, without its text
 */
export function readCredentials(given: S3Credentials): S3Credentials {
  const { accessKeyId, secretAccessKey, sessionToken, expiresAtMs } = given ?? {};
  requireWord('accessKeyId', accessKeyId);
  requireWord('secretAccessKey', secretAccessKey);
  if (sessionToken !== undefined) requireWord('sessionToken', sessionToken);
  if (expiresAtMs !== undefined && !Number.isFinite(expiresAtMs)) {
    throw new TypeError('"credentials.expiresAtMs" must be a time in milliseconds');
  }
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
  };
}

function requireWord(name: string, value: unknown): void {
  if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) return;
  throw new TypeError(`"credentials.${name}" must be a text without spaces`);
}

export type Environment = Readonly<Record<string, string | undefined>>;

const KEY_ID = 'AWS_ACCESS_KEY_ID';
const SECRET = 'AWS_SECRET_ACCESS_KEY';
const TOKEN = 'AWS_SESSION_TOKEN';

/**
 * Returns the credentials in the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if
 * temporary, `AWS_SESSION_TOKEN`; or in files, whose paths are in the same names with `_FILE`.
 *
 * @throws TypeError if the first two are missing
 */
export function environmentCredentials(env: Environment = process.env): CredentialsCallback {
  for (const name of [KEY_ID, SECRET]) {
    if (env[name] || env[`${name}_FILE`]) continue;
    throw new TypeError(`"options.credentials" is missing, and so is ${name}`);
  }
  const read = async (name: string): Promise<string> => {
    const file = env[`${name}_FILE`];
    return (file ? await readFile(file, 'utf8') : (env[name] ?? '')).trim();
  };
  return async () => {
    const [accessKeyId, secretAccessKey, sessionToken] = await Promise.all(
      [KEY_ID, SECRET, TOKEN].map(read),
    );
    return {
      accessKeyId: accessKeyId!,
      secretAccessKey: secretAccessKey!,
      ...(sessionToken && { sessionToken }),
    };
  };
}
