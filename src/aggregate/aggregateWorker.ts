/**
 * Worker module of the aggregate threads. Each thread holds a share of every proof it takes part
 * in, and reuses its memory for the next proof.
 */
import { falcon512 } from '../falcon/index.ts';
import { serveThread } from '../shared/threads/serve.ts';
import { invalidItems } from './batch.ts';
import { ColumnProver, foldOnIdle, holdInstances, holdKeys, runStep } from './proof/index.ts';
import { AGGREGATE_WORKER, unpackWork, type Work } from './work.ts';

const shares = new Map<number, ColumnProver>();

// If WebAssembly is forbidden, the thread fails here, before its hello, and is not used.
falcon512.verifyBatch([]);
// Released when the thread ends with its pool.
holdInstances();

serveThread(AGGREGATE_WORKER, (work) => perform(unpackWork(work)), memoryBytes);

/** Bytes of keys that this thread may keep: the same for all work of its pool. */
let keyBytes = 0;

function perform(work: Work): unknown {
  if ('keyBytes' in work && work.keyBytes !== keyBytes) {
    keyBytes = work.keyBytes;
    holdKeys(keyBytes);
  }
  switch (work.kind) {
    case 'check':
      return invalidItems(work.items, work.profile);
    case 'fold': {
      const parts = foldOnIdle(work.job);
      for (;;) {
        const { done, value } = parts.next();
        if (done) return value;
      }
    }
    case 'release':
      shares.get(work.proof)?.close();
      shares.delete(work.proof);
      return undefined;
    case 'step': {
      let share = shares.get(work.proof);
      if (share === undefined) {
        share = new ColumnProver();
        shares.set(work.proof, share);
      }
      return runStep(share, work.step, work.input as never);
    }
  }
}

function memoryBytes(): number {
  let sum = 0;
  for (const share of shares.values()) sum += share.memoryBytes;
  return sum;
}
