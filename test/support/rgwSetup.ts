/**
 * Makes the folder of the S3 server of a test run, which the first test that needs it starts
 * (`rgw.ts`), and ends the server after the run.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the S3 server, whether it is started or not. */
    rgwFolder: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-rgw-'));
  writeFileSync(join(folder, 'owner'), String(process.pid));
  project.provide('rgwFolder', folder);
  return () => {
    const pids = join(folder, 'pids');
    const started = existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n') : [];
    for (const pid of started) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
}
