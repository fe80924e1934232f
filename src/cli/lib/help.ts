/** Help texts, laid out from the data of the commands. */
import {
  type CommandFacts,
  EXIT,
  EXIT_MEANINGS,
  type ExitName,
  flag,
  type Io,
  type Option,
} from './command.ts';

/** The widest and the narrowest layout, in columns. */
const WIDEST = 100;
const NARROWEST = 40;
/** After a longer left column, the text starts in the next line. */
const WIDEST_LEFT = 32;

type Row = readonly [left: string, right: string];

export const COMMON: readonly Option[] = [
  flag('json', 'report as one line of JSON'),
  flag('quiet', 'print no report', { short: 'q' }),
  flag('help', 'print this text', { short: 'h' }),
];

const SETTINGS_NOTE =
  'Each of these is also an environment variable and an entry of falconry.json: --public-url is ' +
  'FALCONRY_PUBLIC_URL and "publicUrl". Options override the environment, which overrides the ' +
  'file. Secrets are in a file (--api-key-file) or in the environment (FALCONRY_API_KEY).';

/** The width for which a text is laid out; undefined (the widest) if it is not a terminal. */
export const widthOf = ({ isTTY, columns }: Io['stdout']): number | undefined =>
  isTTY ? columns || undefined : undefined;

export function helpText(command: CommandFacts, columns = WIDEST): string {
  const { about, verbs = {}, operands = {}, options, examples, more = [] } = command;
  const width = Math.max(NARROWEST, Math.min(WIDEST, columns));
  const settings = options.filter(({ isSetting, isHidden }) => isSetting && !isHidden);
  const groups = [...new Set(settings.map(({ group }) => group))];
  const own = options.filter(({ isSetting }) => !isSetting);
  const section = (title: string, rows: readonly Row[]) =>
    rows.length === 0 ? [] : [`${title}\n${table(rows, width)}`];
  const lines = (title: string, all: readonly string[]) =>
    all.length === 0 ? [] : [`${title}\n${all.map((line) => `  ${line}`).join('\n')}`];
  const parts = [
    usageLines(command).join('\n'),
    ...about.map((paragraph) => wrap(paragraph, width).join('\n')),
    ...section('Verbs', Object.entries(verbs)),
    ...section('Arguments', Object.entries(operands)),
    ...section('Options', own.map(rowOf)),
    ...(settings.length === 0 ? [] : [wrap(SETTINGS_NOTE, width).join('\n')]),
    ...groups.flatMap((group) =>
      section(group!, settings.filter((option) => option.group === group).map(rowOf)),
    ),
    ...lines('Examples', examples),
    ...lines(examples.length === 0 ? 'Examples' : 'More', more),
    ...section('Exit codes', exitRows(['ok', ...command.exits, 'internal', 'interrupted'])),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** `Usage: falconry sign …`, and further forms below. */
export const usageLines = ({ name, usage }: Pick<CommandFacts, 'name' | 'usage'>): string[] =>
  usage.map((form, i) => `${i === 0 ? 'Usage:' : '      '} falconry ${name} ${form}`.trimEnd());

export const exitRows = (names: readonly ExitName[]): Row[] =>
  names.map((name) => [String(EXIT[name]).padStart(3), EXIT_MEANINGS[name]]);

/** The first column of an option: `-o, --out <file>`, `--[no-]ui`, `--no-wait`. */
export function spelling({ name, short, value, negatable, mayHold }: Option): string {
  const start = short === undefined ? '' : `-${short}, `;
  const shown = { optional: `--[no-]${name}`, on: `--no-${name}` };
  const option = negatable === undefined ? `--${name}` : shown[negatable];
  if (value === undefined) return `${start}${option}${mayHold ? `[=${mayHold}]` : ''}`;
  return `${start}${option} <${typeof value === 'string' ? value : 'name'}>`;
}

/** The description of an option, with its verbs, its words and its default. */
export function meaning({ about, value, fallback, verbs }: Option): string {
  const words = typeof value === 'object' ? `: ${listed(value)}` : '';
  const usual = fallback === undefined ? '' : ` [${fallback}]`;
  return `${verbs === undefined ? '' : `${verbs.join(', ')}: `}${about}${words}${usual}`;
}

/** `a, b or c` */
const listed = (words: readonly string[]): string =>
  `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

function rowOf(option: Option): Row {
  return [`${option.short === undefined ? '    ' : ''}${spelling(option)}`, meaning(option)];
}

/** Two columns; where the left one is long or the terminal narrow, one below the other. */
export function table(rows: readonly Row[], width = WIDEST): string {
  const longest = Math.max(...rows.map(([left]) => left.length));
  const column = width < 60 ? 6 : Math.min(longest, WIDEST_LEFT) + 4;
  const lines = rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrap(right, width - column).map((l) => ' '.repeat(column) + l);
    if (left.length + 4 > column) return [`  ${left}`, first, ...rest];
    return [`  ${left}`.padEnd(column) + first.slice(column), ...rest];
  });
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Breaks the text at spaces into lines of at most this width. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}
