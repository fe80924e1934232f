/** The completion script for fish. */
import { FIRST, type KnownCommand, type KnownOption } from './knownCommands.ts';

/** The script, for the file `~/.config/fish/completions/falconry.fish`. */
export function fishScript(commands: readonly KnownCommand[]): string {
  const lines = commands.flatMap((command) => linesOf(command));
  const names = commands.map(({ name }) => name).join(' ');
  return `# Completion of falconry for fish:
#   falconry completion fish > ~/.config/fish/completions/falconry.fish

# Whether the word being typed is number $argv[1] after falconry.
function __falconry_at
    test (count (commandline -opc)) -eq $argv[1]
end

# Whether the command is $argv[1].
function __falconry_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end

complete -c falconry -e
complete -c falconry -n '__falconry_at 1' -f -a '${FIRST[0]}'
complete -c falconry -n '__falconry_at 1' -f -l help -l version
complete -c falconry -n '__falconry_is help' -f -a '${names}'
${lines.join('\n')}
`;
}

function linesOf({ name, summary, verbs, options }: KnownCommand): string[] {
  const start = `complete -c falconry -n '__falconry_is ${name}'`;
  const first = `complete -c falconry -n '__falconry_at 1' -f -a ${name} -d ${quote(summary)}`;
  const verb = `complete -c falconry -n '__falconry_is ${name}; and __falconry_at 2' -f -a`;
  return [
    first,
    ...(verbs.length > 0 ? [`${verb} '${verbs.join(' ')}'`] : []),
    ...options.flatMap((option) => [
      `${start} ${spelling(option)}${takenBy(option)}`,
      ...(option.negatable ? [`${start} -l no-${option.name}`] : []),
    ]),
  ];
}

const spelling = ({ name, short }: KnownOption): string =>
  short === undefined ? `-l ${name}` : `-l ${name} -s ${short}`;

function takenBy({ values }: KnownOption): string {
  if (values === undefined) return '';
  if (values === 'text') return ' -x';
  if (values === 'file') return ' -r -F';
  if (values === 'directory') return " -x -a '(__fish_complete_directories)'";
  return ` -x -a '${values.join(' ')}'`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
