/**
 * A blob store with urls of its own, as a host may write one: a directory, and a server beside it
 * that takes uploads and hands out results. Its versions are numbers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import {
  type BlobRef,
  type BlobStore,
  newInputKey,
  type Uploaded,
  type UploadUrlOptions,
} from '../../src/middleware/blobs/port/blobStore.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { openServer } from '../support/openServer.ts';

export interface OwnUrls {
  readonly blobs: BlobStore;
  /** What the urls of uploads were asked for with, in order. */
  readonly asked: readonly (UploadUrlOptions & { readonly taskId: number })[];
  /** Ids of the tasks whose upload is there. */
  held(): number[];
  close(): Promise<void>;
}

const MAX_BYTES = 1 << 26;

export async function openOwnUrls(path: string): Promise<OwnUrls> {
  const files = directoryBlobs({ path });
  const uploads = new Map<number, Uploaded>();
  const asked: (UploadUrlOptions & { taskId: number })[] = [];
  let versions = 0;

  /** Every upload of a task has the key of the first, as in a bucket. */
  const accept = async (taskId: number, request: IncomingMessage): Promise<void> => {
    const key = uploads.get(taskId)?.blob.key ?? newInputKey();
    const blob = await files.put(key, request, { maxBytes: MAX_BYTES });
    uploads.set(taskId, {
      blob: { ...blob, tag: String(++versions) },
      contentType: request.headers['content-type'] ?? '',
      contentEncoding: request.headers['content-encoding'] ?? 'identity',
    });
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, folder, ...rest] = new URL(request.url!, 'http://own').pathname.split('/');
    if (request.method === 'PUT') await accept(Number(rest[0]), request);
    else {
      const file = await files.read({ key: [folder, ...rest].join('/') }, MAX_BYTES);
      response.statusCode = file === null ? 404 : 200;
      response.setHeader('content-length', file?.length ?? 0);
      if (request.method === 'GET') response.write(file ?? '');
    }
    response.end();
  };
  const { address: base, close } = await openServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error));
  });

  const present = ({ key, tag }: Pick<BlobRef, 'key' | 'tag'>): Pick<BlobRef, 'key'> => {
    const now = [...uploads.values()].find(({ blob }) => blob.key === key);
    if (now && tag !== undefined && now.blob.tag !== tag) throw new CodedError('INPUT_CHANGED');
    return { key };
  };
  const blobs: BlobStore = {
    ...files,
    get: async (blob) => files.get(present(blob)),
    read: async (blob, maxBytes) => files.read(present(blob), maxBytes),
    async delete(key) {
      for (const [id, { blob }] of uploads) if (blob.key === key) uploads.delete(id);
      await files.delete(key);
    },
    uploads: {
      async url(taskId, options) {
        asked.push({ taskId, ...options });
        return `${base}/uploads/${taskId}`;
      },
      stat: async (taskId) => uploads.get(taskId) ?? null,
      async discard(taskId) {
        const found = uploads.get(taskId);
        if (found) await blobs.delete(found.blob.key);
      },
    },
    results: { url: async (key, { method = 'GET' }) => `${base}/${key}?${method}` },
  };
  return { blobs, asked, held: () => [...uploads.keys()], close };
}
