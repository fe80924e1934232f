/** What the commands that work on files share: arguments, files and standard streams, reports, exit codes. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type InvalidItem, isCodedError } from '../errors.ts';
import { type Command, type Io, UsageError } from './command.ts';

/** Exit codes; `falconry <command> --help` lists them. */
export const EXIT = Object.freeze({ ok: 0, invalid: 1, usage: 2, io: 3 });

export const EXIT_HELP = `Exit codes
  0  done, or valid
  1  not valid: a signature, an aggregate, or what a file holds
  2  wrong arguments
  3  a file could not be read or written, or standard input ended early
`;

/** More than any file of a sensible batch, less than the longest string of the engine. */
export const MAX_INPUT_BYTES = 256 * 1024 * 1024;

/** A file or stream that could not be read or written: exit code 3. */
export class IoFailure extends Error {
  override readonly name = 'IoFailure';
}

/** What a command is called with, after its arguments were read. */
export interface Invocation {
  readonly io: Io;
  readonly positionals: readonly string[];
  /** Value of an option that takes one. */
  option(name: string): string | undefined;
  flag(name: string): boolean;
  /**
   * Says how it went, as text or, with `--json`, as one line of JSON; on standard error when the
   * command's own output goes to standard output.
   */
  report(facts: Readonly<Record<string, unknown>>, text: string): void;
}

export interface FileCommand extends Omit<Command, 'run'> {
  /** Beside `--help` and `--json`, which every command has. */
  readonly options: ParseArgsOptionsConfig;
  /** Whether the command's own output goes to standard output. */
  writesToStdout(invocation: Pick<Invocation, 'option' | 'flag'>): boolean;
  execute(invocation: Invocation): Promise<number>;
}

/** A command from its parts: reads the arguments, answers `--help`, turns failures into reports. */
export function fileCommand(parts: FileCommand): Command {
  const { name, summary, help } = parts;
  return { name, summary, help, run: (args, io) => run(parts, args, io) };
}

async function run(parts: FileCommand, args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArguments(parts.options, args);
  if (values.help) {
    io.stdout.write(parts.help);
    return EXIT.ok;
  }
  const option = (key: string) => values[key] as string | undefined;
  const flag = (key: string) => values[key] === true;
  const json = flag('json');
  const aside = parts.writesToStdout({ option, flag }) ? io.stderr : io.stdout;
  const report: Invocation['report'] = (facts, text) => {
    aside.write(json ? `${JSON.stringify(facts)}\n` : text);
  };
  try {
    return await parts.execute({ io, positionals, option, flag, report });
  } catch (error) {
    if (!(error instanceof IoFailure) && !(isCodedError(error) && error.status < 500)) throw error;
    const code = isCodedError(error) ? error.code : 'IO';
    const { message } = error;
    const invalid = isCodedError(error) ? error.invalid : undefined;
    if (json) aside.write(`${JSON.stringify({ ok: false, code, message, invalid })}\n`);
    else io.stderr.write(`falconry ${parts.name}: ${message}\n${describeInvalid(invalid)}`);
    return error instanceof IoFailure ? EXIT.io : EXIT.invalid;
  }
}

interface Arguments {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
}

function readArguments(options: ParseArgsOptionsConfig, args: readonly string[]): Arguments {
  try {
    return parseArgs({
      args: [...args],
      options: {
        ...options,
        help: { type: 'boolean', short: 'h' },
        json: { type: 'boolean' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const REASONS: Readonly<Record<string, string>> = Object.freeze({
  publicKeyLength: 'the public key has a wrong length',
  publicKeyHeader: 'the public key does not begin as one of its parameter set',
  publicKeyRange: 'the public key has a coefficient out of range',
  signatureLength: 'the signature has a wrong length',
  signatureHeader: 'the signature does not begin as one of the parameter set of its key',
  signatureEncoding: 'the signature is not in its one canonical encoding',
  signatureMismatch: 'the signature is not of this message under this key',
});

/** One line for every item at fault. */
export function describeInvalid(invalid: readonly InvalidItem[] = []): string {
  return invalid
    .map(({ index, reason }) => {
      const words = REASONS[reason];
      return `  item ${index}: ${words === undefined ? reason : `${words} (${reason})`}\n`;
    })
    .join('');
}

/**
 * Bytes of a file, or of standard input for `-`.
 *
 * @throws IoFailure when it cannot be read or holds more than 256 MiB
 */
export async function readInput(path: string, io: Io): Promise<Uint8Array> {
  const tooLong = () => new IoFailure(`${path} holds more than ${MAX_INPUT_BYTES} bytes`);
  if (path !== '-') {
    try {
      const { size } = await stat(path);
      if (size > MAX_INPUT_BYTES) throw tooLong();
      return await readFile(path);
    } catch (error) {
      throw asIoFailure(`cannot read ${path}`, error);
    }
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of io.stdin) {
      length += part.length;
      if (length > MAX_INPUT_BYTES) throw tooLong();
      parts.push(part);
    }
  } catch (error) {
    throw asIoFailure('cannot read standard input', error);
  }
  return Buffer.concat(parts, length);
}

/**
 * Writes a file, or to standard output when there is no path or it is `-`.
 *
 * @param secret makes the file readable by its owner alone, and never replaces another
 * @throws IoFailure when it cannot be written
 */
export async function writeOutput(
  path: string | undefined,
  data: string | Uint8Array,
  io: Io,
  secret = false,
): Promise<void> {
  if (isStdout(path)) {
    io.stdout.write(data);
    return;
  }
  try {
    await writeFile(path, data, secret ? { mode: 0o600, flag: 'wx' } : {});
  } catch (error) {
    throw asIoFailure(`cannot write ${path}`, error);
  }
}

/** Whether an output option means standard output. */
export function isStdout(path: string | undefined): path is undefined | '-' {
  return path === undefined || path === '-';
}

/** Standard input can be read once. */
export function refuseTwiceStdin(paths: readonly (string | undefined)[]): void {
  if (paths.filter((path) => path === '-').length > 1) {
    throw new UsageError('standard input (-) can be given only once');
  }
}

const CAUSES: Readonly<Record<string, string>> = Object.freeze({
  ENOENT: 'no such file or folder',
  EACCES: 'no permission',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  ENOSPC: 'no space left',
});

function asIoFailure(what: string, error: unknown): IoFailure {
  if (error instanceof IoFailure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown cause';
  return new IoFailure(`${what}: ${CAUSES[code] ?? code}`, { cause: error });
}
