/**
 * Packs items into one buffer, which is transferred to a thread without cloning.
 *
 *   u32[0]                  count of items
 *   u32[1]                  count of distinct keys
 *   u32[2 + k]              bytes of key k
 *   u32[2 + keys + 3 i]     key number, signature bytes, message bytes of item i
 *   ...                     then the bytes: all keys, then signature and message of each item,
 *                           without gaps
 *
 * A key object shared by several items is sent once, so that the thread can share its preparation.
 */
import { InputBytes, isBytes } from '../arguments.ts';

/** Signature, message and key. The key is bytes, or a prepared key that contains its bytes. */
export interface PackableItem {
  readonly signature: Uint8Array;
  readonly message: Uint8Array;
  readonly publicKey: Uint8Array | { readonly publicKey: Uint8Array };
}

/** A received item: its bytes are views of one buffer. */
export interface UnpackedItem extends PackableItem {
  readonly publicKey: Uint8Array;
}

const WORD = 4;

/** Returns the bytes of an item's encoded key, prepared or not. */
const keyBytes = ({ publicKey }: PackableItem): InputBytes =>
  new InputBytes('publicKey', isBytes(publicKey) ? publicKey : publicKey.publicKey);

/**
 * Packs `items[from..to)`.
 *
 * @param allocate returns a buffer of at least this many bytes, with any content. Default: a new
 *   buffer of exactly that size
 * @returns that buffer, filled from its start
 */
export function packItems(
  items: readonly PackableItem[],
  from = 0,
  to = items.length,
  allocate = (size: number): ArrayBuffer => new ArrayBuffer(size),
): ArrayBuffer {
  const count = to - from;
  const keyNumbers = new Map<object, number>();
  const keys: InputBytes[] = [];
  const fields: InputBytes[] = [];
  const numbers = new Uint32Array(count);
  let size = 0;
  for (let i = 0; i < count; i++) {
    const item = items[from + i]!;
    let number = keyNumbers.get(item.publicKey);
    if (number === undefined) {
      number = keys.length;
      const key = keyBytes(item);
      keyNumbers.set(item.publicKey, number);
      keys.push(key);
      size += key.length;
    }
    numbers[i] = number;
    const signature = new InputBytes('signature', item.signature);
    const message = new InputBytes('message', item.message);
    fields.push(signature, message);
    size += signature.length + message.length;
  }

  const words = 2 + keys.length + 3 * count;
  size += WORD * words;
  const buffer = allocate(size);
  const head = new Uint32Array(buffer, 0, words);
  const body = new Uint8Array(buffer);
  let offset = WORD * words;
  let word = 0;
  head[word++] = count;
  head[word++] = keys.length;
  for (const key of keys) {
    head[word++] = key.length;
    key.copyTo(body, offset);
    offset += key.length;
  }
  for (let i = 0; i < count; i++) {
    head[word++] = numbers[i]!;
    for (const field of fields.slice(2 * i, 2 * i + 2)) {
      head[word++] = field.length;
      field.copyTo(body, offset);
      offset += field.length;
    }
  }
  return buffer;
}

/** The exact inverse of {@link packItems}; shared keys stay shared. */
export function unpackItems(buffer: ArrayBuffer): UnpackedItem[] {
  const [count, keyCount] = new Uint32Array(buffer, 0, 2) as unknown as [number, number];
  const words = 2 + keyCount + 3 * count;
  const head = new Uint32Array(buffer, 0, words);
  let offset = WORD * words;
  const take = (length: number): Uint8Array => {
    const bytes = new Uint8Array(buffer, offset, length);
    offset += length;
    return bytes;
  };
  let word = 2;
  const keys: Uint8Array[] = [];
  for (let k = 0; k < keyCount; k++) keys.push(take(head[word++]!));
  const items: UnpackedItem[] = [];
  for (let i = 0; i < count; i++) {
    const publicKey = keys[head[word++]!]!;
    const signature = take(head[word++]!);
    const message = take(head[word++]!);
    items.push({ signature, message, publicKey });
  }
  return items;
}
