/** Removes files that no task needs, found by listing the bucket (ListObjectsV2). */
import type { BlobStore } from '../port/blobStore.ts';
import { type Addresses, FOLDERS } from './keys.ts';
import { heard, type Requests, type StoreAnswer, unavailable } from './requests.ts';

/** Maximum number of concurrent deletions. */
const AT_ONCE = 8;

/** Larger than a page of a thousand keys of a kilobyte. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/**
 * @param beforeMs only files last written by this time
 * @param remove deletes a file
 * @returns the number of removed files
 */
export async function clean(
  requests: Requests,
  addresses: Addresses,
  beforeMs: number,
  referenced: Parameters<BlobStore['clean']>[0]['referenced'],
  remove: (key: string) => Promise<void>,
): Promise<number> {
  let removed = 0;
  for (const folder of FOLDERS) {
    for await (const files of pages(requests, addresses, folder)) {
      const old = files.filter(({ writtenMs }) => writtenMs <= beforeMs).map(({ key }) => key);
      if (old.length === 0) continue;
      const needed = await referenced(old);
      const useless = old.filter((key) => !needed.has(key));
      for (let at = 0; at < useless.length; at += AT_ONCE) {
        await Promise.all(useless.slice(at, at + AT_ONCE).map(remove));
      }
      removed += useless.length;
    }
  }
  return removed;
}

interface Listed {
  readonly key: string;
  readonly writtenMs: number;
}

/** Yields the files of a folder, up to a thousand at a time; skips foreign files. */
async function* pages(
  requests: Requests,
  addresses: Addresses,
  folder: string,
): AsyncGenerator<Listed[]> {
  const prefix = addresses.stored(folder);
  for (let token: string | undefined, more = true; more; more = token !== undefined) {
    const url = addresses.bucket({
      'list-type': '2',
      prefix,
      ...(token !== undefined && { 'continuation-token': token }),
    });
    const page = await requests.ask({ method: 'GET', url }, textOf);
    if (page === null) throw unavailable('the blob store has no list of its files');
    token = isTruncated(page) ? fieldOf(page, 'NextContinuationToken') : undefined;
    const files: Listed[] = [];
    for (const [, entry] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const key = addresses.known(fieldOf(entry!, 'Key') ?? '');
      const writtenMs = Date.parse(fieldOf(entry!, 'LastModified') ?? '');
      if (key !== null && Number.isFinite(writtenMs)) files.push({ key, writtenMs });
    }
    yield files;
  }
}

const isTruncated = (page: string): boolean => fieldOf(page, 'IsTruncated') === 'true';

/** Returns the text of an element without children. */
function fieldOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text
    ?.replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}

async function textOf({ body, silence }: StoreAnswer): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await heard(silence, reader.read());
    if (done) return Buffer.concat(pieces).toString('utf8');
    bytes += value.length;
    if (bytes > MAX_PAGE_BYTES) {
      await reader.cancel();
      throw unavailable('a list of the blob store is too long');
    }
    pieces.push(value);
  }
}
