/**
 * The keys of a bucket, and their addresses:
 *
 *   <prefix>uploads/<id>.json             files that clients PUT by a presigned url
 *   <prefix>uploads/<id mod 256>/<id>.json  the same, divided
 *   <prefix>inputs/<random>.json          task files of direct requests, or through the service
 *   <prefix>results/<attempt>/<id>.json   result files
 *   <prefix>parts/<id>/<SHA-256>.json     results of parts
 */

/** The only valid keys; nothing else becomes part of an address. */
const KEYS = [
  /inputs\/[0-9a-f-]{36}/,
  /uploads\/(\d{1,3}\/)?\d{1,16}/,
  /results\/\d{1,16}\/\d{1,16}/,
  /parts\/\d{1,16}\/[0-9a-f]{64}/,
];
const KEY = new RegExp(`^(${KEYS.map(({ source }) => source).join('|')})\\.json$`);

/** Prefixes of the keys, for lists. */
export const FOLDERS = ['uploads/', 'inputs/', 'results/', 'parts/'] as const;

const PARTS = 256;

/** @returns the key of a task's upload */
export function uploadKey(taskId: number, spread: boolean): string {
  return spread ? `uploads/${taskId % PARTS}/${taskId}.json` : `uploads/${taskId}.json`;
}

/** @returns the last part of a key: `<id>.json` */
export const fileName = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

export const isKey = (key: string): boolean => KEY.test(key);

export interface Place {
  readonly endpoint: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly addressing: 'path' | 'virtual';
}

/** Makes the addresses of a bucket and of its files. */
export class Addresses {
  readonly #bucket: string;
  readonly #prefix: string;

  constructor({ endpoint, bucket, prefix, addressing }: Place) {
    const url = new URL(endpoint);
    const path = url.pathname.replace(/\/$/, '');
    this.#bucket =
      addressing === 'virtual'
        ? `${url.protocol}//${bucket}.${url.host}${path}`
        : `${url.origin}${path}/${bucket}`;
    this.#prefix = prefix;
  }

  /** @throws RangeError for what is not the key of a blob */
  of(key: string): URL {
    if (!isKey(key)) throw new RangeError('"key" is not the key of a blob');
    return new URL(`${this.#bucket}/${this.#prefix}${key}`);
  }

  /** Returns the address of the bucket, with these parameters. */
  bucket(parameters: Readonly<Record<string, string>> = {}): URL {
    const url = new URL(`${this.#bucket}/`);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  }

  /** Returns the key in the bucket, with the prefix. */
  stored(key: string): string {
    return this.#prefix + key;
  }

  /** The inverse of `stored`; null for foreign keys. */
  known(stored: string): string | null {
    if (!stored.startsWith(this.#prefix)) return null;
    const key = stored.slice(this.#prefix.length);
    return isKey(key) ? key : null;
  }
}
