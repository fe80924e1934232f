/** A program that runs beside a test, once it has said that it is ready. */
import { spawn } from 'node:child_process';

const PATIENCE_MS = 120_000;

export interface StartedProgram {
  readonly pid: number;
  /** What it said when it was ready. */
  readonly found: RegExpExecArray;
  /** Everything that it has printed so far. */
  output(): string;
  /** Sends the signal; @returns its exit code */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

interface Options {
  readonly ready: RegExp;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** @throws Error with its output if it ends before, or is not ready in time */
export async function startProgram(
  program: string,
  args: readonly string[],
  { ready, ...options }: Options,
): Promise<StartedProgram> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const ended = new Promise<number | null>((resolve) => {
    child.on('error', (error) => {
      output += String(error);
      resolve(null);
    });
    child.on('close', resolve);
  });
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  const found = new Promise<RegExpExecArray>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready:\n${output}`)), PATIENCE_MS);
    const read = (text: string) => {
      output += text;
      const match = ready.exec(output);
      if (match) resolve(match);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', read);
    void ended.then(() => reject(new Error(`ended:\n${output}`)));
    void ended.finally(() => clearTimeout(timer));
  });
  const stopped = async (error: unknown) => {
    await end('SIGTERM');
    throw error;
  };
  return { pid: child.pid!, found: await found.catch(stopped), output: () => output, end };
}
