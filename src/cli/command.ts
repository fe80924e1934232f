/** What every sub-command of `falconry` is, and the streams it may use. */
import type { ParseArgsOptionsConfig } from 'node:util';

/** Where a command writes to. */
export interface Output {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean;
  /** Width of the terminal. */
  readonly columns?: number;
}

/** The streams of a command; tests hand in their own. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** One sub-command; `run` answers the exit code (exitCodes.ts). */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole text of `--help`, with examples. */
  readonly help: string;
  /** Every option that it takes, for "did you mean" and for shells that complete. */
  readonly options: ParseArgsOptionsConfig;
  run(args: readonly string[], io: Io): Promise<number>;
}

/** A mistake in the arguments or the configuration: shown with a hint to `--help`, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A file, stream, port or store that could not be opened, read or written: exit code 3. */
export class IoFailure extends Error {
  override readonly name = 'IoFailure';
}

/** The service said no, or did not answer: exit code 4. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';
  /** The problem's own code, or `UNREACHABLE`. */
  readonly code: string;
  /** More for `--json`: status, problem document. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    details: { readonly facts?: Readonly<Record<string, unknown>>; readonly cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.facts = details.facts ?? {};
  }
}
