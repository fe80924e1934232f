/** The completion script for zsh. */
import { FIRST, type KnownCommand, type KnownOption, spellings } from './knownCommands.ts';

/** The script: evaluated in `~/.zshrc`, or as the file `_falconry` in a directory of `$fpath`. */
export function zshScript(commands: readonly KnownCommand[]): string {
  const described = commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`);
  return `#compdef falconry
# Completion of falconry for zsh: eval "$(falconry completion zsh)", after compinit
_falconry() {
  local -a known flags verbs values
  local kind= previous=\${words[CURRENT - 1]} word=\${words[CURRENT]}
  known=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command known
    compadd -- ${FIRST.join(' ')}
    return
  fi
  if [[ $words[2] == help ]]; then
    _describe command known
    return
  fi
  # --format=proof is one word.
  if [[ $word == --*=* ]]; then
    previous=\${word%%=*}
    compset -P '*='
  fi
  case $words[2] in
${commands.map(caseOf).join('\n')}
  esac
  case $kind in
    values) compadd -- $values; return ;;
    file) _files; return ;;
    directory) _files -/; return ;;
    text) _message value; return ;;
  esac
  if [[ $word == -* ]]; then
    compadd -- $flags
  elif (( CURRENT == 3 && $#verbs )); then
    compadd -- $verbs
  else
    _files
  fi
}
if [[ $funcstack[1] == _falconry ]]; then
  _falconry "$@"
else
  compdef _falconry falconry
fi
`;
}

function caseOf({ name, verbs, options }: KnownCommand): string {
  return `    ${name})
      flags=(${spellings(options).join(' ')}); verbs=(${verbs.join(' ')})
      case $previous in
${options.flatMap(takenBy).join('\n')}
      esac ;;`;
}

function takenBy({ name, short, values }: KnownOption): string[] {
  if (values === undefined) return [];
  const pattern = short === undefined ? `--${name}` : `--${name}|-${short}`;
  const kind = typeof values === 'string' ? values : `values; values=(${values.join(' ')})`;
  return [`        ${pattern}) kind=${kind} ;;`];
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
