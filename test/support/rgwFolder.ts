/** The folder of an S3 server (`rgw.ts`), made before it is started, and ended with it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @returns a folder whose server ends with this process, if not before */
export function newRgwFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-rgw-'));
  writeFileSync(join(folder, 'owner'), String(process.pid));
  return folder;
}

/** Ends the server, if it was started, and removes the folder. */
export function endRgw(folder: string): void {
  endProcesses(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** Ends what was started, whole or in part. */
export function endProcesses(folder: string): void {
  const pids = join(folder, 'pids');
  const started = existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n') : [];
  for (const pid of started) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
  rmSync(pids, { force: true });
}
