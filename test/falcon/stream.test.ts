import { describe, expect, test } from 'vitest';
import { createFalcon } from '../../src/falcon/index.ts';
import { BUILDS_OF_SETS, SETS, testKeys } from '../support/ours.ts';
import { testRandom } from '../support/random.ts';

/** A stream of a message cut at random places, empty pieces among them. */
async function* cut(message: Uint8Array, label = 'cut'): AsyncGenerator<Uint8Array> {
  const random = testRandom(label);
  for (let at = 0; at < message.length; ) {
    const to = Math.min(message.length, at + random.below(9000));
    yield message.slice(at, to);
    at = to;
  }
}

function webStream(message: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (message.length > 0) controller.enqueue(message);
      controller.close();
    },
  });
}

/** A ReadableStream of a host where they are not iterable. */
function plainStream(message: Uint8Array, log: string[] = []): ReadableStream<Uint8Array> {
  const inner = webStream(message).getReader();
  const reader = {
    read: () => inner.read(),
    cancel: async () => void log.push('cancel'),
    releaseLock: () => void log.push('release'),
  };
  return { getReader: () => reader } as never;
}

describe.each(BUILDS_OF_SETS)('streams, $falcon.name, $module', ({ degree, falcon }) => {
  const { publicKey, secretKey } = testKeys(degree);
  const random = testRandom(`stream ${degree}`);
  const lengths = [0, 1, 95, 96, 136, 8191, 8192, 8193, 70_000];

  test('give the signatures of whole messages, in every format', async () => {
    for (const [i, length] of lengths.entries()) {
      const message = random.bytes(length);
      const format = (['compressed', 'padded', 'constantTime'] as const)[i % 3]!;
      const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
      const want = falcon.sign(message, secretKey, { format, testSeed });
      using key = falcon.expandSecretKey(secretKey);
      for (const stream of [cut(message), webStream(message), plainStream(message)]) {
        const signature = await falcon.signStream(stream, key, { format, testSeed });
        expect(signature).toEqual(want);
      }
      expect(await falcon.signStream(cut(message), secretKey, { format, testSeed })).toEqual(want);
    }
  });

  test('are verified as whole messages are', async () => {
    const prepared = falcon.preparePublicKey(publicKey);
    for (const format of ['compressed', 'padded', 'constantTime'] as const) {
      const message = random.bytes(20_000);
      const signature = await falcon.signStream(cut(message, format), secretKey, { format });
      expect(falcon.verify(signature, message, publicKey)).toBe(true);
      const verdict = (s: Uint8Array, m: Uint8Array, key: typeof prepared | Uint8Array, o = {}) =>
        falcon.verifyStream(s, cut(m), key, o);
      expect(await verdict(signature, message, publicKey)).toBe(true);
      expect(await verdict(signature, message, prepared, { format })).toBe(true);
      const other = format === 'padded' ? 'compressed' : 'padded';
      expect(await verdict(signature, message, publicKey, { format: other })).toBe(false);
      expect(await verdict(signature, message.subarray(1), publicKey)).toBe(false);
      expect(await verdict(signature, message.slice(0, -1), publicKey)).toBe(false);
      for (let at = 0; at < signature.length; at += 97) {
        const bad = signature.slice();
        bad[at]! ^= 4;
        expect(await verdict(bad, message, publicKey)).toBe(false);
      }
      for (const length of [0, 40, 41, 2000]) {
        expect(await verdict(new Uint8Array(length), message, publicKey)).toBe(false);
      }
      expect(await verdict(signature, message, publicKey.subarray(1))).toBe(false);
      expect(await verdict(signature, message, new Uint8Array(5000))).toBe(false);
    }
  });

  test('leave the module to other calls between pieces', async () => {
    const message = random.bytes(30_000);
    const between = async function* (): AsyncGenerator<Uint8Array> {
      for await (const piece of cut(message)) {
        const own = falcon.sign(piece, secretKey);
        expect(falcon.verify(own, piece, publicKey)).toBe(true);
        yield piece;
        falcon.keygen(random.bytes(48));
      }
    };
    const all = await Promise.all([
      falcon.signStream(between(), secretKey),
      falcon.signStream(between(), secretKey),
    ]);
    for (const signature of all) {
      expect(falcon.verify(signature, message, publicKey)).toBe(true);
      expect(await falcon.verifyStream(signature, between(), publicKey)).toBe(true);
    }
    expect(all[0]).not.toEqual(all[1]);
  });
});

