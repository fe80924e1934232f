/**
 * Batch verification: fills the module's batch region with as many items as fit, and collects the
 * invalid ones.
 */
import { InputBytes, isIntact, notBytes, readList, typeName } from '../shared/arguments.ts';
import { set, subarray } from '../shared/intrinsics.ts';
import { insidePrepared, type PreparedKey } from './keys.ts';
import { type FalconParams, reasonOf, SALT_BYTES } from './params.ts';
import type { InvalidBatchItem, InvalidReason } from './types.ts';
import { formatFault, verifyOne } from './verify.ts';
import type { Machine } from './wasm.ts';

/** Maximum number of items per call. */
export const MAX_BATCH_ITEMS = 2 ** 22;

/** Longer messages, and messages of other profiles, are hashed one at a time. */
const INLINE_MESSAGE = 4096;
/**
 * Bytes that the module may write past a hash input (padding) or read past a signature (a vector
 * load).
 */
const INPUT_SLACK = 144;
const SIG_SLACK = 16;
const RECORD_FIELDS = 6;
/**
 * A status that the module never returns: an item is valid only if the module reports it as valid.
 */
const NOT_JUDGED = 1;

/**
 * V8 and SpiderMonkey hash two messages in parallel faster than in sequence. JavaScriptCore does
 * not: its code for the two-way permutation spills registers and is 5 % slower overall.
 */
const TWO_WAY = isJavaScriptCore() ? 0 : 1;

function isJavaScriptCore(): boolean {
  const host = globalThis as { Bun?: unknown; navigator?: { vendor?: string } };
  return host.Bun !== undefined || host.navigator?.vendor === 'Apple Computer, Inc.';
}

/** An item that has been read. Its arrays still belong to the caller, but are known to be bytes. */
export interface ReadItem {
  readonly signature: Uint8Array;
  readonly message: Uint8Array;
  readonly publicKey: Uint8Array | PreparedKey;
}

/**
 * Reads the items of a batch, each field of each item exactly once.
 *
 * @throws TypeError naming the first item that is not { signature, message, publicKey } of bytes,
 *   or whose key was prepared for another parameter set; RangeError for too many items
 */
export function readItems(items: unknown, params: FalconParams): ReadItem[] {
  return readList('items', items, MAX_BATCH_ITEMS, (item, index) => {
    if (typeof item !== 'object' || item === null) {
      throw new TypeError(`"items[${index}]" expected an object, got ${typeName(item)}`);
    }
    const { signature, message, publicKey } = item as Record<keyof ReadItem, unknown>;
    // Names are built only for errors: building them takes longer than reading.
    if (!isIntact(signature)) throw notBytes(`items[${index}].signature`, signature);
    if (!isIntact(message)) throw notBytes(`items[${index}].message`, message);
    if (isIntact(publicKey)) return { signature, message, publicKey };
    const inside = insidePrepared(publicKey);
    if (inside === undefined) throw notBytes(`items[${index}].publicKey`, publicKey);
    if (inside.params.name !== params.name) {
      throw new TypeError(`"items[${index}].publicKey" is a key of ${inside.params.name}`);
    }
    return { signature, message, publicKey: publicKey as PreparedKey };
  });
}

/**
 * One batch on one machine. Items are processed key by key, so that each key is prepared or copied
 * only once.
 */
export class Batch {
  readonly #machine: Machine;
  readonly #params: FalconParams;
  readonly #items: readonly ReadItem[];
  readonly #format: number | undefined;
  readonly #records: Int32Array;
  readonly #dataSize: number;
  readonly #maxItems: number;
  readonly #maxKeys: number;
  readonly #pending: Int32Array;
  #count = 0;
  #used = 0;
  #keys = 0;
  readonly #invalid: InvalidBatchItem[] = [];

