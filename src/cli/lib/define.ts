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
  type Takes,
  UsageError,
} from './command.ts';
import type { Config } from './config.ts';
import { COMMON, helpText, widthOf } from './help.ts';
import { createProgress, type Progress } from './progress.ts';
import { optionsOfSettings, type SettingName } from './settings.ts';
import { hint } from './text.ts';

type Facts = Readonly<Record<string, unknown>>;

/** The checked arguments of a call, and the outputs of the command. */
export interface Invocation<N extends SettingName = SettingName> {
  readonly io: Io;
  /** Empty for a command without verbs. */
  readonly verb: string;
  readonly positionals: readonly string[];
  readonly json: boolean;
  /** The bar on standard error, if that is a terminal; cleared when the command ends. */
  readonly progress: Progress;
  /** Values of options as they were given. */
  readonly given: Facts;
  option(name: string): string | undefined;
  flag(name: string): boolean;
  /** Reads the settings of the command. @throws UsageError that names every fault */
  config(): Promise<Config<N>>;
  /**
   * Reports the outcome as text or, with `--json`, as one line of JSON; on standard error if the
   * command's own output goes to standard output. `--quiet` suppresses the text. After
   * `ok: false`, the exit code is 1.
   */
  report(facts: Facts, text: string): void;
  /** Prints the command's own output: text or, with `--json`, one line of JSON. */
  print(facts: unknown, text?: string): void;
  /** Prints a remark on standard error, unless `--json` or `--quiet` is given. */
  note(text: string): void;
  /** Reports a failure: JSON like `report`, text on standard error; the exit code is 1. */
  fail(facts: Facts, text: string): void;
}

interface CommandParts<N extends SettingName = SettingName> extends Omit<CommandFacts, 'options'> {
  /** In addition to the settings, `--json`, `--quiet` and `--help`. */
  readonly options?: readonly Option[];
  /** Settings that the command accepts; each is an option too. */
  readonly settings?: readonly N[];
  /** The settings that the help text lists; absent: all of them. */
  readonly listed?: readonly N[];
  readonly defaultVerb?: string;
  /** The arguments besides options and a verb, for all verbs or each; absent: none. */
  readonly takes?: Takes | Readonly<Record<string, Takes>>;
  /** Returns true if the command's own output goes to standard output. */
  writesToStdout?(invocation: Pick<Invocation, 'option' | 'flag'>): boolean;
  execute(invocation: Invocation<N>): Promise<void>;
}

export function defineCommand<const N extends SettingName = never>(
  parts: CommandParts<N>,
): Command {
  const { settings = [], listed = settings } = parts;
  const hidden = optionsOfSettings(settings.filter((name) => !listed.includes(name)));
  const options: Option[] = [
    ...(parts.options ?? []),
    ...COMMON,
    ...optionsOfSettings(listed),
    ...hidden.map((option): Option => ({ ...option, isHidden: true })),
  ];
  const command = { ...parts, options };
  return { ...command, run: (args, io) => run(command, args, io) };
}

async function run<N extends SettingName>(
  command: CommandParts<N> & CommandFacts,
  args: readonly string[],
  io: Io,
): Promise<number> {
  const parser = parserOptions(command.options);
  const { words: plain, held } = takeHeld(command.options, args);
  const loose = parse(parser, plain, false);
  if (loose.values.help === true) {
    io.stdout.write(helpText(command, widthOf(io.stdout)));
    return EXIT.ok;
  }
  const json = loose.values.json === true;
  const outputs = outputsOf(command, loose.values, io);
  try {
    refuseUnknown(command, loose.tokens);
    const { values: parsed, positionals: words } = parse(parser, plain, true);
    const values = { ...parsed, ...held };
    const { verb, positionals } = readVerb(command, words);
    const named = loose.tokens.flatMap((token) => (token.kind === 'option' ? token.name : []));
    checkArguments(command, verb, positionals);
    checkOptions(command, verb, values, named);
    refuseTwiceStdin(command, values, positionals);
    await command.execute({
      io,
      verb,
      positionals,
      json,
      given: values,
      ...readers(values),
      ...outputs,
      async config() {
        // Loaded on demand: most commands work on files and have no settings.
        const { readConfig } = await import('./config.ts');
        const read = await readConfig(command.settings ?? [], { options: values, env: io.env });
        // Commands with a log write the warnings there.
        const warnings = 'log' in read.values ? [] : read.warnings;
        for (const text of warnings) io.stderr.write(`falconry: ${text}\n`);
        return read;
      },
    });
    return outputs.exitCode();
  } catch (error) {
    return reportFailure(command.name, error, io.env, outputs.fail);
  }
}

