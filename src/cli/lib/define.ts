/**
 * Makes a command from its parts. All that commands have in common is here: arguments and their
 * misspellings, `--help`, `--json` and `--quiet`, settings, progress, reports, exit codes.
 */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type InvalidItem, isCodedError } from '../../shared/errors.ts';
import { reasonWords } from '../../wire/reasons.ts';
import { type Command, type Io, IoFailure, ServiceFailure, UsageError } from './command.ts';
import type { Config } from './config.ts';
import { EXIT } from './exitCodes.ts';
import { createProgress, type Progress } from './progress.ts';
import { ALL_SETTINGS, optionOf, type SettingName } from './settings.ts';
import { hint } from './suggest.ts';

/** What a command is called with, once its arguments have been read. */
export interface Invocation<N extends SettingName = SettingName> {
  readonly io: Io;
  readonly positionals: readonly string[];
  readonly json: boolean;
  readonly quiet: boolean;
  /** The bar on standard error, if that is a terminal; cleared when the command ends. */
  readonly progress: Progress;
  /** Values of options as they were given. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Value of an option that takes one. */
  option(name: string): string | undefined;
  flag(name: string): boolean;
  /**
   * The settings of the command, by option, environment, file and default.
   *
   * @throws UsageError that names every fault
   */
  config(): Promise<Config<N>>;
  /**
   * Reports the outcome as text or, with `--json`, as one line of JSON; on standard error if the
   * command's own output goes to standard output. `--quiet` suppresses the text.
   */
  report(facts: Readonly<Record<string, unknown>>, text: string): void;
  /** Prints a remark on standard error, unless `--json` or `--quiet` is given. */
  note(text: string): void;
}

export interface CommandParts<N extends SettingName = SettingName> {
  readonly name: string;
  readonly summary: string;
  readonly help: string;
  /** In addition to `--help`, `--json`, `--quiet` and the options of the settings. */
  readonly options?: ParseArgsOptionsConfig;
  readonly verbs?: readonly string[];
  /** Settings that the command takes; each is an option too. */
  readonly settings?: readonly N[];
  /** Most arguments that are no options; without it `execute` looks itself. */
  readonly mostArguments?: number;
  /** Whether the command's own output goes to standard output. */
  writesToStdout?(invocation: Pick<Invocation, 'option' | 'flag'>): boolean;
  execute(invocation: Invocation<N>): Promise<number>;
}

/** An option with a value. */
export const TEXT = { type: 'string' } as const;
/** An option whose value is one of these words; the command checks it. */
export const oneOf = <const Choices extends readonly string[]>(choices: Choices) =>
  ({ type: 'string', choices }) as const;
/** An option without a value. */
export const FLAG = { type: 'boolean' } as const;
/** `--out` and `-o`: where the command's own output goes. */
export const OUT = { type: 'string', short: 'o' } as const;

const COMMON = {
  help: { type: 'boolean', short: 'h' },
  json: FLAG,
  quiet: { type: 'boolean', short: 'q' },
} as const satisfies ParseArgsOptionsConfig;

/** A command from its parts. */
export function defineCommand<const N extends SettingName = never>(
  parts: CommandParts<N>,
): Command {
  const { name, summary, help, settings = [], verbs = [] } = parts;
  const options = {
    ...COMMON,
    ...(settings.length > 0 ? settingOptions(settings) : {}),
    ...parts.options,
  };
  return { name, summary, help, options, verbs, run: (args, io) => run(parts, options, args, io) };
}

/** Options for parseArgs of these settings, and `--config`. */
function settingOptions(names: readonly SettingName[]): ParseArgsOptionsConfig {
  const options: ParseArgsOptionsConfig = { config: TEXT };
  for (const name of names) {
    const { type, inline, choices } = ALL_SETTINGS[name]!;
    if (type === 'secret') options[`${optionOf(name)}-file`] = TEXT;
    if (type !== 'secret' || inline) {
      const valued = choices === undefined ? TEXT : oneOf(choices);
      options[optionOf(name)] = type === 'flag' ? FLAG : valued;
    }
  }
  return options;
}

