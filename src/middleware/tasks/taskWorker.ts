/**
 * Module of the service's worker thread. It says hello at once and loads the library with the first
 * work, so that a service starts quickly.
 */
import { serveThread } from '../../shared/threads/serve.ts';
import { standBack } from './priority.ts';
import type { ReadWork } from './readBatch.ts';
import { TASK_WORKER, type Work } from './taskWork.ts';

serveThread(TASK_WORKER, async (given, context) => {
  const work = given as Work | ReadWork;
  standBack(work.kind === 'read' ? 'read' : 'task');
  if (work.kind === 'read') {
    const { performRead } = await import('./readBatch.ts');
    return performRead(work);
  }
  const { performTask } = await import('./performTask.ts');
  return performTask(work, context);
});
