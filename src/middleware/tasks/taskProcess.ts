/**
 * Module of the process that works on a task in isolation. It does the same as `taskWorker.ts` does
 * in a thread.
 */
import { writeFileSync } from 'node:fs';
import { serveThread } from '../../shared/threads/serve.ts';
import { parentLine } from './childProcess.ts';
import { standBack } from './priority.ts';
import { TASK_WORKER, type Work } from './taskWork.ts';

// The system's out-of-memory killer should choose this process, not the server (Linux).
try {
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Other systems have no such setting.
}

standBack('task');
const line = parentLine();
serveThread(
  TASK_WORKER,
  async (work, context) => {
    const { performTask } = await import('./performTask.ts');
    return performTask(work as Work, context);
  },
  () => 0,
  line,
);
