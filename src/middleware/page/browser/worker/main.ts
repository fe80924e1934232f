/**
 * One script for the page's worker and for the threads that verify proofs, so that browsers fetch
 * it once. The worker's name selects the role.
 */
import { WORKER_NAME } from './protocol.ts';

if (self.name === WORKER_NAME) await import('./calls.ts');
else await import('../../../../aggregate/aggregateWorker.ts');
