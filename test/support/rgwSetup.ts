/**
 * Makes the folder of the S3 server of a test run, which the first test that needs it starts
 * (`rgw.ts`), and ends the server after the run.
 */
import type { TestProject } from 'vitest/node';
import { endRgw, newRgwFolder } from './rgwFolder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the S3 server, whether it is started or not. */
    rgwFolder: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = newRgwFolder();
  project.provide('rgwFolder', folder);
  return () => endRgw(folder);
}
