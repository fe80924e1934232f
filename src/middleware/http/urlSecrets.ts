/**
 * The secret that signs urls, and those that an operator has rotated out. An old one is good for
 * urls that it can have signed while it was in use, until they end, and for no others: whoever has
 * stolen it cannot make urls that live longer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SecretRing, SecretStore } from '../stores/port/operatorStore.ts';
import type { TaskStore } from '../stores/port/taskStore.ts';
import {
  checkSignedUrl,
  type ServedUrlOptions,
  signUrl,
  type UrlRight,
  type UrlVerdict,
} from './signedUrls.ts';

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
