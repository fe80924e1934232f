/**
 * Thousands of signatures on several threads, batch after batch, while the event loop stays free
 * for other work.
 */
import { availableParallelism } from 'node:os';
import { CodedError, createAggregatePool, createVerifyPool, falcon512 } from 'falconry';

const SIGNATURES = 500;
const THREADS = Math.min(4, Math.max(2, availableParallelism()));

const { publicKey, secretKey } = falcon512.keygen();
const signer = falcon512.expandSecretKey(secretKey); // signs faster
const items = Array.from({ length: SIGNATURES }, (_, i) => {
  const message = new TextEncoder().encode(`message ${i}`);
  return { publicKey, message, signature: falcon512.sign(message, signer) };
});
signer.destroy(); // wipes the key

let turns = 0;
const counter = setInterval(() => turns++, 1);

// Verification: each batch reports its invalid items.
const verifyPool = createVerifyPool({ threads: THREADS });
const stream = Array.from({ length: 20 * SIGNATURES }, (_, i) => items[i % SIGNATURES]!);
stream[4321] = { ...stream[4321]!, message: new TextEncoder().encode('another message') };
const invalid = await verifyPool.verifyBatch(stream, {
  onStats: ({ threads }) => console.log(`verified on ${threads} threads`),
});
console.log(`${stream.length} signatures, invalid: ${JSON.stringify(invalid)}`);

// A batch that is aborted.
const controller = new AbortController();
await verifyPool
  .verifyBatch(stream, { signal: controller.signal, onProgress: () => controller.abort() })
  .catch((error: unknown) => {
    if (!(error instanceof CodedError)) throw error;
    console.log(`ended early: ${error.code}`);
  });
await verifyPool.close();

// Proofs: the pool keeps its threads and memory between batches.
const aggregatePool = createAggregatePool({ threads: 2, keyCacheBytes: 64 * 1024 * 1024 });
for (const batch of [items.slice(0, 200), items.slice(200)]) {
  const proof = await aggregatePool.aggregate(batch, { format: 'proof' });
  const valid = await aggregatePool.verifyAggregate(proof, batch);
  console.log(`${batch.length} signatures in ${proof.length} bytes: ${valid ? 'valid' : 'wrong'}`);
}
await aggregatePool.close();

clearInterval(counter);
console.log(`the event loop went on meanwhile: ${turns > 0}`);
