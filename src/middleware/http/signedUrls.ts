/**
 * The urls that the service serves itself, for blob stores without urls of their own. They carry
 * their right with them: the query has `expires` (Unix time in seconds) and `signature`, an
 * HMAC-SHA-256 over method, path and expiry.
 *
 *   <base>/uploads/<task id>?expires=…&signature=…
 *   <base>/results/<attempt>/<task id>.json?expires=…&signature=…
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { equal } from '../../shared/bytes.ts';
import { hmacSha256 } from '../../shared/hash.ts';
import type { SecretRing, SecretStore } from '../stores/port/serviceStore.ts';
import type { TaskStore } from '../stores/port/taskStore.ts';

/** The right that a url gives: to upload the file of a task, or to read a result. */
export type UrlRight =
  | { readonly method: 'PUT'; readonly taskId: number }
  | { readonly method: 'GET'; readonly key: string };

export type UrlVerdict = 'ok' | 'forged' | 'expired';

export interface ServedUrlOptions {
  /** Absolute address of the routes that serve files, without a slash at the end. */
  readonly base: string;
  /** Unix time in milliseconds, by the clock of this host. */
  readonly expiresAtMs: number;
}

const MAC_BYTES = 32;

/** Separates these signatures from anything else that the secret may sign. */
const DOMAIN = 'falconry url v1';

/** @returns the url that gives the right, until `expiresAtMs` rounded up to a second */
export function signUrl(
  secret: Uint8Array,
  right: UrlRight,
  { base, expiresAtMs }: ServedUrlOptions,
): string {
  const expires = Math.ceil(expiresAtMs / 1000);
  const signature = mac(secret, right, expires).toString('base64url');
  return `${base}/${pathOf(right)}?expires=${expires}&signature=${signature}`;
}

/** Checks `expires` and `signature`; the signature first, so that a forged url learns nothing. */
export function checkSignedUrl(
  secret: Uint8Array,
  right: UrlRight,
  query: URLSearchParams,
  nowMs = Date.now(),
): UrlVerdict {
  const [expires, ...moreExpires] = query.getAll('expires');
  const [signature, ...moreSignatures] = query.getAll('signature');
  if (moreExpires.length > 0 || moreSignatures.length > 0) return 'forged';
  if (expires === undefined || !/^[1-9]\d{0,14}$/.test(expires)) return 'forged';
  const given = Buffer.from(signature ?? '', 'base64url');
  // Only the canonical text of 32 bytes: the decoder ignores what follows.
  if (given.length !== MAC_BYTES || given.toString('base64url') !== signature) return 'forged';
  if (!equal(given, mac(secret, right, Number(expires)))) return 'forged';
  return Number(expires) * 1000 <= nowMs ? 'expired' : 'ok';
}

function pathOf(right: UrlRight): string {
  return right.method === 'PUT' ? `uploads/${right.taskId}` : right.key;
}

function mac(secret: Uint8Array, right: UrlRight, expires: number): Buffer {
  return hmacSha256(secret, `${DOMAIN}\n${right.method}\n${pathOf(right)}\n${expires}`);
}

/** The name of the secret in the store. */
export const URL_SECRET = 'urls';

/** Hosts that have not heard of a rotation still sign with the old secret; clocks differ. */
const SLACK_MS = 60_000;
/** Between two looks into the store, however many forged urls come. */
const LOOK_MS = 50;
/** 32 bytes in base64url: nothing else is worth a look. */
const SIGNATURE = /^[\w-]{43}$/;

interface Retired {
  readonly value: Uint8Array;
  /** Urls that end later were not signed while it was in use. Unix time. */
  readonly lastEndMs: number;
}

export class UrlSecrets {
  readonly #secrets: SecretStore | undefined;
  readonly #longestLifeMs: number;
  #current: Uint8Array;
  #retired: readonly Retired[] = [];
  #looking: Promise<void> | null = null;
  #lookedMs = 0;

  private constructor(
    secrets: SecretStore | undefined,
    longestLifeMs: number,
    current: Uint8Array,
  ) {
    this.#secrets = secrets;
    this.#longestLifeMs = longestLifeMs;
    this.#current = current;
  }

  /**
   * @param secrets undefined: there is only the one of the store of tasks, which never changes
   * @param longestLifeMs of the urls that this service signs
   */
  static async open(
    tasks: Pick<TaskStore, 'secret'>,
    secrets: SecretStore | undefined,
    longestLifeMs: number,
  ): Promise<UrlSecrets> {
    const opened = new UrlSecrets(secrets, longestLifeMs, await tasks.secret(URL_SECRET));
    await opened.look();
    return opened;
  }

  sign(right: UrlRight, options: ServedUrlOptions): string {
    return signUrl(this.#current, right, options);
  }

  /** A url that looks forged is judged again by what the store knows after it came. */
  async check(right: UrlRight, query: URLSearchParams): Promise<UrlVerdict> {
    const verdict = this.#judge(right, query);
    const could = verdict === 'forged' && SIGNATURE.test(query.get('signature') ?? '');
    if (!could || !this.#secrets) return verdict;
    this.#looking ??= this.#lookLater();
    await this.#looking;
    return this.#judge(right, query);
  }

  /** Reads the secrets again. */
  async look(): Promise<void> {
    this.#lookedMs = performance.now();
    const ring = await this.#secrets?.secretRing(URL_SECRET);
    if (ring) this.#take(ring);
  }

  async #lookLater(): Promise<void> {
    await sleep(Math.min(LOOK_MS, Math.max(0, this.#lookedMs + LOOK_MS - performance.now())));
    // Whoever comes from now on needs a look of their own.
    this.#looking = null;
    await this.look();
  }

  #take({ current, retired }: SecretRing): void {
    const lifeMs = this.#longestLifeMs + SLACK_MS;
    this.#current = current;
    this.#retired = retired.map(({ value, agoMs }) => {
      return { value, lastEndMs: Date.now() - agoMs + lifeMs };
    });
  }

  #judge(right: UrlRight, query: URLSearchParams): UrlVerdict {
    const verdict = checkSignedUrl(this.#current, right, query);
    if (verdict !== 'forged') return verdict;
    for (const { value, lastEndMs } of this.#retired) {
      const old = checkSignedUrl(value, right, query);
      if (old !== 'forged') return Number(query.get('expires')) * 1000 > lastEndMs ? 'forged' : old;
    }
    return 'forged';
  }
}
