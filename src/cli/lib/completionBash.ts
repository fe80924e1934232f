/** The completion script for bash. */
import { FIRST, type KnownCommand, type KnownOption, spellings } from './knownCommands.ts';

/** The script, for `eval "$(falconry completion bash)"` in `~/.bashrc`. */
export function bashScript(commands: readonly KnownCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  return `# Completion of falconry for bash: eval "$(falconry completion bash)"
_falconry() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local options="" verbs="" values="" kind=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names} ${FIRST.join(' ')}" -- "$word"))
    return
  fi
  if [ "\${COMP_WORDS[1]}" = help ]; then
    COMPREPLY=($(compgen -W "${names}" -- "$word"))
    return
  fi
  # --format=proof comes as three words.
  if [ "$word" = = ]; then
    word=""
  elif [ "$previous" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
    previous="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  case "\${COMP_WORDS[1]}" in
${commands.map(caseOf).join('\n')}
  esac
  case "$kind" in
    values) COMPREPLY=($(compgen -W "$values" -- "$word")); return ;;
    file) COMPREPLY=($(compgen -f -- "$word")); return ;;
    directory) COMPREPLY=($(compgen -d -- "$word")); return ;;
    text) COMPREPLY=(); return ;;
  esac
  if [ "\${word#-}" != "$word" ]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$verbs" ]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _falconry falconry
`;
}

function caseOf({ name, verbs, options }: KnownCommand): string {
  return `    ${name})
      options="${spellings(options).join(' ')}"; verbs="${verbs.join(' ')}"
      case "$previous" in
${options.flatMap(takenBy).join('\n')}
      esac ;;`;
}

function takenBy({ name, short, values }: KnownOption): string[] {
  if (values === undefined) return [];
  const pattern = short === undefined ? `--${name}` : `--${name} | -${short}`;
  const kind = typeof values === 'string' ? values : `values; values="${values.join(' ')}"`;
  return [`        ${pattern}) kind=${kind} ;;`];
}
