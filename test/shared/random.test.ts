/** Generators that are stubbed, or fill only a part of what they are given. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { falcon512 } from '../../src/falcon/index.ts';
import { exportEncryptedSecretKey } from '../../src/falcon/keys/index.ts';
import { fnDsaDraft512 } from '../../src/falcon/profiles/fnDsaDraft.ts';
import { createApiKey } from '../../src/middleware/identity/apiKeys.ts';
import { newSecret } from '../../src/middleware/stores/port/parts.ts';
import { randomBytes } from '../../src/shared/random.ts';
import { testKeys } from '../support/ours.ts';

afterEach(() => vi.restoreAllMocks());

const stub = (fill: (array: Uint8Array) => void) =>
  vi.spyOn(globalThis.crypto, 'getRandomValues').mockImplementation((array) => {
    fill(array as Uint8Array);
    return array;
  });

const NO_RANDOMNESS = expect.objectContaining({ code: 'NO_RANDOMNESS' });

describe('a block of 16 zeros', () => {
  test.each([
    { length: 48, from: 0, to: 16 },
    { length: 48, from: 16, to: 32 },
    { length: 48, from: 32, to: 48 },
    { length: 40, from: 24, to: 40 },
    { length: 16, from: 0, to: 16 },
    { length: 8, from: 0, to: 8 },
  ])('is refused: bytes $from to $to of $length', ({ length, from, to }) => {
    stub((array) => array.fill(1).fill(0, from, to));
    expect(() => randomBytes(length)).toThrow(NO_RANDOMNESS);
  });

  test('cannot be hidden by taking the array away', () => {
    stub((array) => void structuredClone(array.buffer, { transfer: [array.buffer] }));
    expect(() => randomBytes(48)).toThrow(NO_RANDOMNESS);
  });

  test('one byte less is accepted, and so is no byte at all', () => {
    stub((array) => array.fill(0).fill(1, 15, 16).fill(1, 31, 32).fill(1, 47));
    expect(randomBytes(48)).toHaveLength(48);
    expect(randomBytes(0)).toHaveLength(0);
  });
});

const { secretKey } = testKeys(512);
const message = Uint8Array.of(1);
const draft = fnDsaDraft512.keygen(new Uint8Array(32).fill(7));
const expanded = falcon512.expandSecretKey(secretKey);
async function* stream() {
  yield message;
}

/** What is drawn, and the length of each array; no longer than a block: no part can be missing. */
const SECRETS: readonly [string, number, () => unknown][] = [
  ['keygen', 48, () => falcon512.keygen()],
  ['sign', 48, () => falcon512.sign(message, secretKey)],
  ['sign, expanded', 48, () => falcon512.sign(message, expanded)],
  ['attached', 48, () => falcon512.attached.seal(message, secretKey)],
  ['signStream', 48, () => falcon512.signStream(stream(), secretKey)],
  ['keygen of the draft', 32, () => fnDsaDraft512.keygen()],
  ['sign of the draft', 40, () => fnDsaDraft512.sign(message, draft.secretKey)],
  ['encrypted export', 16, () => exportEncryptedSecretKey(secretKey, 'passphrase')],
  ['secret of URLs', 32, () => newSecret()],
  ['API key', 32, () => createApiKey({ putApiKey: async () => null } as never, { name: 'a' })],
];

test.each(SECRETS)('no secret is made by such a generator: %s', async (_, length, make) => {
  const attempt = async () => make();
  for (const filled of length === 16 ? [0] : [0, 16]) {
    const drawn = stub((array) => array.fill(0).fill(9, 0, filled));
    await expect(attempt()).rejects.toThrow(NO_RANDOMNESS);
    expect(drawn.mock.calls[0]![0]!.byteLength).toBe(length);
    vi.restoreAllMocks();
  }
});
