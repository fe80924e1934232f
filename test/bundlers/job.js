/** What every bundle is to do. It tells how many threads it found; where something throws, it tells that instead. */
import { aggregate, createVerifyPool, falcon512, verifyAggregateAsync } from 'falconry';

/** So many that their proof is worth two threads. */
const SIGNATURES = 200;
/** So many that two threads have work. */
const REPEATED = 3000;

const text = (error) => `${error?.name}: ${error?.message ?? error}`;

async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    return { error: text(error) };
  }
}

/** @param workers urls of the two worker entries, for bundlers that do not find them by themselves */
export async function job({ verifyWorker, aggregateWorker } = {}) {
  const { publicKey, secretKey } = falcon512.keygen();
  const items = Array.from({ length: SIGNATURES }, (_, i) => {
    const message = Uint8Array.of(i, 1, 2);
    return { publicKey, message, signature: falcon512.sign(message, secretKey) };
  });
  const many = Array.from({ length: REPEATED }, (_, i) => items[i % SIGNATURES]);
  many[1234] = { ...many[1234], message: Uint8Array.of(99) };
  return {
    falcon512: items.every((item, i) => {
      const other = items[(i + 1) % SIGNATURES];
      const verify = ({ signature, message }) =>
        falcon512.verify(signature, message, publicKey) === true;
      return verify(item) && !verify({ ...item, message: other.message });
    }),
    verifyPool: await attempt(() => overPool(many, verifyWorker)),
    aggregate: await attempt(() => asAggregate(items, aggregateWorker)),
  };
}

async function overPool(many, workerUrl) {
  let threads;
  const onStats = (stats) => {
    ({ threads } = stats);
  };
  const pool = createVerifyPool({ threads: 2, onStats, ...(workerUrl && { workerUrl }) });
  const invalid = await pool.verifyBatch(many);
  await pool.close();
  return { threads, correct: invalid.length === 1 && invalid[0].index === 1234 };
}

async function asAggregate(items, workerUrl) {
  let threads;
  const options = { threads: 2, ...(workerUrl && { workerUrl }) };
  const proof = await aggregate(items, {
    ...options,
    format: 'proof',
    onStats: (stats) => {
      ({ threads } = stats);
    },
  });
  const correct = await verifyAggregateAsync(proof, items, options);
  const wrong = await verifyAggregateAsync(proof, items.toReversed(), options);
  return { threads, correct: correct && !wrong };
}
