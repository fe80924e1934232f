/** What every sub-command of `falconry` is, and the streams it may use. */

/** The streams of a command; tests hand in their own. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: { write(text: string | Uint8Array): unknown; readonly isTTY?: boolean };
  readonly stderr: { write(text: string | Uint8Array): unknown; readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** One sub-command; `run` answers the exit code: 0 done, 1 refused or invalid, 2 wrong usage. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole text of `--help`, with examples. */
  readonly help: string;
  run(args: readonly string[], io: Io): Promise<number>;
}

/** A mistake in the arguments: shown with a hint to `--help`, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
