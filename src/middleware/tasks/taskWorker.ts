/**
 * Module of the service's worker thread. It says hello at once and loads the library with the first
 * work, so that a service starts quickly.
 */
import { serveThread } from '../../threads/serve.ts';
import { TASK_WORKER, type Work } from './taskWork.ts';

serveThread(TASK_WORKER, async (work, context) => {
  const { performTask } = await import('./performTask.ts');
  return performTask(work as Work, context);
});
