/** Module of a verify pool's threads: unpack, verify, answer; the buffer goes back for the next run of items. */
import { serveThread } from './hostThreads.ts';
import { falcon512, falcon1024 } from './index.ts';
import { unpackItems, type VerifyAnswer, type VerifyRequest } from './verifyPack.ts';

serveThread((message, reply) => {
  const { id, parameterSet, buffer } = message as VerifyRequest;
  const falcon = parameterSet === 'falcon1024' ? falcon1024 : falcon512;
  let answer: VerifyAnswer;
  try {
    answer = { id, buffer, invalid: falcon.verifyBatch(unpackItems(buffer)) };
  } catch (error) {
    answer = { id, buffer, invalid: [], error: String(error) };
  }
  reply(answer, [buffer]);
});
