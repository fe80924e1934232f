/**
 * Names of processes that hold rows. A later process with the same number has another name.
 *
 *   linux <boot> <namespace of numbers> <number> <start, in ticks since boot>
 *   <platform> <number>
 *
 * A process that cannot be distinguished from a later one, or is in another container, counts as
 * alive: the row is held until its time is over.
 */
import { readFileSync, readlinkSync } from 'node:fs';

interface LinuxProcess {
  readonly ended: boolean;
  readonly start: string;
}

/** Returns the state and start of a process on Linux, or null if there is none. */
function linuxProcess(pid: string): LinuxProcess | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code!)) return null;
    throw error;
  }
  // The second field is the command in parentheses, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { ended: /^[ZX]/.test(fields[0]!), start: fields[19]! };
}

/** Returns boot and namespace of this process on Linux. */
function linuxPlace(): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
}

function nameOfProcess(): string {
  const plain = `${process.platform} ${process.pid}`;
  if (process.platform !== 'linux') return plain;
  try {
    return `linux ${linuxPlace()} ${process.pid} ${linuxProcess(String(process.pid))!.start}`;
  } catch {
    // Without /proc.
    return plain;
  }
}

let own: string | undefined;

/** Returns the name of this process. */
export function ownHolder(): string {
  own ??= nameOfProcess();
  return own;
}

/** Returns whether the process of this name has certainly ended. */
export function hasEnded(holder: string): boolean {
  if (holder === ownHolder()) return false;
  const [platform, ...parts] = holder.split(' ');
  try {
    if (platform === 'linux' && parts.length === 4) {
      const [boot, namespace, pid, start] = parts as [string, string, string, string];
      const [ownBoot, ownNamespace] = linuxPlace().split(' ');
      if (boot !== ownBoot) return true;
      if (namespace !== ownNamespace) return false;
      const found = linuxProcess(pid);
      return found === null || found.ended || found.start !== start;
    }
    if (platform !== process.platform || parts.length !== 1) return false;
    process.kill(Number(parts[0]), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
