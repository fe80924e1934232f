/** Runs the command line: as a user does, in a process of its own, or quicker, in this one. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { main } from '../../src/cli/main.ts';

/** The script of the command. */
export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly out: string;
  readonly err: string;
}

/** The environment of a user's shell: without the test runner's own settings and any of ours. */
export function cleanEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter(
    (name) => !/^(VITEST|NODE_ENV|NODE_OPTIONS|FALCONRY_|NO_COLOR$|FORCE_COLOR$|PORT$)/.test(name),
  );
  return { ...Object.fromEntries(names.map((name) => [name, process.env[name]])), ...more };
}

/** `falconry <args>` in `folder`, with this on its standard input. */
export function falconry(
  folder: string,
  args: readonly string[],
  input?: string | Uint8Array,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: folder,
      env: cleanEnvironment(env),
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => out.push(part));
    child.stderr.on('data', (part: Buffer) => err.push(part));
    child.on('error', reject);
    child.on('close', (code) => {
      const stdout = Buffer.concat(out);
      resolve({ code, stdout, out: stdout.toString(), err: Buffer.concat(err).toString() });
    });
    child.stdin.on('error', () => undefined); // the command may end before it reads
    child.stdin.end(input ?? '');
  });
}

/** The same without a process; paths are taken from this process's own folder. */
export async function falconryHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const code = await main(args, {
    stdin: (async function* () {})(),
    stdout: { write: (part) => out.push(Buffer.from(part)) },
    stderr: { write: (part) => err.push(Buffer.from(part)) },
    env,
  });
  const stdout = Buffer.concat(out);
  return { code, stdout, out: stdout.toString(), err: Buffer.concat(err).toString() };
}

/** A folder for the tests of a file, or of a suite: it is removed after them. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'falconry-cli-'));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return { path };
}
