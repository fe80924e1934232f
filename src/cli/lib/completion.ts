/** `falconry completion`: scripts for shells, generated from the data of the commands. */
import type { Command, CommandFacts } from './command.ts';
import { defineCommand } from './define.ts';

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
    },
  });

type Commands = readonly CommandFacts[];
const FIRST = 'help --help --version';
const namesOf = (commands: Commands) => commands.map(({ name }) => name).join(' ');
const verbsOf = ({ verbs = {} }: CommandFacts) => Object.keys(verbs).join(' ');

/** One case of bash and zsh: the options and verbs of a command, and what follows its options. */
function caseOf(command: CommandFacts): string {
  const flags: string[] = [];
  const kinds: string[] = [];
  for (const { name, short, negatable, value } of command.options) {
    const spellings = short ? [`--${name}`, `-${short}`] : [`--${name}`];
    flags.push(...spellings, ...(negatable ? [`--no-${name}`] : []));
    if (value === undefined) continue;
    const kind = typeof value === 'object' ? `values values="${value.join(' ')}"` : value;
    kinds.push(`${spellings.join('|')}) kind=${kind} ;;`);
  }
  return `    ${command.name}) flags="${flags.join(' ')}" verbs="${verbsOf(command)}"
      case "$previous" in ${kinds.join('\n      ')} esac ;;\n`;
}

const bashScript = (commands: Commands) => `# eval "$(falconry completion bash)"
_falconry() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local flags="" verbs="" values="" kind="" offered=""
  # --format=proof comes as three words.
  if [ "$word" = = ]; then word=""
  elif [ "$previous" = = ]; then previous="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  case "\${COMP_WORDS[1]}" in
${commands.map(caseOf).join('')}  esac
  if [ "$COMP_CWORD" -eq 1 ] || [ "\${COMP_WORDS[1]}" = help ]; then
    offered="${namesOf(commands)} ${FIRST}"
  elif [ "$kind" = values ]; then offered="$values"
  elif [ "$kind" = directory ]; then COMPREPLY=($(compgen -d -- "$word")); return
  elif [ "\${kind:-file}" != file ]; then COMPREPLY=(); return
  elif [ -z "$kind" ] && [ "\${word#-}" != "$word" ]; then offered="$flags"
  elif [ -z "$kind" ] && [ "$COMP_CWORD" -eq 2 ] && [ -n "$verbs" ]; then offered="$verbs"
  else COMPREPLY=($(compgen -f -- "$word")); return
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$word"))
}
complete -o filenames -F _falconry falconry
`;

const zshScript = (commands: Commands) => `#compdef falconry
_falconry() {
  local previous=\${words[CURRENT - 1]} word=\${words[CURRENT]} flags verbs values kind
  # --format=proof is one word.
  if [[ $word == --*=* ]]; then previous=\${word%%=*}; compset -P '*='; fi
  case $words[2] in
${commands.map(caseOf).join('')}  esac
  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then
    compadd -- ${namesOf(commands)} ${FIRST}
  elif [[ $kind == values ]]; then compadd -- \${=values}
  elif [[ $kind == directory ]]; then _files -/
  elif [[ \${kind:-file} != file ]]; then _message value
  elif [[ -z $kind && $word == -* ]]; then compadd -- \${=flags}
  elif (( CURRENT == 3 && \${#verbs} )) && [[ -z $kind ]]; then compadd -- \${=verbs}
  else _files
  fi
}
if [[ $funcstack[1] == _falconry ]]; then _falconry "$@"; else compdef _falconry falconry; fi
`;

const FISH_PATHS = { file: ' -r -F', directory: " -x -a '(__fish_complete_directories)'" };

function fishScript(commands: Commands): string {
  const lines = commands.flatMap((command) => {
    const is = `complete -c falconry -n '__falconry_is ${command.name}`;
    const options = command.options.flatMap(({ name, short, value, negatable }) => {
      const spelt = `${is}' -l ${name}${short ? ` -s ${short}` : ''}`;
      const words = typeof value === 'object' ? ` -x -a '${value.join(' ')}'` : ' -x';
      const taken = value ? (FISH_PATHS[value as 'file'] ?? words) : '';
      return [spelt + taken, ...(negatable ? [`${is}' -l no-${name}`] : [])];
    });
    const about = command.summary.replaceAll("'", "\\'");
    const first = `complete -c falconry -n '__falconry_at 1' -f -a ${command.name} -d '${about}'`;
    const second = `${is}; and __falconry_at 2' -f -a '${verbsOf(command)}'`;
    return [first, ...(command.verbs ? [second] : []), ...options];
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