  /** @param format the only format to accept; undefined for any */
  constructor(machine: Machine, params: FalconParams, items: readonly ReadItem[], format?: number) {
    const { exports, memory } = machine;
    this.#machine = machine;
    this.#params = params;
    this.#items = items;
    this.#format = format;
    this.#dataSize = exports.BATCH_DATA_SIZE.value;
    this.#maxItems = exports.BATCH_ITEMS.value;
    this.#maxKeys = exports.BATCH_KEYS.value;
    this.#records = new Int32Array(
      memory.buffer,
      exports.BATCH_RECORDS.value,
      this.#maxItems * RECORD_FIELDS,
    );
    this.#pending = new Int32Array(this.#maxItems);
  }

  run(): InvalidBatchItem[] {
    for (const [publicKey, indices] of this.#byKey()) {
      const reason = this.#placeKey(publicKey);
      for (const index of indices) {
        if (reason === undefined) this.#add(index, this.#keys - 1);
        else this.#invalid.push({ index, reason });
      }
    }
    this.#flush();
    return this.#invalid.sort((a, b) => a.index - b.index);
  }

  /**
   * Groups items by key object. Equal keys in different objects are not merged: finding them would
   * cost as much as it saves.
   */
  #byKey(): Map<ReadItem['publicKey'], number[]> {
    const groups = new Map<ReadItem['publicKey'], number[]>();
    for (let index = 0; index < this.#items.length; index++) {
      const { publicKey } = this.#items[index]!;
      const group = groups.get(publicKey);
      if (group === undefined) groups.set(publicKey, [index]);
      else group.push(index);
    }
    return groups;
  }

  /** Places a key in the next free slot, which is then `#keys - 1`. */
  #placeKey(publicKey: ReadItem['publicKey']): InvalidReason | undefined {
    if (this.#keys === this.#maxKeys) {
      this.#flush();
      this.#keys = 0;
    }
    const { logn, lengths } = this.#params;
    const { exports, publicKey: region, batchKeys } = this.#machine;
    const inside = insidePrepared(publicKey);
    if (inside !== undefined) {
      set(batchKeys, inside.prepared, this.#keys << (logn + 2));
    } else {
      const encoded = new InputBytes('publicKey', publicKey as Uint8Array);
      if (encoded.length !== lengths.publicKey) return 'publicKeyLength';
      encoded.copyTo(region);
      const status = exports.prepareBatchKey(logn, this.#keys);
      if (status !== 0) return reasonOf(status);
    }
    this.#keys++;
    return undefined;
  }

  #add(index: number, key: number): void {
    const item = this.#items[index]!;
    const signature = new InputBytes('signature', item.signature);
    const message = new InputBytes('message', item.message);
    const { batchData } = this.#machine;
    if (signature.length > this.#params.lengths.signatureConstantTime) {
      this.#invalid.push({ index, reason: 'signatureLength' });
      return;
    }
    const isPlain = message.length <= INLINE_MESSAGE && signature.length > SALT_BYTES;
    if (!isPlain || this.#params.profileNumber !== 0) {
      this.#verifyAlone(index, key, signature, message);
      return;
    }
    const inputLength = SALT_BYTES + message.length;
    const sigOffset = aligned(inputLength + INPUT_SLACK);
    const size = sigOffset + aligned(signature.length + SIG_SLACK);
    if (this.#count === this.#maxItems || this.#used + size > this.#dataSize) this.#flush();
    const at = this.#used;
    message.copyTo(batchData, at + SALT_BYTES);
    signature.copyTo(batchData, at + sigOffset);
    const { length } = signature;
    const reason = formatFault(this.#params, this.#format, batchData, at + sigOffset, length);
    if (reason !== undefined) {
      this.#invalid.push({ index, reason });
      return;
    }
    const record = this.#count * RECORD_FIELDS;
    this.#records[record] = at;
    this.#records[record + 1] = inputLength;
    this.#records[record + 2] = at + sigOffset;
    this.#records[record + 3] = signature.length;
    this.#records[record + 4] = key;
    this.#records[record + 5] = NOT_JUDGED;
    this.#pending[this.#count++] = index;
    this.#used = at + size;
  }

  /** Verifies one item with the prepared key, so that the key is read once for all items. */
  #verifyAlone(index: number, slot: number, signature: InputBytes, message: InputBytes): void {
    const params = this.#params;
    const at = slot << (params.logn + 2);
    const prepared = subarray(this.#machine.batchKeys, at, at + (4 << params.logn));
    const key = { prepared };
    const reason = verifyOne(this.#machine, params, signature, message, key, this.#format);
    if (reason !== undefined) this.#invalid.push({ index, reason });
  }

  #flush(): void {
    const count = this.#count;
    if (count > 0) this.#machine.exports.verifyBatch(this.#params.logn, count, TWO_WAY);
    for (let i = 0; i < count; i++) {
      const status = this.#records[i * RECORD_FIELDS + 5]!;
      if (status !== 0) this.#invalid.push({ index: this.#pending[i]!, reason: reasonOf(status) });
    }
    this.#count = 0;
    this.#used = 0;
  }
}

const aligned = (length: number): number => (length + 15) & ~15;
