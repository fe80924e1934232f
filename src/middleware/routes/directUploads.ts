/**
 * Task files that clients PUT at the blob store itself, past the service: nobody has looked at them
 * before the notification.
 */
import { CodedError } from '../../shared/errors.ts';
import type { BlobRef } from '../blobs/port/blobStore.ts';
import { checkForm } from '../http/bodyType.ts';
import { ProblemError } from '../http/problems.ts';
import type { Task } from '../stores/port/task.ts';
import type { Deps } from './route.ts';

/**
 * The file of a task that waits for its notification; undefined if it came through the service, or
 * if there is none. A host that takes uploads itself looks only where it knows of none: then the
 * url may be another host's, which lets clients PUT past the service.
 *
 * @throws ProblemError for a file that is empty, too large, compressed or not JSON; it is deleted
 */
export async function uploadedFile(deps: Deps, task: Task): Promise<BlobRef | undefined> {
  const { uploads, arrivals } = deps.runtime.ports.blobs;
  const open = task.state === 'created' || (uploads && task.state === 'uploaded');
  const files = open ? (uploads ?? arrivals) : undefined;
  const found = await files?.stat(task.id);
  if (!files || !found) return undefined;
  try {
    checkFile(found.blob.bytes, deps.settings.maxBodyBytes);
    const encoding = checkForm(found.contentType, found.contentEncoding);
    if (encoding !== 'identity') throw packed();
  } catch (refusal) {
    await files.discard(task.id);
    throw refusal;
  }
  return found.blob;
}

/** The worker reads what the bucket gives, which nobody unpacks. */
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

/** Longer bodies say something else. */
const MAX_ANNOUNCEMENT_BYTES = 1024;

/**
 * The length of the file, if the body that creates the task says `{"bytes": n}`. No body is needed,
 * so that any other one says nothing.
 *
 * @throws CodedError `BODY_TOO_LARGE` for a file that would be refused later
 */
export function announcedBytes(body: Uint8Array, maxBytes: number): number | undefined {
  if (body.length === 0 || body.length > MAX_ANNOUNCEMENT_BYTES) return undefined;
  let said: unknown;
  try {
    said = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
  const bytes = (said as { bytes?: unknown } | null)?.bytes;
  if (!Number.isSafeInteger(bytes) || (bytes as number) < 1) return undefined;
  if ((bytes as number) > maxBytes) throw new CodedError('BODY_TOO_LARGE');
  return bytes as number;
}
