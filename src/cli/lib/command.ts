/** The type of sub-commands of `falconry`, their streams, and their errors. */
import type { ParseArgsOptionsConfig } from 'node:util';

/** An output of a command. */
export interface Output {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean;
  /** Width of the terminal. */
  readonly columns?: number;
}

/** The streams of a command; tests pass their own. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A sub-command; `run` returns the exit code (exitCodes.ts). */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole text of `--help`, with examples. */
  readonly help: string;
  /** All its options, for suggestions and for completion in shells. */
  readonly options: ParseArgsOptionsConfig;
  /** The words of which one may be its first argument; empty if that is something else. */
  readonly verbs: readonly string[];
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

/** The service refused, or did not answer: exit code 4. */
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
