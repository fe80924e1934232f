/**
 * Signing and verification of streamed messages of any length, in constant memory. One pass is
 * enough: the salt is hashed before the message and is known from the start.
 */
import { InputBytes, readBytes, typeName } from '../shared/arguments.ts';
import { wipe } from '../shared/bytes.ts';
import { set } from '../shared/intrinsics.ts';
import { HashState } from './hashState.ts';
import { type Expanded, type ExpandedKey, insideExpanded } from './keys.ts';
import { type FalconParams, SALT_BYTES, SAMPLER_SEED_BYTES } from './params.ts';
import { drawSeed, expand, readSigningOptions, runSecret } from './sign.ts';
import type { ByteStream } from './types.ts';
import { type InputKey, readPublicKey, readVerifyOptions, verifyOne } from './verify.ts';
import { type Machine, type ModuleName, read, run } from './wasm.ts';

/** @throws TypeError unless it is an asynchronous iterable or a ReadableStream */
function checkStream(stream: unknown): asserts stream is ByteStream {
  const isObject = typeof stream === 'object' && stream !== null;
  if (isObject && (Symbol.asyncIterator in stream || 'getReader' in stream)) return;
  throw new TypeError(
    `"stream" expected a ReadableStream or an asynchronous iterable, got ${typeName(stream)}`,
  );
}

/**
 * Yields the pieces; cancels the stream on early exit. Not every host's ReadableStream is iterable.
 */
async function* piecesOf(stream: ByteStream): AsyncGenerator<unknown, void> {
  if (Symbol.asyncIterator in stream) {
    yield* stream;
    return;
  }
  const reader = (stream as ReadableStream<Uint8Array>).getReader();
  let isDone = false;
  try {
    for (;;) {
      const next = await reader.read();
      isDone = next.done;
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    isDone = true; // failed already, so not cancelled
    throw error;
  } finally {
    if (!isDone) await reader.cancel();
    reader.releaseLock();
  }
}

/** @throws TypeError for a piece that is not bytes; any error of the stream */
async function hashAll(stream: ByteStream, hash: HashState | undefined): Promise<void> {
  for await (const piece of piecesOf(stream)) {
    const bytes = readBytes('piece of "stream"', piece);
    hash?.update(bytes);
  }
}

/** Implements `Falcon.signStream`. */
export async function signStream(
  module: ModuleName,
  params: FalconParams,
  stream: unknown,
  secretKey: unknown,
  options: unknown,
): Promise<Uint8Array<ArrayBuffer>> {
  checkStream(stream);
  refuseDerivedSalt(options);
  const { format, testSeed } = readSigningOptions(params, options, ['format', 'testSeed']);
  // Copied, because the caller's array may change while the stream is read.
  const samplerSeed = testSeed?.samplerSeed.copy();
  const salt = testSeed?.salt.copy() ?? drawnSalt(module, params);
  const own = insideExpanded(secretKey) === undefined ? expand(module, params, secretKey) : null;
  const key = own ?? (secretKey as ExpandedKey);
  checkKey(params, key);
  let hash: HashState | undefined;
  try {
    hash = new HashState(module, new InputBytes('salt', salt), true);
    await hashAll(stream, hash);
    const state = hash;
    const { expanded } = checkKey(params, key);
    return runSecret(
      module,
      params,
      (machine) => {
        if (samplerSeed === undefined) drawSeed(machine, SALT_BYTES + SAMPLER_SEED_BYTES);
        else set(machine.seed, samplerSeed, SALT_BYTES);
        set(machine.seed, salt);
        set(machine.expanded, expanded);
        return machine.exports.signExpanded(
          params.logn,
          format,
          state.restore(machine),
          params.profileNumber,
        );
      },
      (machine, length) => read(machine.signature, length),
    );
  } finally {
    own?.destroy();
    hash?.wipe();
    if (samplerSeed) wipe(samplerSeed);
  }
}

/** @throws TypeError for a key of another set, or one destroyed in the meantime */
function checkKey(params: FalconParams, key: ExpandedKey): Expanded {
  const inside = insideExpanded(key)!;
  if (inside.params.name === params.name) return inside;
  throw new TypeError(`"secretKey" is a key of ${inside.params.name}`);
}

/** Rejects derived salts, which depend on the message and so would need a second pass. */
function refuseDerivedSalt(options: unknown): void {
  if (typeof options !== 'object' || options === null || !Object.hasOwn(options, 'salt')) return;
  throw new TypeError(
    'a stream is read once, so its salt cannot be derived from the message: "salt" is no option',
  );
}

/** @throws CodedError `NO_RANDOMNESS` */
const drawnSalt = (module: ModuleName, params: FalconParams): Uint8Array<ArrayBuffer> =>
  runSecret(
    module,
    params,
    (machine) => {
      drawSeed(machine, SALT_BYTES);
      return 0;
    },
    (machine) => read(machine.seed, SALT_BYTES),
  );

/** Implements `FalconVerifier.verifyStream`. */
export async function verifyStream(
  module: ModuleName,
  params: FalconParams,
  signature: unknown,
  stream: unknown,
  publicKey: unknown,
  options: unknown,
): Promise<boolean> {
  const own = readBytes('signature', signature);
  checkStream(stream);
  const key = ownKey(readPublicKey('publicKey', params, publicKey));
  const format = readVerifyOptions(options);
  // A signature that is too long is rejected by its length alone, so it is not kept.
  const isLong = own.length > params.lengths.signatureConstantTime;
  if (isLong || own.length <= SALT_BYTES) {
    await hashAll(stream, undefined);
    return false;
  }
  const bytes = own.copy();
  const salt = new InputBytes('salt', bytes.subarray(1, 1 + SALT_BYTES));
  const hash = new HashState(module, salt, false);
  await hashAll(stream, hash);
  const input = new InputBytes('signature', bytes);
  return run(
    module,
    false,
    (machine: Machine) => verifyOne(machine, params, input, hash, key, format) === undefined,
  );
}

/** Copies an encoded key, unless it is too long to be one. */
function ownKey(key: InputKey): InputKey {
  if (!(key instanceof InputBytes) || key.length > 2048) return key;
  return new InputBytes('publicKey', key.copy());
}
