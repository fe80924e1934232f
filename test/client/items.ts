/** Batches that are really signed. */
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';

/** Items of both sets, from fixed seeds. */
export function signedItems(count: number) {
  const keys = [falcon512, falcon512, falcon1024].map((falcon, i) => ({
    falcon,
    pair: falcon.keygen(new Uint8Array(48).fill(i + 1)),
  }));
  return Array.from({ length: count }, (_, i) => {
    const { falcon, pair } = keys[i % keys.length]!;
    const message = new TextEncoder().encode(`message ${i}`);
    return { publicKey: pair.publicKey, message, signature: falcon.sign(message, pair.secretKey) };
  });
}
