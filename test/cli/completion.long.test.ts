/** Completion, asked of the real shells. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/main.ts';
import { fact } from '../support/facts.ts';
import { skipLoudly } from '../support/postgres.ts';
import { cleanEnvironment, falconryHere, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const options = { cwd: folder.path, encoding: 'utf8', env: cleanEnvironment() } as const;

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await falconryHere(['completion', shell]);
    expect(code).toBe(0);
    writeFileSync(join(folder.path, shell), out);
  }
  mkdirSync(join(folder.path, 'tasks-of-today'));
  writeFileSync(join(folder.path, 'task.json'), '');
});

/** What a shell offers for a word after these. */
type Complete = (...words: string[]) => string[];

function bash(...words: string[]): string[] {
  const script = `. ./bash
    COMP_WORDS=(falconry ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
    _falconry; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync('bash', ['-eu', '-c', script], options);
  return out.split('\n').filter(Boolean).toSorted();
}

function fish(...words: string[]): string[] {
  const script = `source fish; complete -C 'falconry ${words.join(' ')}'`;
  const out = execFileSync('fish', ['--no-config', '-c', script], options);
  const offered = out.split('\n').filter(Boolean);
  return offered.map((line) => line.split('\t')[0]!.replace(/\/$/, '')).toSorted();
}

/** An interactive zsh in a pseudo-terminal of another: Tab completes, ^X prints the line. */
function zsh(...words: string[]): string[] {
  const script = `
    zmodload zsh/zpty
    zpty one zsh -f -i
    zpty -w one 'PS1= RPS1= ; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D'
    zpty -w one '. ./zsh'
    zpty -w one 'show() { print -r -- "<<$BUFFER>>" }; zle -N show; bindkey "^X" show'
    # What is typed is shown, too: only the answer has a figure.
    zpty -w one 'print READY$(( 6 * 7 ))'
    zpty -r one seen '*READY42*'
    zpty -w -n one $'falconry ${words.join(' ')}\\t\\x18'
    zpty -r one seen '*<<*>>*'
    print -r -- "$seen"
    zpty -d one`;
  const { stdout } = spawnSync('zsh', ['-f', '-c', script], { ...options, timeout: 100_000 });
  const line = /<<falconry ([^>]*)>>/.exec(stdout)?.[1] ?? stdout;
  return [line.trimEnd().split(/[ =]/).at(-1)!.replace(/\/$/, '')];
}

describe.each([
  ['bash', bash as Complete],
  ['fish', fish as Complete],
])('%s', (name, complete) => {
  const found = spawnSync(name, ['--version']).status === 0;
  if (!found) {
    skipLoudly(`${name} completes`, `the Debian package ${name}`);
    return;
  }

  it('knows every command', (context) => {
    const commands = Object.keys(COMMANDS);
    expect(complete('')).toEqual(expect.arrayContaining([...commands, 'help']));
    expect(complete('verify')).toEqual(['verify', 'verify-aggregate']);
    expect(complete('help', 'key')).toEqual(['key', 'keygen', 'keys']);
    fact(context, 'command line', `${commands.length} commands are completed by ${name}`);
  });

  it('knows every option, with its opposite', async () => {
    expect(complete('serve', '--pub')).toEqual(['--public-url']);
    expect(complete('serve', '--no-sign')).toEqual(['--no-signing']);
    for (const command of ['aggregate', 'serve', 'doctor'].filter((each) => each in COMMANDS)) {
      const { options: known } = (await COMMANDS[command]!()).command;
      const all = known.map(({ name: each }) => `--${each}`);
      const offered = complete(command, '--').map((each) => each.replace(/=$/, ''));
      expect(offered).toEqual(expect.arrayContaining(all));
    }
  });

  it.each([
    ['aggregate', '--format', ['auto', 'bundle', 'proof']],
    ['keygen', '--set', ['falcon1024', 'falcon512']],
    ['keygen', '--key-format', ['bare', 'der', 'extended', 'json', 'jwk', 'pem', 'raw']],
    ['verify', '--format', ['compressed', 'constantTime', 'padded']],
    ['sign', '--salt', ['derived', 'random']],
    ['serve', '--transfers', ['direct', 'through']],
  ])('knows the values of %s %s', (command, option, values) => {
    expect(complete(command, option, '')).toEqual(values);
  });

  it('knows the states of tasks, and the verbs', () => {
    expect(complete('tasks', 'list', '--status', 'c')).toEqual([
      'cancelled',
      'completed',
      'created',
    ]);
    expect(complete('tasks', 'c')).toEqual(['cancel']);
    expect(complete('completion', 'z')).toEqual(['zsh']);
  });

  it('knows files and directories, and where they do not belong', () => {
    expect(complete('verify', 'task')).toEqual(['task.json', 'tasks-of-today']);
    expect(complete('sign', '--key', 'task')).toEqual(['task.json', 'tasks-of-today']);
    expect(complete('serve', '--data', 'task')).toEqual(['tasks-of-today']);
    expect(complete('serve', '--port', 'task')).toEqual([]);
  });
});

it('bash takes --option=value apart', () => {
  expect(bash('aggregate', '--format', '=', '')).toEqual(['auto', 'bundle', 'proof']);
  expect(bash('aggregate', '--format', '=')).toEqual(['auto', 'bundle', 'proof']);
  expect(bash('aggregate', '--format', '=', 'p')).toEqual(['proof']);
});

describe('zsh', () => {
  if (!existsSync('/usr/bin/zsh')) {
    skipLoudly('zsh completes', 'the Debian package zsh');
    return;
  }

  it.each([
    [['keyg'], 'keygen'],
    [['help', 'keyg'], 'keygen'],
    [['tasks', 'ca'], 'cancel'],
    [['serve', '--pub'], '--public-url'],
    [['serve', '--no-sign'], '--no-signing'],
    [['aggregate', '--format', 'pr'], 'proof'],
    [['aggregate', '--format=pr'], 'proof'],
    [['keygen', '--set', 'falcon5'], 'falcon512'],
    [['verify', 'task.'], 'task.json'],
    [['serve', '--data', 'ta'], 'tasks-of-today'],
    [['serve', '--port', 'ta'], 'ta'],
  ])('%j becomes %s', (words, whole) => {
    expect(zsh(...words)).toEqual([whole]);
  });
});

describe('mistakes', () => {
  it('names the nearest shell', async () => {
    const { code, err } = await falconryHere(['completion', 'fisch']);
    expect(code).toBe(2);
    expect(err).toContain('there is no "completion fisch"; did you mean fish?');
  });

  it('is that for bash without a name', async () => {
    const [named, bare] = [
      await falconryHere(['completion', 'bash']),
      await falconryHere(['completion']),
    ];
    expect(bare.out).toBe(named.out);
  });
});
