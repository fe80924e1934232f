/**
 * A batch in shared memory, so that every thread reads the same bytes and none is copied:
 *
 *   u32[0]          count
 *   u32[1 + 3 i]    end of public key i, of message i, of signature i (offsets from the first byte)
 *   ...             the bytes: public key, message, signature of each item, without gaps
 */
import type { TaskItem } from '../../wire/taskFile.ts';

const WORD = 4;
const FIELDS = 3;

/** @returns the items as one shared buffer. */
export function packItems(items: readonly TaskItem[]): SharedArrayBuffer {
  const headBytes = WORD * (1 + FIELDS * items.length);
  let bytes = headBytes;
  for (const item of items) {
    bytes += item.publicKey.length + item.message.length + item.signature.length;
  }
  const buffer = new SharedArrayBuffer(bytes);
  const head = new Uint32Array(buffer, 0, headBytes / WORD);
  const body = new Uint8Array(buffer, headBytes);
  head[0] = items.length;
  let word = 1;
  let end = 0;
  for (const item of items) {
    for (const field of [item.publicKey, item.message, item.signature]) {
      body.set(field, end);
      end += field.length;
      head[word++] = end;
    }
  }
  return buffer;
}

/** @returns items `from` to `to` (without it); copies, since some functions refuse shared memory. */
export function unpackItems(buffer: SharedArrayBuffer, from = 0, to = Infinity): TaskItem[] {
  const count = new Uint32Array(buffer, 0, 1)[0]!;
  const ends = new Uint32Array(buffer, WORD, FIELDS * count);
  const body = new Uint8Array(buffer, WORD * (1 + FIELDS * count));
  const last = Math.min(to, count);
  const items: TaskItem[] = [];
  for (let word = FIELDS * from; word < FIELDS * last; word += FIELDS) {
    const start = word === 0 ? 0 : ends[word - 1]!;
    items.push({
      publicKey: body.slice(start, ends[word]!),
      message: body.slice(ends[word]!, ends[word + 1]!),
      signature: body.slice(ends[word + 1]!, ends[word + 2]!),
    });
  }
  return items;
}
