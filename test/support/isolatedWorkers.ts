/** The processes in which a service isolates tasks, as the system lists them (Linux). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Whether this system lists its processes in files. */
export const listsProcesses = existsSync('/proc/self/stat');

/** The parent of a process that works on an isolated task; null if it is none, or has ended. */
function parentOf(pid: number): number | null {
  try {
    // After the name, which may hold anything: state, parent, ...
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isOne = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('taskProcess');
    return isOne && state !== 'Z' ? Number(parent) : null;
  } catch {
    return null;
  }
}

/** @returns the ids of the processes that `parent` has started for isolated tasks */
export function isolatedWorkers(parent: number = process.pid): number[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(Number).filter((pid) => parentOf(pid) === parent);
}

/** @returns those that have not ended */
export function alive(workers: readonly number[]): number[] {
  return workers.filter((pid) => parentOf(pid) !== null);
}

/** @returns whether the process was still there: between a list and the signal it may end */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Kills a worker of the process as soon as there is one.
 *
 * @param until gives up when this is aborted
 * @returns its id, or null
 */
export async function killWorker(parent: number, until: AbortSignal): Promise<number | null> {
  while (!until.aborted) {
    const [pid] = isolatedWorkers(parent);
    if (pid !== undefined && kill(pid)) return pid;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return null;
}