async function run<N extends SettingName>(
  parts: CommandParts<N>,
  options: ParseArgsOptionsConfig,
  args: readonly string[],
  io: Io,
): Promise<number> {
  const loose = parseArgs({ args: [...args], options, strict: false, allowNegative: true });
  const aside = channel(parts, loose.values, io);
  const json = loose.values.json === true;
  let progress: Progress | undefined;
  try {
    const { values, positionals } = readArguments(options, args);
    if (values.help) {
      io.stdout.write(parts.help);
      return EXIT.ok;
    }
    refuseMore(positionals, parts.mostArguments ?? positionals.length);
    const quiet = values.quiet === true;
    progress = createProgress(io, quiet || json);
    const bar = progress;
    return await parts.execute({
      io,
      positionals,
      json,
      quiet,
      progress,
      given: values,
      option: (key) => values[key] as string | undefined,
      flag: (key) => values[key] === true,
      config: async () => {
        // Loaded on demand: most commands work on files and have no settings.
        const { readConfig } = await import('./config.ts');
        const config = await readConfig(parts.settings ?? [], { options: values, env: io.env });
        for (const warning of config.warnings) io.stderr.write(`falconry: ${warning}\n`);
        return config;
      },
      report(facts, text) {
        bar.end();
        if (json) aside.write(`${JSON.stringify(facts)}\n`);
        else if (!quiet) aside.write(text);
      },
      note(text) {
        bar.end();
        if (!json && !quiet) io.stderr.write(text);
      },
    });
  } catch (error) {
    progress?.end();
    return reportFailure(parts.name, error, io, json ? aside : null);
  }
}

/** @throws UsageError that names the first argument past so many */
export function refuseMore(positionals: readonly string[], most: number): void {
  if (positionals.length > most) throw new UsageError(`unexpected argument ${positionals[most]}`);
}

/** Where reports go: not where the command's own output goes. */
function channel(
  parts: Pick<CommandParts, 'writesToStdout'>,
  values: Record<string, unknown>,
  io: Io,
) {
  const option = (key: string) => values[key] as string | undefined;
  const flag = (key: string) => values[key] === true;
  return parts.writesToStdout?.({ option, flag }) === true ? io.stderr : io.stdout;
}

interface Arguments {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
}

function readArguments(options: ParseArgsOptionsConfig, args: readonly string[]): Arguments {
  const config = { args: [...args], options, allowPositionals: true, allowNegative: true } as const;
  try {
    return parseArgs(config);
  } catch (error) {
    const { tokens } = parseArgs({ ...config, strict: false, tokens: true });
    const known = Object.keys(options);
    for (const token of tokens) {
      if (token.kind !== 'option') continue;
      const name = token.name.replace(/^no-/, '');
      if (Object.hasOwn(options, token.name) || Object.hasOwn(options, name)) continue;
      if (Object.hasOwn(options, `${token.name}-file`)) {
        throw new UsageError(
          `a secret on the command line can be read by others: ` +
            `use --${token.name}-file or the environment`,
        );
      }
      throw new UsageError(
        `unknown option ${token.rawName}${hint(token.name, known, (found) => `--${found}`)}`,
      );
    }
    throw new UsageError((error as Error).message);
  }
}

/**
 * Reports a failure.
 *
 * @param json where to report it as one line of JSON; null: as text on standard error
 * @returns the exit code
 */
function reportFailure(name: string, error: unknown, io: Io, json: Io['stdout'] | null): number {
  const { exit, code, facts = {} } = classify(error);
  const { message } = error as Error;
  const invalid = isCodedError(error) ? error.invalid : undefined;
  if (json !== null) {
    json.write(`${JSON.stringify({ ok: false, code, message, invalid, ...facts })}\n`);
    return exit;
  }
  const lines = message.split('\n').map((line) => `falconry ${name}: ${line}\n`);
  io.stderr.write(`${lines.join('')}${describeInvalid(invalid)}`);
  if (exit === EXIT.usage) io.stderr.write(`Try: falconry ${name} --help\n`);
  if (exit === EXIT.internal && (io.env.FALCONRY_DEBUG ?? '') !== '') {
    io.stderr.write(`${(error as Error).stack}\n`);
  }
  return exit;
}

interface Verdict {
  readonly exit: number;
  readonly code: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

function classify(error: unknown): Verdict {
  if (error instanceof UsageError) return { exit: EXIT.usage, code: 'USAGE' };
  if (error instanceof IoFailure) return { exit: EXIT.io, code: 'IO' };
  if (error instanceof ServiceFailure) {
    return { exit: EXIT.service, code: error.code, facts: error.facts };
  }
  if (isCodedError(error)) {
    if (error.status < 500) return { exit: EXIT.invalid, code: error.code };
    return { exit: error.code === 'INTERNAL' ? EXIT.internal : EXIT.io, code: error.code };
  }
  // A failed system call: the port is taken, the disk is full.
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined || code === 'ERR_SQLITE_ERROR') return { exit: EXIT.io, code: 'IO' };
  return { exit: EXIT.internal, code: 'INTERNAL' };
}

/** One line per invalid item. */
export function describeInvalid(invalid: readonly InvalidItem[] = []): string {
  return invalid
    .map(({ index, reason }) => {
      const words = reasonWords(reason);
      return `  item ${index}: ${words === reason ? reason : `${words} (${reason})`}\n`;
    })
    .join('');
}