const readers = (values: Facts): Pick<Invocation, 'option' | 'flag'> => ({
  option: (name) => values[name] as string | undefined,
  flag: (name) => values[name] === true,
});

function outputsOf(
  { name, writesToStdout }: Pick<CommandParts, 'name' | 'writesToStdout'>,
  values: Facts,
  io: Io,
): Pick<Invocation, 'progress' | 'report' | 'print' | 'note' | 'fail'> & { exitCode(): number } {
  const { json, quiet } = values;
  const reports = writesToStdout?.(readers(values)) ? io.stderr : io.stdout;
  const progress = createProgress(io, quiet === true || json === true);
  let exitCode: number = EXIT.ok;
  const report: Invocation['report'] = (facts, text) => {
    progress.end();
    if (facts.ok === false) exitCode = EXIT.invalid;
    if (json) reports.write(`${JSON.stringify(facts)}\n`);
    else if (!quiet) reports.write(text);
  };
  return {
    exitCode: () => exitCode,
    progress,
    report,
    print: (facts, text = '') => io.stdout.write(json ? `${JSON.stringify(facts)}\n` : text),
    note(text) {
      progress.end();
      if (!json && !quiet) io.stderr.write(text);
    },
    fail(facts, text) {
      report(facts, '');
      if (!json) io.stderr.write(`falconry ${name}: ${text}`);
      exitCode = EXIT.invalid;
    },
  };
}

function parserOptions(options: readonly Option[]): ParseArgsOptionsConfig {
  const rows = options.map(({ name, short, value, fallback, negatable, isSetting }) => {
    const isOn = negatable === 'on' ? { type: 'boolean', default: true } : { type: 'boolean' };
    // The default of a setting has its own place, after the environment and the file.
    const usual = fallback === undefined || isSetting ? {} : { default: fallback };
    const row = value === undefined ? isOn : { type: 'string', ...usual };
    return [name, { ...row, ...(short !== undefined && { short }) }];
  });
  return Object.fromEntries(rows) as ParseArgsOptionsConfig;
}

/** Takes the values of flags that may hold one (`--trust-proxy=2`), which `parseArgs` refuses. */
function takeHeld(options: readonly Option[], args: readonly string[]) {
  const names = options.flatMap(({ name, mayHold }) => (mayHold ? name : []));
  const held: Record<string, string> = {};
  const words = args.map((word) => {
    const [, name = '', value = ''] = /^--([\w-]+)=(.*)$/s.exec(word) ?? [];
    if (!names.includes(name)) return word;
    held[name] = value;
    return `--${name}`;
  });
  return { words, held };
}

/** @throws UsageError, if strict, for an option without its value or a flag with one */
function parse(options: ParseArgsOptionsConfig, args: readonly string[], strict: boolean) {
  try {
    const names = { allowPositionals: true, allowNegative: true } as const;
    return parseArgs({ args: [...args], options, strict, tokens: true, ...names });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function refuseUnknown(
  { options }: CommandFacts,
  tokens: ReturnType<typeof parse>['tokens'],
): void {
  const known = options.map(({ name }) => name);
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName } = token;
    if (known.includes(name) || known.includes(name.replace(/^no-/, ''))) continue;
    if (known.includes(`${name}-file`)) {
      throw new UsageError(
        `a secret on the command line can be read by others: use --${name}-file or the environment`,
      );
    }
    throw new UsageError(`unknown option ${rawName}${hint(name, known, (n) => `--${n}`)}`);
  }
}

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

