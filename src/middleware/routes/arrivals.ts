/** Files that clients have PUT at the blob store itself, which the service has not seen. */
import { isCodedError } from '../../shared/errors.ts';
import type { Arrivals, BlobRef } from '../blobs/port/blobStore.ts';
import { checkForm } from '../http/bodyType.ts';
import { ProblemError } from '../http/problems.ts';
import type { Task } from '../stores/port/task.ts';
import { storageQuota } from './records.ts';
import type { Deps } from './route.ts';

/**
 * Returns the file that a client has PUT at the blob store itself, for a task before its
 * notification; undefined if there is none, or if it came through the service. A host that receives
 * uploads itself looks only if it has no file: another host may have issued such a URL.
 *
 * @throws ProblemError for a file that is empty, too large, compressed or not JSON; it is deleted
 */
export async function uploadedFile(deps: Deps, task: Task): Promise<BlobRef | undefined> {
  const { uploads, arrivals } = deps.runtime.ports.blobs;
  const open = task.state === 'created' || (uploads && task.state === 'uploaded');
  const files = open && !task.parts ? (uploads ?? arrivals) : undefined;
  return files && checkedFile(deps, files, task.id);
}

/** @throws ProblemError as `uploadedFile` */
async function checkedFile(deps: Deps, files: Arrivals, id: number): Promise<BlobRef | undefined> {
  const found = await files.stat(id);
  if (!found) return undefined;
  try {
    checkFile(found.blob.bytes, deps.settings.maxBodyBytes);
    const encoding = checkForm(found.contentType, found.contentEncoding);
    if (encoding !== 'identity') throw packed();
  } catch (refusal) {
    await files.discard(id);
    throw refusal;
  }
  return found.blob;
}

/** The worker does not decompress files of a bucket. */
const packed = () =>
  new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
    message: 'A task file in the bucket must not be packed',
    headers: { 'accept-encoding': 'identity' },
  });

function checkFile(bytes: number, maxBytes: number): void {
  if (bytes === 0) throw new ProblemError('MALFORMED_JSON', { message: 'The task file is empty' });
  if (bytes <= maxBytes) return;
  throw new ProblemError('BODY_TOO_LARGE', {
    message: `The task file is larger than ${maxBytes} bytes`,
  });
}

/** Files that are looked for at once. */
const LOOKS_AT_ONCE = 8;

/**
 * Queues parts whose files have arrived at the blob store. A file that is refused is deleted, and
 * its part stays without one.
 *
 * @param limit maximum number of parts to look for
 * @throws ProblemError `STORAGE_QUOTA`
 */
export async function noteArrivedParts(deps: Deps, task: Task, limit: number): Promise<void> {
  const { store, parts: port, blobs, limits } = deps.runtime.ports;
  const files = blobs.uploads ?? blobs.arrivals;
  if (!files || !port) return;
  const { storedBytes } = await limits.of(task.clientId);
  const note = async ({ id, clientId }: Task): Promise<void> => {
    const input = await checkedFile(deps, files, id).catch((refusal) => {
      if (isCodedError(refusal) && refusal.status < 500) return undefined;
      throw refusal;
    });
    const outcome = input && (await store.upload(id, input, { storedBytes }));
    if (!outcome || outcome.ok || outcome.reason !== 'storedBytes') return;
    await files.discard(id);
    throw await storageQuota(deps, clientId, input!.bytes);
  };
  for (const state of ['created', 'failed'] as const) {
    const parts = [...(await port.parts(task.id, { state, limit }))];
    while (parts.length > 0) await Promise.all(parts.splice(0, LOOKS_AT_ONCE).map(note));
  }
}