describe.each(SETS)('mistakes and failures, $falcon.name', ({ degree, falcon }) => {
  const { publicKey, secretKey } = testKeys(degree);
  const message = new Uint8Array(3000);
  const signature = falcon.sign(message, secretKey);

  test('what is no stream, or gives no bytes, is refused', async () => {
    const bad = [undefined, null, 5, 'text', [], message, {}, () => message];
    for (const stream of bad as never[]) {
      await expect(falcon.signStream(stream, secretKey)).rejects.toThrow(TypeError);
      await expect(falcon.verifyStream(signature, stream, publicKey)).rejects.toThrow(TypeError);
    }
    for (const piece of ['text', 5, null, [1], new Uint16Array(4), message.buffer]) {
      const log: string[] = [];
      const stream = async function* () {
        try {
          yield message;
          yield piece as never;
          log.push('asked for more');
        } finally {
          log.push('closed');
        }
      };
      await expect(falcon.signStream(stream(), secretKey)).rejects.toThrow(TypeError);
      const verdict = falcon.verifyStream(signature, stream(), publicKey);
      await expect(verdict).rejects.toThrow(TypeError);
      expect(log).toEqual(['closed', 'closed']);
    }
    const log: string[] = [];
    const wrong = plainStream('text' as never, log);
    await expect(falcon.signStream(wrong, secretKey)).rejects.toThrow(TypeError);
    expect(log).toEqual(['cancel', 'release']);
  });

  test('the failure of a stream is the failure of the call', async () => {
    const failure = new Error('the disk is gone');
    const stream = async function* () {
      yield message;
      throw failure;
    };
    const web = () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(message),
        pull: (controller) => controller.error(failure),
      });
    for (const make of [stream, web]) {
      await expect(falcon.signStream(make(), secretKey)).rejects.toBe(failure);
      await expect(falcon.verifyStream(signature, make(), publicKey)).rejects.toBe(failure);
      // What cannot be valid is read to its end, too.
      await expect(falcon.verifyStream(message, make(), publicKey)).rejects.toBe(failure);
    }
  });

  test('keys and options are judged before the stream is touched', async () => {
    let touched = 0;
    const stream = () => ({
      [Symbol.asyncIterator]() {
        touched++;
        return cut(message);
      },
    });
    const wrongKey = secretKey.slice();
    wrongKey.fill(0, 1, degree === 512 ? 385 : 641);
    for (const key of [wrongKey, secretKey.subarray(1)]) {
      await expect(falcon.signStream(stream(), key)).rejects.toThrow(RangeError);
    }
    const options = [{ salt: 'derived' }, { unknown: 1 }, null] as never[];
    for (const each of options) {
      await expect(falcon.signStream(stream(), secretKey, each)).rejects.toThrow(TypeError);
      const verdict = falcon.verifyStream(signature, stream(), publicKey, each);
      await expect(verdict).rejects.toThrow(TypeError);
    }
    await expect(falcon.signStream(stream(), secretKey, options[0])).rejects.toThrow('derived');
    const other = createFalcon(degree === 512 ? 'falcon1024' : 'falcon512');
    const foreign = other.expandSecretKey(other.keygen().secretKey);
    await expect(falcon.signStream(stream(), foreign)).rejects.toThrow(TypeError);
    expect(touched).toBe(0);
  });

  test('what the caller changes meanwhile makes no difference; a destroyed key ends it', async () => {
    const key = secretKey.slice();
    const pub = publicKey.slice();
    const sig = signature.slice();
    const stream = async function* (change: () => void) {
      yield message.subarray(0, 1000);
      change();
      yield message.subarray(1000);
    };
    const made = await falcon.signStream(
      stream(() => key.fill(0)),
      key,
    );
    expect(falcon.verify(made, message, publicKey)).toBe(true);
    const change = () => [pub, sig].map((bytes) => bytes.fill(0));
    expect(await falcon.verifyStream(sig, stream(change), pub)).toBe(true);
    const expanded = falcon.expandSecretKey(secretKey);
    const destroying = stream(() => expanded.destroy());
    await expect(falcon.signStream(destroying, expanded)).rejects.toThrow('destroyed');
  });
});
