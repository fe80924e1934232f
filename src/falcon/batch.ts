/** `verifyBatch`: fills the module's batch region with items, as many as fit, and collects what is not valid. */
import { isBytes } from '../bytes.ts';
import { PreparedKey } from './keys.ts';
import { type FalconParams, REASONS } from './params.ts';
import type { BatchItem, InvalidBatchItem, InvalidReason, PreparedPublicKey } from './types.ts';
import { verifyOne } from './verify.ts';
import type { Machine } from './wasm.ts';

/** Longer messages are hashed alone, piece by piece. */
const INLINE_MESSAGE = 4096;
const SALT = 40;
/** What the module may write or read beyond a hash input (padding) and a signature (a vector). */
const INPUT_SLACK = 144;
const SIG_SLACK = 16;
const RECORD_FIELDS = 6;

/**
 * Two messages at once are hashed faster than one after the other by V8 and SpiderMonkey, but not by JavaScriptCore: its
 * code for the two-way permutation spills more than it wins (5 % slower in all).
 */
const TWO_WAY = isJavaScriptCore() ? 0 : 1;

function isJavaScriptCore(): boolean {
  const host = globalThis as { Bun?: unknown; navigator?: { vendor?: string } };
  return host.Bun !== undefined || host.navigator?.vendor === 'Apple Computer, Inc.';
}

/**
 * @throws TypeError naming the first item that is not { signature, message, publicKey } of bytes, or whose key was prepared
 *   for another parameter set
 */
export function checkItems(items: readonly BatchItem[], params?: FalconParams): void {
  if (!Array.isArray(items)) throw new TypeError('"items" expected an array');
  for (let index = 0; index < items.length; index++) {
    const item: unknown = items[index];
    if (typeof item !== 'object' || item === null) {
      throw new TypeError(`"items[${index}]" expected an object`);
    }
    const { signature, message, publicKey } = item as BatchItem;
    if (!isBytes(signature)) throw notBytes(index, 'signature');
    if (!isBytes(message)) throw notBytes(index, 'message');
    if (!isBytes(publicKey)) {
      if (PreparedKey.bytesOf(publicKey) === undefined) throw notBytes(index, 'publicKey');
      if (params !== undefined && publicKey.parameterSet !== params.name) {
        throw new TypeError(`"items[${index}].publicKey" is of ${publicKey.parameterSet}`);
      }
    }
  }
}

function notBytes(index: number, name: string): TypeError {
  return new TypeError(`"items[${index}].${name}" expected Uint8Array`);
}

/**
 * One batch on one machine. Items are taken key by key, so that each key is prepared, or copied in, once.
 */
export class Batch {
  readonly #machine: Machine;
  readonly #params: FalconParams;
  readonly #items: readonly BatchItem[];
  readonly #records: Int32Array;
  readonly #data: number;
  readonly #dataSize: number;
  readonly #preparedAt: number;
  readonly #maxItems: number;
  readonly #maxKeys: number;
  readonly #pending: Int32Array;
  #count = 0;
  #used = 0;
  #keys = 0;
  readonly #invalid: InvalidBatchItem[] = [];

  constructor(machine: Machine, params: FalconParams, items: readonly BatchItem[]) {
    const { exports, memory } = machine;
    this.#machine = machine;
    this.#params = params;
    this.#items = items;
    this.#maxItems = exports.BATCH_ITEMS.value;
    this.#maxKeys = exports.BATCH_KEYS.value;
    this.#data = exports.BATCH_DATA.value;
    this.#dataSize = exports.BATCH_DATA_SIZE.value;
    this.#preparedAt = exports.BATCH_PREPARED.value;
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

  /** Items with the same key object together. Equal keys in different objects are not searched for: that costs as much. */
  #byKey(): Map<Uint8Array | PreparedPublicKey, number[]> {
    const groups = new Map<Uint8Array | PreparedPublicKey, number[]>();
    for (let index = 0; index < this.#items.length; index++) {
      const { publicKey } = this.#items[index]!;
      const group = groups.get(publicKey);
      if (group === undefined) groups.set(publicKey, [index]);
      else group.push(index);
    }
    return groups;
  }

  /** Puts a key into the next free place, which is then `#keys - 1`. */
  #placeKey(publicKey: Uint8Array | PreparedPublicKey): InvalidReason | undefined {
    if (this.#keys === this.#maxKeys) {
      this.#flush();
      this.#keys = 0;
    }
    const { logn, lengths } = this.#params;
    const { memory, exports, PK } = this.#machine;
    const prepared = PreparedKey.bytesOf(publicKey);
    if (prepared !== undefined) {
      memory.set(prepared, this.#preparedAt + (this.#keys << (logn + 2)));
    } else {
      const encoded = publicKey as Uint8Array;
      if (encoded.length !== lengths.publicKey) return 'publicKeyLength';
      memory.set(encoded, PK);
      const status = exports.prepareBatchKey(logn, this.#keys);
      if (status !== 0) return REASONS[status];
    }
    this.#keys++;
    return undefined;
  }

  #add(index: number, key: number): void {
    const { signature, message } = this.#items[index]!;
    const { memory } = this.#machine;
    if (signature.length > this.#params.lengths.signatureConstantTime) {
      this.#invalid.push({ index, reason: 'signatureLength' });
      return;
    }
    if (message.length > INLINE_MESSAGE || signature.length <= SALT) {
      this.#verifyAlone(index);
      return;
    }
    const inputLength = SALT + message.length;
    const sigOffset = aligned(inputLength + INPUT_SLACK);
    const size = sigOffset + aligned(signature.length + SIG_SLACK);
    if (this.#count === this.#maxItems || this.#used + size > this.#dataSize) this.#flush();
    const at = this.#used;
    memory.set(message, this.#data + at + SALT);
    memory.set(signature, this.#data + at + sigOffset);
    const record = this.#count * RECORD_FIELDS;
    this.#records[record] = at;
    this.#records[record + 1] = inputLength;
    this.#records[record + 2] = at + sigOffset;
    this.#records[record + 3] = signature.length;
    this.#records[record + 4] = key;
    this.#pending[this.#count++] = index;
    this.#used = at + size;
  }

  #verifyAlone(index: number): void {
    const { signature, message, publicKey } = this.#items[index]!;
    const reason = verifyOne(this.#machine, this.#params, signature, message, publicKey);
    if (reason !== undefined) this.#invalid.push({ index, reason });
  }

  #flush(): void {
    const count = this.#count;
    if (count > 0 && this.#machine.exports.verifyBatch(this.#params.logn, count, TWO_WAY) > 0) {
      for (let i = 0; i < count; i++) {
        const status = this.#records[i * RECORD_FIELDS + 5]!;
        if (status < 0) {
          this.#invalid.push({ index: this.#pending[i]!, reason: REASONS[status]! });
        }
      }
    }
    this.#count = 0;
    this.#used = 0;
  }
}

const aligned = (length: number): number => (length + 15) & ~15;
