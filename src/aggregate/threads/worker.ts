/** Module of a crew's threads: each holds a share of every proof it takes part in, and keeps nothing else. */
import { serveThread } from '../../falcon/hostThreads.ts';
import { invalidItems } from '../batch.ts';
import { foldOnIdle, runStep, Share } from '../proof/index.ts';
import {
  type Answer,
  buffersOf,
  faultOf,
  type Request,
  unpackWork,
  type Work,
} from './messages.ts';

const shares = new Map<number, Share>();

const post = serveThread((message, reply) => {
  const { id, work } = message as Request;
  let answer: Answer;
  try {
    const value = perform(unpackWork(work));
    answer = { id, value, memoryBytes: memoryBytes() };
  } catch (error) {
    answer = { id, fault: faultOf(error) };
  }
  reply(answer, 'value' in answer ? buffersOf(answer.value) : []);
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
      shares.delete(work.proof);
      return undefined;
    case 'step': {
      let share = shares.get(work.proof);
      if (share === undefined) {
        share = new Share();
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
