/** The module of a verify pool's threads: unpacks and verifies items, and returns the result. */
import { unpackItems } from '../shared/threads/packItems.ts';
import { serveThread } from '../shared/threads/serve.ts';
import { paramsOf } from './params.ts';
import { VERIFY_WORKER, type VerifyAnswer, type VerifyWork, verifyItems } from './verifyItems.ts';

// Throws if WebAssembly is forbidden: the thread then ends before its hello and is not used.
verifyItems(paramsOf('falcon512'), []);

serveThread(VERIFY_WORKER, (work): VerifyAnswer => {
  const { parameterSet, buffer, format } = work as VerifyWork;
  return { invalid: verifyItems(paramsOf(parameterSet), unpackItems(buffer), format), buffer };
});
