/** The processes in which a service isolates tasks, as the system lists them (Linux). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Whether this system lists its processes in files. */
export const listsProcesses = existsSync('/proc/self/stat');

/** @returns the ids of the processes that `parent` has started for isolated tasks */
export function isolatedWorkers(parent: number = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // After the name, which may hold anything: state, parent, ...
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const isAlive = state !== 'Z' && Number(ppid) === parent;
        return isAlive && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('taskProcess');
      } catch {
        return false; // it has ended meanwhile
      }
    });
}

/** Kills the worker as soon as there is one. @returns its id */
export async function killWorker(parent?: number, signal: NodeJS.Signals = 'SIGKILL') {
  for (;;) {
    const [pid] = isolatedWorkers(parent);
    if (pid !== undefined) {
      process.kill(pid, signal);
      return pid;
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
