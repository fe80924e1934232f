/**
 * What the tests of `submit` and `tasks` share: a task file that is really signed, and the command.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { main } from '../../src/cli/main.ts';
import { formatTaskFile } from '../../src/wire/triple.ts';
import { signedItems } from '../client/items.ts';

/** Writes a task file and gives its path. */
export function writeTask(folder: string, name: string, items = signedItems(6)): string {
  const path = join(folder, name);
  writeFileSync(path, formatTaskFile(items));
  return path;
}

/** The environment that a user would have set. */
export const environment = (url: string, key: string) => ({
  FALCONRY_URL: url,
  FALCONRY_API_KEY: key,
});

/**
 * `falconry <args>` to its end, in this process: what is killed is started by `start` of
 * process.ts.
 */
export async function falconry(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  const text = new TextDecoder();
  const read = (part: string | Uint8Array) => (typeof part === 'string' ? part : text.decode(part));
  const code = await main(args, {
    stdin: (async function* () {})(),
    stdout: { write: (part) => (stdout += read(part)) },
    stderr: { write: (part) => (stderr += read(part)) },
    env,
  });
  return { code, stdout, stderr };
}
