/**
 * Signing and verification of streamed messages of any length, in constant memory. One pass is
 * enough: the salt is hashed before the message and is known from the start.
 */
import { InputBytes, readBytes, typeName } from '../shared/arguments.ts';
import { equal, wipe } from '../shared/bytes.ts';
import { CodedError } from '../shared/errors.ts';
import { set, subarray } from '../shared/intrinsics.ts';
import { HashState } from './hashState.ts';
import { type Expanded, type ExpandedKey, insideExpanded } from './keys.ts';
import { type FalconParams, HEDGE_BYTES, SALT_BYTES, SAMPLER_SEED_BYTES } from './params.ts';
import { expand, hedgedSigner, readSigningOptions, runSecret, withRandomness } from './sign.ts';
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
  const reader = stream.getReader();
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
  const own = insideExpanded(secretKey) === undefined ? expand(module, params, secretKey) : null;
  const key = own ?? (secretKey as ExpandedKey);
  // Salt ‖ randomness, or the test's coins: copied, because the caller's arrays may change.
  const seed = new Uint8Array(SALT_BYTES + Math.max(HEDGE_BYTES, SAMPLER_SEED_BYTES));
  let hash: HashState | undefined;
  try {
    if (testSeed === undefined) drawSeed(module, params, format, key, seed);
    else {
      checkKey(params, key);
      testSeed.salt.copyTo(seed);
      testSeed.samplerSeed.copyTo(seed, SALT_BYTES);
    }
    hash = new HashState(module, new InputBytes('salt', subarray(seed, 0, SALT_BYTES)), true);
    await hashAll(stream, hash);
    const state = hash;
    const { expanded } = checkKey(params, key);
    const { logn, profileNumber } = params;
    return runSecret(
      module,
      params,
      (machine) => {
        const { exports } = machine;
        set(machine.expanded, expanded);
        set(machine.seed, seed);
        if (testSeed === undefined) deriveAgain(machine, params, format, seed);
        const messageLength = state.restore(machine);
        const finish = testSeed === undefined ? exports.signHedged : exports.signExpanded;
        return finish(logn, format, messageLength, profileNumber);
      },
      (machine, length) => read(machine.signature, length),
    );
  } finally {
    own?.destroy();
    hash?.wipe();
    wipe(seed);
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

/**
 * Draws the randomness of a signature, and derives its salt, as `sign` does.
 *
 * Shape: -> seed = salt ‖ randomness
 * @throws CodedError `NO_RANDOMNESS`
 */
function drawSeed(
  module: ModuleName,
  params: FalconParams,
  format: number,
  key: ExpandedKey,
  seed: Uint8Array,
): void {
  withRandomness(module, HEDGE_BYTES, (drawn) => {
    const { expanded } = checkKey(params, key);
    runSecret(
      module,
      params,
      (machine) => {
        set(machine.expanded, expanded);
        hedgedSigner(machine, params, format, drawn);
        return 0;
      },
      (machine) => set(seed, subarray(machine.seed, 0, SALT_BYTES + HEDGE_BYTES)),
    );
  });
}

/** Derives the salt once more, which leaves the sponge of the coins. */
function deriveAgain(
  machine: Machine,
  { logn, profileNumber }: FalconParams,
  format: number,
  seed: Uint8Array<ArrayBuffer>,
): void {
  machine.exports.startHedged(logn, format, profileNumber);
  const salt = subarray(machine.seed, 0, SALT_BYTES);
  // The message was hashed after the first one.
  if (!equal(salt, subarray(seed, 0, SALT_BYTES))) throw new CodedError('INTERNAL');
}

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
