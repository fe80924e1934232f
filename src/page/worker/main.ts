/**
 * One script for two kinds of workers, so that browsers fetch it once: the page's own worker, and the threads that it
 * verifies proofs with. The name says which.
 */
import { WORKER_NAME } from './protocol.ts';

if (self.name === WORKER_NAME) await import('./calls.ts');
else await import('../../aggregate/threads/worker.ts');
