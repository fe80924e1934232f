/** Thread priorities: requests take precedence over long computations. */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** Increments of the niceness; with 10, a thread gets a tenth of a contended core. */
const NICER = { read: 5, task: 10, engine: 10 } as const;
const LEAST = 19;

/** On Linux a priority belongs to a thread; elsewhere it would be that of the whole process. */
const isPerThread = process.platform === 'linux';
const own = isPerThread ? getPriority() : 0;

/** Lowers the priority of the calling thread, and of those that it will start (Linux only). */
export function standBack(work: 'read' | 'task'): void {
  lower(work, 0);
}

/** The threads of this process, on Linux. */
const THREADS = '/proc/self/task';

/**
 * Lowers the priority of the threads with which V8 collects garbage and compiles (Linux, Node 24).
 * For a process that only serves.
 */
export function engineStandsBack(): void {
  if (!isPerThread) return;
  try {
    for (const id of readdirSync(THREADS)) {
      const name = readFileSync(`${THREADS}/${id}/comm`, 'utf8').trim();
      if (name === 'V8Worker') lower('engine', Number(id));
    }
  } catch {
    // The host hides them.
  }
}

/** @param thread its number; 0 is the calling thread */
function lower(work: keyof typeof NICER, thread: number): void {
  if (!isPerThread) return;
  try {
    setPriority(thread, Math.min(LEAST, own + NICER[work]));
  } catch {
    // The host forbids it.
  }
}
