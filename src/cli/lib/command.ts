/** A sub-command of `falconry` as data: streams, options, exit codes, errors. */

export interface Output {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The streams of a command; tests pass their own. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** An option. Help texts, docs/cli.md, completion and the parser are made from it. */
export interface Option {
  readonly name: string;
  /**
   * The placeholder of its value, or the words of which it is one; absent for a flag. Completion
   * offers paths for `file` and `directory`.
   */
  readonly value?: string | readonly string[];
  readonly about: string;
  readonly short?: string;
  /** The value, if the option is absent. */
  readonly fallback?: string;
  /** The verbs that accept it; absent: all of them. */
  readonly verbs?: readonly string[];
  /** It must be given: always, or with these verbs. */
  readonly required?: true | readonly string[];
  /** An option that must be given as well. */
  readonly needs?: string;
  /** Options that must not be given as well. */
  readonly excludes?: readonly string[];
  /** Its value is a file to read, so that `-` is standard input. */
  readonly isInput?: true;
  /** Flags only: `optional` can be turned off (`--[no-]ui`), `on` is on (`--no-wait`). */
  readonly negatable?: 'optional' | 'on';
  /** Flags only: the placeholder of a value that may follow an equals sign. */
  readonly mayHold?: string;
  /** The service checks the words, not the command line. */
  readonly isUnchecked?: true;
  /** It is a setting (settings.ts) with its own checks. */
  readonly isSetting?: true;
  /** It is left out of the help text. */
  readonly isHidden?: true;
  /** The heading under which a setting is listed. */
  readonly group?: string;
}

export const flag = (name: string, about: string, parts: Partial<Option> = {}): Option => ({
  name,
  about,
  ...parts,
});

export const valued = (
  name: string,
  value: string | readonly string[],
  about: string,
  parts: Partial<Option> = {},
): Option => ({ name, value, about, ...parts });

/** `--out` and `-o`: where the command's own output goes. */
export const out = (about: string, parts: Partial<Option> = {}): Option =>
  valued('out', 'file', `${about} [standard output]`, { short: 'o', ...parts });

/** How many arguments follow the command and its verb, and what they are. */
export type Takes = readonly [least: number, most: number, what?: string];

export interface CommandFacts {
  readonly name: string;
  readonly summary: string;
  /** The arguments after the name, one form each. */
  readonly usage: readonly string[];
  /** Paragraphs of one line each. */
  readonly about: readonly string[];
  readonly verbs?: Readonly<Record<string, string>>;
  readonly operands?: Readonly<Record<string, string>>;
  readonly options: readonly Option[];
  /** Commands that a test runs where their files are. */
  readonly examples: readonly string[];
  /** Further examples, whose names the reader has to replace. */
  readonly more?: readonly string[];
  readonly exits: readonly ExitName[];
}

export interface Command extends CommandFacts {
  run(args: readonly string[], io: Io): Promise<number>;
}

/** falconry.cjs repeats the code of `usage`. */
export const EXIT = Object.freeze({
  ok: 0,
  invalid: 1,
  usage: 2,
  io: 3,
  service: 4,
  internal: 70,
  interrupted: 130,
});

export type ExitName = keyof typeof EXIT;

/** The exit codes of commands that only work on files. */
export const FILE_EXITS: readonly ExitName[] = ['invalid', 'usage', 'io'];

export const EXIT_MEANINGS: Readonly<Record<ExitName, string>> = Object.freeze({
  ok: 'success, or valid',
  invalid: 'an invalid signature, aggregate or file; a failed task or check',
  usage: 'wrong arguments or configuration',
  io: 'a file, port or store could not be opened, read or written',
  service: 'the service refused the request or could not be reached',
  internal: 'a bug in falconry',
  interrupted: 'interrupted by Ctrl-C (128 + signal number)',
});

/** A mistake in the arguments or the configuration: shown with a hint to `--help`, exit code 2. */
export class UsageError extends Error {}

/** A file, stream, port or store that could not be opened, read or written: exit code 3. */
export class IoFailure extends Error {}

/** The service refused, or could not be reached: exit code 4. */
export class ServiceFailure extends Error {
  /** The problem's own code, or `UNREACHABLE`. */
  readonly code: string;
  /** More for `--json`: status, problem document. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, facts: ServiceFailure['facts'], cause: unknown) {
    super(message, { cause });
    this.code = code;
    this.facts = facts;
  }
}
