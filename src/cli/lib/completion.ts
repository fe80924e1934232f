/** `falconry completion`: scripts for shells, generated from the data of the commands. */
import { type Command, type CommandFacts, EXIT, type Option } from './command.ts';
import { defineCommand } from './define.ts';

/** The command; it asks for all commands when it runs. */
export const completionCommand = (commands: () => Promise<readonly Command[]>): Command =>
  defineCommand({
    name: 'completion',
    summary: 'print a completion script for bash, zsh or fish',
    usage: ['[bash | zsh | fish]'],
    about: ['Prints a script that completes commands, verbs, options, their values, and files.'],
    verbs: {
      bash: 'in ~/.bashrc: eval "$(falconry completion bash)" (the default)',
      zsh: 'in ~/.zshrc after compinit: eval "$(falconry completion zsh)" (or _falconry in $fpath)',
      fish: 'once: falconry completion fish > ~/.config/fish/completions/falconry.fish',
    },
    defaultVerb: 'bash',
    examples: ['falconry completion bash > falconry.bash', 'falconry completion zsh > _falconry'],
    exits: ['usage'],
    writesToStdout: () => true,
    async execute({ io, verb }) {
      io.stdout.write(SCRIPTS[verb as keyof typeof SCRIPTS](await commands()));
      return EXIT.ok;
    },
  });

const FIRST = 'help --help --version';
const namesOf = (commands: readonly CommandFacts[]) => commands.map(({ name }) => name).join(' ');
const verbsOf = ({ verbs = {} }: CommandFacts) => Object.keys(verbs).join(' ');

/** What completes the value of an option. */
const kindOf = (value: NonNullable<Option['value']>): string => {
  if (typeof value === 'object') return `values values="${value.join(' ')}"`;
  return ['file', 'directory'].includes(value) ? value : 'text';
};

/** The cases of bash and zsh: per command its options and verbs; per option what follows it. */
function cases(commands: readonly CommandFacts[]): string {
  const lines = commands.map((command) => {
    const flags: string[] = [];
    const kinds: string[] = [];
    for (const { name, short, negatable, value } of command.options) {
      const spellings = short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
      flags.push(...spellings, ...(negatable === undefined ? [] : [`--no-${name}`]));
      if (value !== undefined) kinds.push(`${spellings.join('|')}) kind=${kindOf(value)} ;;`);
    }
    const words = `flags="${flags.join(' ')}" verbs="${verbsOf(command)}"`;
    return `    ${command.name}) ${words}
      case "$previous" in ${kinds.join('\n      ')} esac ;;\n`;
  });
  return lines.join('');
}

const bashScript = (
  commands: readonly CommandFacts[],
): string => `# eval "$(falconry completion bash)"
_falconry() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local flags="" verbs="" values="" kind="" offered=""
  # --format=proof comes as three words.
  if [ "$word" = = ]; then word=""
  elif [ "$previous" = = ]; then previous="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  case "\${COMP_WORDS[1]}" in
${cases(commands)}  esac
  if [ "$COMP_CWORD" -eq 1 ] || [ "\${COMP_WORDS[1]}" = help ]; then
    offered="${namesOf(commands)} ${FIRST}"
  elif [ "$kind" = values ]; then offered="$values"
  elif [ "$kind" = directory ]; then COMPREPLY=($(compgen -d -- "$word")); return
  elif [ "$kind" = text ]; then COMPREPLY=(); return
  elif [ -z "$kind" ] && [ "\${word#-}" != "$word" ]; then offered="$flags"
  elif [ -z "$kind" ] && [ "$COMP_CWORD" -eq 2 ] && [ -n "$verbs" ]; then offered="$verbs"
  else COMPREPLY=($(compgen -f -- "$word")); return
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$word"))
}
complete -o filenames -F _falconry falconry
`;

const zshScript = (commands: readonly CommandFacts[]): string => `#compdef falconry
_falconry() {
  local previous=\${words[CURRENT - 1]} word=\${words[CURRENT]} flags verbs values kind
  # --format=proof is one word.
  if [[ $word == --*=* ]]; then previous=\${word%%=*}; compset -P '*='; fi
  case $words[2] in
${cases(commands)}  esac
  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then
    compadd -- ${namesOf(commands)} ${FIRST}
  elif [[ $kind == values ]]; then compadd -- \${=values}
  elif [[ $kind == directory ]]; then _files -/
  elif [[ $kind == text ]]; then _message value
  elif [[ -z $kind && $word == -* ]]; then compadd -- \${=flags}
  elif (( CURRENT == 3 && \${#verbs} )) && [[ -z $kind ]]; then compadd -- \${=verbs}
  else _files
  fi
}
if [[ $funcstack[1] == _falconry ]]; then _falconry "$@"; else compdef _falconry falconry; fi
`;

const FISH_PATHS = { file: ' -r -F', directory: " -x -a '(__fish_complete_directories)'" };

function fishScript(commands: readonly CommandFacts[]): string {
  const lines = commands.flatMap((command) => {
    const { name: own, summary, verbs } = command;
    const is = `complete -c falconry -n '__falconry_is ${own}`;
    const options = command.options.flatMap(({ name, short, value, negatable }) => {
      const spelt = `${is}' -l ${name}${short === undefined ? '' : ` -s ${short}`}`;
      const words = typeof value === 'object' ? ` -x -a '${value.join(' ')}'` : ' -x';
      const taken = value === undefined ? '' : (FISH_PATHS[value as 'file'] ?? words);
      return [spelt + taken, ...(negatable === undefined ? [] : [`${is}' -l no-${name}`])];
    });
    const about = summary.replaceAll("'", "\\'");
    const first = `complete -c falconry -n '__falconry_at 1' -f -a ${own} -d '${about}'`;
    const second = `${is}; and __falconry_at 2' -f -a '${verbsOf(command)}'`;
    return [first, ...(verbs === undefined ? [] : [second]), ...options];
  });
  return `# falconry completion fish > ~/.config/fish/completions/falconry.fish
function __falconry_at; test (count (commandline -opc)) -eq $argv[1]; end
function __falconry_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end
complete -c falconry -e
complete -c falconry -n '__falconry_at 1' -f -a help
complete -c falconry -n '__falconry_at 1' -f -l help -l version
complete -c falconry -n '__falconry_is help' -f -a '${namesOf(commands)}'
${lines.join('\n')}
`;
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
