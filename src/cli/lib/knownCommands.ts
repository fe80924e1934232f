/** What the definitions of the commands tell a shell that completes them. */
import type { Command } from './command.ts';

/** What an option takes: one of these words, or a path, or something else. */
export type Values = readonly string[] | 'file' | 'directory' | 'text';

/** What scripts need to know of an option. */
export interface KnownOption {
  readonly name: string;
  readonly short: string | undefined;
  /** Undefined for one that takes no value. */
  readonly values: Values | undefined;
  /** Whether there is a `--no-…`. */
  readonly negatable: boolean;
}

/** What scripts need to know of a command. */
export interface KnownCommand {
  readonly name: string;
  readonly summary: string;
  readonly verbs: readonly string[];
  readonly options: readonly KnownOption[];
}

/** Options of every command, which nobody turns off. */
const COMMON: readonly string[] = ['help', 'json', 'quiet'];

/** What scripts need to know of this command. */
export function known({ name, summary, verbs, options, help: text }: Command): KnownCommand {
  const all = Object.entries(options).map(([option, row]): KnownOption => {
    const takes = row.type === 'string';
    const choices = (row as { readonly choices?: readonly string[] }).choices;
    return {
      name: option,
      short: row.short,
      values: takes ? (choices ?? pathOf(option, text)) : undefined,
      negatable: !takes && !COMMON.includes(option),
    };
  });
  return { name, summary, verbs, options: all };
}

/** Whether an option takes a path, by its placeholder in the help text: <file>, <key.json>. */
function pathOf(option: string, text: string): Values {
  const placeholder = new RegExp(`--${option} <([^>]+)>`).exec(text)?.[1] ?? '';
  if (placeholder === 'directory') return 'directory';
  return placeholder === 'file' || /^\w+\.json$/.test(placeholder) ? 'file' : 'text';
}

/** All spellings of the options. */
export const spellings = (options: readonly KnownOption[]): string[] =>
  options.flatMap(({ name, short, negatable }) => [
    `--${name}`,
    ...(negatable ? [`--no-${name}`] : []),
    ...(short === undefined ? [] : [`-${short}`]),
  ]);

/** What may come first, besides the commands. */
export const FIRST: readonly string[] = ['help', '--help', '--version'];
