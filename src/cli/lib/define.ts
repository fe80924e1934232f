/**
 * Makes a command from its parts. Everything that commands share is here: arguments and their
 * misspellings, verbs, `--help`, `--json` and `--quiet`, settings, progress, reports, exit codes.
 */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type InvalidItem, isCodedError } from '../../shared/errors.ts';
import { reasonWords } from '../../wire/reasons.ts';
import {
  type Command,
  type CommandFacts,
  EXIT,
  type Io,
  IoFailure,
  type Option,
  ServiceFailure,
  UsageError,
} from './command.ts';
import type { Config } from './config.ts';
import { COMMON, helpText } from './help.ts';
import { createProgress, type Progress } from './progress.ts';
import { optionsOfSettings, type SettingName } from './settings.ts';
import { hint } from './text.ts';

/** What a command is called with, once its arguments have been read. */
export interface Invocation<N extends SettingName = SettingName> {
  readonly io: Io;
  /** The verb; empty for a command without verbs. */
  readonly verb: string;
  /** The other arguments. */
  readonly positionals: readonly string[];
  readonly json: boolean;
  readonly quiet: boolean;
  /** The bar on standard error, if that is a terminal; cleared when the command ends. */
  readonly progress: Progress;
  /** Values of options as they were given. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Value of an option that has one. */
  option(name: string): string | undefined;
  flag(name: string): boolean;
  /**
   * The settings of the command, from options, environment, file and defaults.
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

export interface CommandParts<N extends SettingName = SettingName>
  extends Omit<CommandFacts, 'options'> {
  /** In addition to the settings, `--json`, `--quiet` and `--help`. */
  readonly options?: readonly Option[];
  /** Settings that the command accepts; each is an option too. */
  readonly settings?: readonly N[];
  /** The settings that the help text lists; absent: all of them. */
  readonly listed?: readonly N[];
  /** The verb of a call without one. */
  readonly defaultVerb?: string;
  /** Most arguments besides options and a verb; without it `execute` checks them itself. */
  readonly mostArguments?: number;
  /** Whether the command's own output goes to standard output. */
  writesToStdout?(invocation: Pick<Invocation, 'option' | 'flag'>): boolean;
  execute(invocation: Invocation<N>): Promise<number>;
}

/** A command from its parts. */
export function defineCommand<const N extends SettingName = never>(
  parts: CommandParts<N>,
): Command {
  const { settings = [] } = parts;
  const { listed = settings } = parts;
  const hidden = optionsOfSettings(settings.filter((name) => !listed.includes(name)));
  const options = [
    ...(parts.options ?? []),
    ...COMMON,
    ...optionsOfSettings(listed),
    ...hidden.map((option) => ({ ...option, isHidden: true as const })),
  ];
  const command: Command = { ...parts, options, run: (args, io) => run(parts, command, args, io) };
  return command;
}

/** The options as the parser of Node wants them. */
function parserOptions(options: readonly Option[]): ParseArgsOptionsConfig {
  const rows = options.map(({ name, short, value, fallback, negatable, isSetting }) => {
    const flag = negatable === 'on' ? { type: 'boolean', default: true } : { type: 'boolean' };
    // The default of a setting has its own place, after the environment and the file.
    const usual = fallback === undefined || isSetting ? {} : { default: fallback };
    const row = value === undefined ? flag : { type: 'string', ...usual };
    return [name, { ...row, ...(short !== undefined && { short }) }];
  });
  return Object.fromEntries(rows) as ParseArgsOptionsConfig;
}

async function run<N extends SettingName>(
  parts: CommandParts<N>,
  command: Command,
  args: readonly string[],
  io: Io,
): Promise<number> {
  const config = parserOptions(command.options);
  const lenient = { args: [...args], options: config, strict: false, allowNegative: true } as const;
  const loose = parseArgs({ ...lenient, tokens: true });
  const aside = channel(parts, loose.values, io);
  const json = loose.values.json === true;
  let progress: Progress | undefined;
  try {
    const { values, positionals: words } = readArguments(command, config, args);
    if (values.help) {
      io.stdout.write(helpText(command, widthOf(io.stdout)));
      return EXIT.ok;
    }
    const { verb, positionals } = readVerb(parts, words);
    const named = loose.tokens.flatMap((token) => (token.kind === 'option' ? token.name : []));
    checkOptions(command, verb, values, named);
    refuseMore(positionals, parts.mostArguments ?? positionals.length);
    const quiet = values.quiet === true;
    progress = createProgress(io, quiet || json);
    const bar = progress;
    return await parts.execute({
      io,
      verb,
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
        const read = await readConfig(parts.settings ?? [], { options: values, env: io.env });
        // Commands with a log write the warnings there.
        const log = 'log' in read.values;
        if (!log) for (const text of read.warnings) io.stderr.write(`falconry: ${text}\n`);
        return read;
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

/** The width for which a text is laid out; the widest one where nobody reads it on a terminal. */
export const widthOf = ({ isTTY, columns }: Io['stdout']): number | undefined =>
  isTTY ? columns || undefined : undefined;

/** @throws UsageError that names the first argument past so many */
function refuseMore(positionals: readonly string[], most: number): void {
  if (positionals.length > most) throw new UsageError(`unexpected argument ${positionals[most]}`);
}

/** @throws UsageError without a verb, or for an unknown one */
function readVerb(
  { name, verbs, defaultVerb }: CommandParts,
  words: readonly string[],
): Pick<Invocation, 'verb' | 'positionals'> {
  if (verbs === undefined) return { verb: '', positionals: words };
  const known = Object.keys(verbs);
  const [verb = defaultVerb, ...positionals] = words;
  if (verb === undefined) throw new UsageError(`expected one of ${known.join(', ')}`);
  if (Object.hasOwn(verbs, verb)) return { verb, positionals };
  throw new UsageError(`there is no "${name} ${verb}"${hint(verb, known)}`);
}

/** @throws UsageError for an option of another verb, or a word that is none of the option's */
function checkOptions(
  { name, options }: Command,
  verb: string,
  values: Readonly<Record<string, unknown>>,
  named: readonly string[],
): void {
  for (const { name: option, value, verbs, isUnchecked, isSetting } of options) {
    if (verbs !== undefined && !verbs.includes(verb) && named.includes(option)) {
      throw new UsageError(`"${name} ${verb}" has no option --${option}`);
    }
    const word = values[option];
    if (typeof value !== 'object' || isUnchecked || isSetting || word === undefined) continue;
    if (!value.includes(word as string)) {
      throw new UsageError(`--${option} must be one of ${value.join(', ')}`);
    }
  }
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

function readArguments(
  command: Command,
  options: ParseArgsOptionsConfig,
  args: readonly string[],
): Arguments {
  const config = { args: [...args], options, allowPositionals: true, allowNegative: true } as const;
  try {
    return parseArgs(config);
  } catch (error) {
    const { tokens } = parseArgs({ ...config, strict: false, tokens: true });
    const known = command.options.map(({ name }) => name);
    for (const token of tokens) {
      if (token.kind !== 'option') continue;
      const name = token.name.replace(/^no-/, '');
      if (known.includes(token.name) || known.includes(name)) continue;
      if (known.includes(`${token.name}-file`)) {
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
