/** The memory of programs that a test has started, as the system counts it (Linux). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Whether this system counts memory so. */
export const countsMemory = existsSync('/proc/self/smaps_rollup');

const MB = 1e6;
const LOOK_EVERY_MS = 50;

/** Returns the file of a process; an empty text if the process has ended. */
function ofProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** The processes below this one, at any depth. */
function descendants(): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // After the name, which may hold anything: state, parent, ...
    const stat = ofProcess(Number(name), 'stat');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(process.pid);
}

/**
 * Returns the memory of the processes below this one with this command, in MB. What several share
 * is divided among them. Files are left out: how many others map a program changes at any time.
 */
function memoryMb(command: RegExp): number {
  const kilobytes = descendants()
    .filter((pid) => command.test(ofProcess(pid, 'cmdline')))
    .flatMap((pid) => [...ofProcess(pid, 'smaps_rollup').matchAll(/^Pss_(?:Anon|Shmem): +(\d+)/gm)])
    .reduce((sum, [, text]) => sum + Number(text), 0);
  return (kilobytes * 1024) / MB;
}

/**
 * Watches the memory of the processes below this one with this command.
 *
 * @returns a function that ends this, and returns how far it was above that at the start, in MB
 */
export function watchMemory(command: RegExp): () => number {
  const startMb = memoryMb(command);
  let mostMb = startMb;
  const look = () => {
    mostMb = Math.max(mostMb, memoryMb(command));
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return () => {
    clearInterval(timer);
    look();
    return mostMb - startMb;
  };
}
