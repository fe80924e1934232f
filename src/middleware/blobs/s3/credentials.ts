/**
 * The credentials that sign requests and urls: where they come from, and when they are asked for
 * again. They never reach an error or a log.
 */
import { readFile } from 'node:fs/promises';
import { CodedError } from '../../../shared/errors.ts';
import { withTimeout } from '../../../shared/wait.ts';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. A url that they sign ends with them. */
  readonly sessionToken?: string;
  /** Their end, if it is known: they are asked for again 5 minutes before. */
  readonly expiresAtMs?: number;
}

/** Returns the credentials of the moment. */
export type CredentialsCallback = () => S3Credentials | Promise<S3Credentials>;

/** Credentials with the keys that were derived from them, by day and region. */
export interface SigningCredentials extends S3Credentials {
  readonly cache: Map<string, ArrayBuffer>;
}

const RENEW_MS = 5 * 60_000;

/** Asks for the credentials at the first use, then again every 5 minutes. */
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

  /** @throws CodedError `STORE_UNAVAILABLE` if there are none to be had */
  async current(): Promise<SigningCredentials> {
    if (this.#known && this.#nowMs() < this.#askAgainAtMs) return this.#known;
    return this.#renew();
  }

  /** Others than those that the store refused, or null if there are no others. */
  async otherThan(refused: SigningCredentials): Promise<SigningCredentials | null> {
    const known = this.#known === refused ? await this.#renew() : await this.current();
    return known === refused ? null : known;
  }

  /** One question at a time. If it fails, what is known serves on until the store refuses it. */
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
      // What a host's function throws may hold a secret, so it is not passed on.
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

/** The longest wait for an answer. */
const ASK_MS = 10_000;

/** Between two questions if the first failed, or told of credentials that are about to end. */
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
 * The credentials in the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if they are
 * temporary, `AWS_SESSION_TOKEN`; or files, which the same names with `_FILE` name.
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
