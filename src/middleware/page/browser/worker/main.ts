/**
 * One script for two kinds of workers, so that browsers fetch it once: the page's own worker, and
 * the threads with which it verifies proofs. The worker's name decides which.
 */
import { WORKER_NAME } from './protocol.ts';

if (self.name === WORKER_NAME) await import('./calls.ts');
else await import('../../../../aggregate/aggregateWorker.ts');
