/** Completion of commands, verbs and options in bash, from the commands themselves. */
import type { Command } from './command.ts';

/** Verbs of commands. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  keys: ['create', 'list', 'rotate', 'revoke'],
  rotate: ['urls', 'signing'],
  tasks: ['list', 'show', 'wait', 'result', 'cancel', 'delete'],
};

/** The script, for `eval "$(falconry completion)"` in `~/.bashrc`. */
export function completionScript(commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name);
  const first = [...names, 'help', 'completion', '--help', '--version'].join(' ');
  const cases = commands.map(({ name, options }) => {
    const words = Object.entries(options).flatMap(([option, { type, short }]) => [
      `--${option}`,
      ...(type === 'boolean' && !COMMON.includes(option) ? [`--no-${option}`] : []),
      ...(short === undefined ? [] : [`-${short}`]),
    ]);
    const verbs = VERBS[name] ?? [];
    return `    ${name}) options="${words.join(' ')}"; verbs="${verbs.join(' ')}" ;;`;
  });
  return `# Completion of falconry for bash: eval "$(falconry completion)"
_falconry() {
  local word="\${COMP_WORDS[COMP_CWORD]}" options="" verbs=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${first}" -- "$word"))
    return
  fi
  if [ "\${COMP_WORDS[1]}" = help ]; then
    COMPREPLY=($(compgen -W "${names.join(' ')}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
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

const COMMON: readonly string[] = ['help', 'json', 'quiet'];
