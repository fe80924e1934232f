/** Long computations stand back behind requests: the priority of the threads that make them. */
import { getPriority, setPriority } from 'node:os';

/** What is added to the niceness; with 10 more, a thread gets a tenth of a contended core. */
const NICER = { read: 5, task: 10 } as const;
const LEAST = 19;

/** On Linux a priority belongs to a thread; elsewhere it would be that of the whole process. */
const isPerThread = process.platform === 'linux';
const own = isPerThread ? getPriority() : 0;

/** Lowers the priority of the calling thread, and of those that it will start (Linux only). */
export function standBack(work: keyof typeof NICER): void {
  if (!isPerThread) return;
  try {
    setPriority(Math.min(LEAST, own + NICER[work]));
  } catch {
    // A host that forbids it: everything takes its turn.
  }
}
