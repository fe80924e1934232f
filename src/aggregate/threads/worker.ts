/** Module of a crew's threads: each holds a share of every proof it takes part in, and keeps its memory for the next one. */
import { serveThread } from '../../falcon/hostThreads.ts';
import { invalidItems } from '../batch.ts';
import { ColumnProver, foldOnIdle, holdInstances, runStep } from '../proof/index.ts';
import { type Answer, faultOf, flatten, type Request, unpackWork, type Work } from './messages.ts';

const shares = new Map<number, ColumnProver>();

// The thread ends with its crew, and so does what it holds.
holdInstances();

const post = serveThread((message, reply) => {
  const { id, work } = message as Request;
  let answer: Answer;
  const buffers: ArrayBuffer[] = [];
  try {
    const value = flatten(perform(unpackWork(work)), buffers);
    answer = { id, value, memoryBytes: memoryBytes() };
  } catch (error) {
    answer = { id, fault: faultOf(error) };
  }
  reply(answer, buffers);
});
post({ hello: true } satisfies Answer);

function perform(work: Work): unknown {
  switch (work.kind) {
    case 'check':
      return invalidItems(work.items);
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