const NOTHING: Takes = [0, 0];

function checkArguments({ takes = NOTHING }: CommandParts, verb: string, words: readonly string[]) {
  const isOne = (rule: NonNullable<CommandParts['takes']>): rule is Takes => Array.isArray(rule);
  const [least, most, what] = isOne(takes) ? takes : (takes[verb] ?? NOTHING);
  if (words.length >= least && words.length <= most) return;
  throw new UsageError(what ? `expected ${what}` : `unexpected argument ${words[most]}`);
}

/** @throws UsageError for an option that the verb or another option excludes, or a wrong value */
function checkOptions(
  { name, options }: CommandFacts,
  verb: string,
  values: Facts,
  named: readonly string[],
): void {
  const refuse = (message: string) => {
    throw new UsageError(message);
  };
  for (const { name: own, value, required, verbs, needs, excludes = [], ...rules } of options) {
    if (!named.includes(own)) {
      if (required === true || required?.includes(verb)) refuse(`--${own} is missing`);
      continue;
    }
    if (verbs && !verbs.includes(verb)) refuse(`"${name} ${verb}" has no option --${own}`);
    if (needs && !named.includes(needs)) refuse(`--${own} needs --${needs}`);
    const other = excludes.find((each) => named.includes(each));
    if (other !== undefined) refuse(`--${own} excludes --${other}`);
    const hasWords = typeof value === 'object' && !rules.isUnchecked && !rules.isSetting;
    if (hasWords && !value.includes(values[own] as string)) {
      refuse(`--${own} must be one of ${value.join(', ')}`);
    }
  }
}

/** @throws UsageError if standard input, which can be read once, is named more than once */
function refuseTwiceStdin({ options }: CommandFacts, values: Facts, words: readonly string[]) {
  const inputs = options.flatMap(({ name, isInput }) => (isInput ? [values[name]] : []));
  if ([...inputs, ...words].filter((path) => path === '-').length > 1) {
    throw new UsageError('standard input (-) can be given only once');
  }
}

/** Returns the exit code of an error, which replaces the 1 that `fail` sets. */
function reportFailure(name: string, error: unknown, env: Io['env'], fail: Invocation['fail']) {
  const { exit, code, facts = {} } = classify(error);
  const { message, stack } = error as Error;
  const invalid = isCodedError(error) ? error.invalid : undefined;
  const lines = [message.replaceAll('\n', `\nfalconry ${name}: `), '\n', describeInvalid(invalid)];
  if (exit === EXIT.usage) lines.push(`Try: falconry ${name} --help\n`);
  if (exit === EXIT.internal && env.FALCONRY_DEBUG) lines.push(`${stack}\n`);
  fail({ ok: false, code, message, invalid, ...facts }, lines.join(''));
  return exit;
}

function classify(error: unknown): { exit: number; code: string; facts?: Facts } {
  if (error instanceof UsageError) return { exit: EXIT.usage, code: 'USAGE' };
  if (error instanceof IoFailure) return { exit: EXIT.io, code: 'IO' };
  const { code = 'INTERNAL', syscall } = error as NodeJS.ErrnoException;
  if (error instanceof ServiceFailure) return { exit: EXIT.service, code, facts: error.facts };
  if (isCodedError(error)) {
    if (error.status < 500) return { exit: EXIT.invalid, code };
    return { exit: code === 'INTERNAL' ? EXIT.internal : EXIT.io, code };
  }
  // A failed system call: the port is taken, the disk is full.
  if (syscall !== undefined || code === 'ERR_SQLITE_ERROR') return { exit: EXIT.io, code: 'IO' };
  return { exit: EXIT.internal, code: 'INTERNAL' };
}

export function describeInvalid(invalid: readonly InvalidItem[] = []): string {
  const lines = invalid.map(({ index, reason }) => {
    const words = reasonWords(reason);
    return `  item ${index}: ${words === reason ? reason : `${words} (${reason})`}\n`;
  });
  return lines.join('');
}
