/** Signed triples for the benchmarks of the service. */
import { falcon512 } from '../../src/falcon/index.ts';
import { type Triple, toTriple } from '../../src/wire/triple.ts';
import { testRandom } from '../../test/support/random.ts';

/** `count` triples of different messages of so many bytes, under 16 keys. */
export function makeTriples(count: number, messageBytes: number): Triple[] {
  const random = testRandom(`service ${messageBytes}`);
  const keys = Array.from({ length: Math.min(16, count) }, () => {
    const { publicKey, secretKey } = falcon512.keygen(random.bytes(48));
    return { publicKey, secret: falcon512.expandSecretKey(secretKey) };
  });
  try {
    return Array.from({ length: count }, (_, i) => {
      const { publicKey, secret } = keys[i % keys.length]!;
      const message = random.bytes(messageBytes);
      return toTriple({ publicKey, message, signature: falcon512.sign(message, secret) });
    });
  } finally {
    for (const { secret } of keys) secret.destroy();
  }
}
