/**
 * Writes docs/cli.md: what all commands have in common, every setting, and every help text as it is.
 * `test/cli/docs.test.ts` checks that it is current.
 */
import { writeFileSync } from 'node:fs';
import { EXIT, EXIT_MEANINGS, type ExitName } from '../src/cli/exitCodes.ts';
import { COMMANDS } from '../src/cli/main.ts';
import { effective, SERVE_SETTINGS, showValue } from '../src/cli/serveConfig.ts';
import { ALL_SETTINGS, envOf, optionOf, type Setting } from '../src/cli/settings.ts';
import { resolveOptions } from '../src/middleware/options.ts';

const exitTable = Object.entries(EXIT_MEANINGS)
  .map(([name, meaning]) => `| ${EXIT[name as ExitName]} | ${meaning} |`)
  .join('\n');

function settingRow(name: string, setting: Setting): string {
  const secret = setting.kind === 'secret';
  const option = secret ? `--${optionOf(name)}-file` : `--${optionOf(name)}`;
  const env = secret ? `${envOf(name)}, ${envOf(name)}_FILE` : envOf(name);
  const file = secret ? `${name}, ${name}File` : name;
  const also = setting.alsoEnv === undefined ? '' : `, ${setting.alsoEnv}`;
  return `| ${option} | ${env}${also} | ${file} | ${defaultOf(name, setting)} | ${setting.about} |`;
}

function defaultOf(name: string, setting: Setting): string {
  if (setting.fallbackText !== undefined) return setting.fallbackText;
  const serve = SERVE_SETTINGS.find((known) => known === name);
  const config = { values: {}, origins: {} } as Parameters<typeof effective>[1];
  const value =
    setting.fallback ?? (serve && effective(serve, config, resolveOptions({ signing: true })));
  return showValue(setting, value);
}

const settingTable = Object.entries(ALL_SETTINGS)
  .map(([name, setting]) => settingRow(name, setting))
  .join('\n');

/** The whole document. */
export async function cliDocument(): Promise<string> {
  const helps: string[] = [];
  for (const [name, load] of Object.entries(COMMANDS)) {
    const { command } = await load();
    helps.push(`## falconry ${name}\n\n\`\`\`text\n${command.help.trimEnd()}\n\`\`\`\n`);
  }
  return `# The command line

This file is written by \`node scripts/cli-docs.ts\` from the help texts themselves.

- **Files and streams.** \`-\` in place of a file is standard input or output. A file that is written is whole or not there: it is written aside, synced, and
  put in place; Ctrl-C leaves nothing behind. Key files are readable by their owner alone and never replaced.
- **Reports.** What a command makes goes to its \`-o\` file or to standard output, the report to standard output, or to standard error where standard output is
  taken. \`--quiet\` leaves the report out.
- **Progress** is drawn on standard error where that is a terminal: not in a pipe, not in a file, not with \`--json\` or \`--quiet\`. \`NO_COLOR\` takes the
  colours away, \`TERM=dumb\` the bar.
- **Mistakes.** A misspelt command, option, setting or verb is told with the one that was probably meant.
- **Secrets** are given by file or by environment, never as an option's value, which every process of the machine could read. They are in no message,
  no log and no \`serve --check\`.
- **Completion.** \`eval "$(falconry completion)"\` in \`~/.bashrc\` completes commands, verbs, options and files in bash.
- **Versions.** \`falconry --version\`; results and task files say theirs inside.

## Exit codes

| code | |
|---|---|
${exitTable}

## JSON

With \`--json\` a command answers with one line of JSON: \`{"ok": true, …}\`, or \`{"ok": false, "code": "…", "message": "…"}\`, with \`invalid\`
(\`[{"index", "reason"}]\`) where single signatures are at fault, and \`status\` and \`problem\` (RFC 9457) where a service refused. The exit code is the same
as without it. \`code\` is one of the library's and service's error codes, or \`USAGE\`, \`IO\`, \`UNREACHABLE\`. \`keys list\` and \`tasks list\` answer with an
array. Fields may be added; none is taken away or changes its meaning.

## Settings

One name in three spellings. The option goes before the environment, the environment before the file, the file before the default. The file is
\`falconry.json\` in the working directory, or what \`--config\` or \`FALCONRY_CONFIG\` names: one JSON object that may hold settings of every command.
Times are written \`90s\`, \`15m\`, \`1h\`, \`30d\`, sizes \`500kB\`, \`32MiB\`; bare numbers are seconds and bytes. An empty variable is as good as none.
\`FALCONRY_DEBUG=1\` adds the stack to a failure of falconry itself.

| option | environment | file | default | |
|---|---|---|---|---|
${settingTable}

\`falconry serve --check\` tells what a configuration comes to and where each value is from, and looks for faults: port, addresses, trust in proxies, signing in
production, data and its rights, room on the disk, database (locked, newer, damaged), clock, API keys, threads, memory. It ends with 1 when there is one.

${helps.join('\n')}`;
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(new URL('../docs/cli.md', import.meta.url), await cliDocument());
}
