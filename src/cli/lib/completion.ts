/** `falconry completion`: scripts for shells, made from the definitions of the commands. */
import { type Command, UsageError } from './command.ts';
import { bashScript } from './completionBash.ts';
import { fishScript } from './completionFish.ts';
import { zshScript } from './completionZsh.ts';
import { defineCommand } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { known } from './knownCommands.ts';
import { hint } from './suggest.ts';

const help = `Usage: falconry completion [bash | zsh | fish]

Prints a script that completes commands, verbs, options, their values, and files. Without a name it
is that for bash.

  bash             in ~/.bashrc:  eval "$(falconry completion bash)"
  zsh              in ~/.zshrc, after compinit:  eval "$(falconry completion zsh)"
                   or as the file _falconry in a directory of $fpath
  fish             once:  falconry completion fish > ~/.config/fish/completions/falconry.fish
      --json       report mistakes as one line of JSON
  -q, --quiet      no effect: the script is all there is
  -h, --help       this text

Examples
  falconry completion bash > falconry.bash
  falconry completion zsh > _falconry
  falconry completion fish > falconry.fish

${exitHelp('usage')}`;

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const NAMES = Object.keys(SHELLS);

/** The command; it asks for all commands when it runs. */
export const completionCommand = (commands: () => Promise<readonly Command[]>): Command =>
  defineCommand({
    name: 'completion',
    summary: 'print a completion script for bash, zsh or fish',
    help,
    verbs: NAMES,
    writesToStdout: () => true,
    async execute({ io, positionals }) {
      const [shell = 'bash', ...more] = positionals;
      if (more.length > 0) throw new UsageError(`unexpected argument ${more[0]}`);
      if (!isShell(shell)) {
        throw new UsageError(`there is no completion for ${shell}${hint(shell, NAMES)}`);
      }
      io.stdout.write(SHELLS[shell]((await commands()).map(known)));
      return EXIT.ok;
    },
  });

const isShell = (name: string): name is keyof typeof SHELLS => Object.hasOwn(SHELLS, name);
