/** `falconry top` on a terminal, made by `script` of util-linux, and without one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Running, falconry as start } from '../middleware/process.ts';
import { fact } from '../support/facts.ts';
import { cleanEnvironment, MAIN, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const SCRIPT = '/usr/bin/script';
const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape is what is looked for
const ANY_ESCAPE = /\x1b\[\??\d*[A-Za-z]/g;

let server: Running;
let metrics: string;
const children: ChildProcess[] = [];

/** `T` for a process that was stopped. */
const stateOf = (pid: number) => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];

beforeAll(async () => {
  server = start([
    ...['serve', '--port', '0', '--metrics-port', '0', '--data', folder.path, '--json'],
  ]);
  const [line] = await server.printed(/^\{"ok":true.*\}\n/);
  metrics = `http://127.0.0.1:${JSON.parse(line).metrics_port}`;
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(async () => {
  server.kill('SIGKILL');
  await server.ended;
  folder.remove();
});

/** A terminal of this size, in which `falconry top` runs; its shell tells the process's number. */
function onTerminal(columns: number, env: NodeJS.ProcessEnv = {}, more = '') {
  const top = `'${process.execPath}' '${MAIN}' top --interval 100ms --metrics-url ${metrics}`;
  // The terminal's settings are told before and after.
  const line = `stty cols ${columns} rows 30; stty -g; ${top} & pid=$!; echo pid $pid; ${more}
    wait $pid; echo ended $?; stty -g`;
  const child = spawn(SCRIPT, ['-qec', line, '/dev/null'], {
    env: cleanEnvironment({ TERM: 'xterm', LC_ALL: 'C.UTF-8', ...env }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let text = '';
  let look = () => {};
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    look();
  });
  const shown = (fits: (text: string) => boolean) =>
    new Promise<string>((resolve) => {
      look = () => {
        if (fits(text)) resolve(text);
      };
      look();
    });
  const ended = new Promise<string>((resolve) => child.on('close', () => resolve(text)));
  const pid = async () => {
    const seen = await shown((each) => /pid \d+\r?\n/.test(each));
    return Number(/pid (\d+)/.exec(seen)![1]);
  };
  return { shown, ended, pid };
}

const drawings = (text: string) => text.split('\x1b[H').slice(1);

describe.runIf(existsSync(SCRIPT))('on a terminal', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'draws look after look, and gives the terminal back at %s',
    async (signal) => {
      const terminal = onTerminal(100);
      const pid = await terminal.pid();
      await terminal.shown((text) => drawings(text).length >= 4);
      process.kill(pid, signal);
      const text = await terminal.ended;
      expect(text).toContain('ended 0');
      expect(text.split(ENTER)).toHaveLength(2);
      expect(text.split(LEAVE)).toHaveLength(2);
      expect(text.indexOf(LEAVE)).toBeGreaterThan(text.lastIndexOf('\x1b[H'));
      expect(drawings(text).at(-2)).toMatch(/server.*ready/);
      expect(text).toContain('\x1b[32mready');
      const settings = text.match(/^[0-9a-f]+(:[0-9a-f]+){10,}\r?$/gm)!;
      expect(settings).toHaveLength(2);
      expect(settings[1]).toBe(settings[0]);
    },
  );

  it('no line is wider than a narrow terminal; NO_COLOR takes the colours', async (context) => {
    const terminal = onTerminal(40, { NO_COLOR: '1' });
    const pid = await terminal.pid();
    await terminal.shown((text) => drawings(text).length >= 3);
    process.kill(pid, 'SIGINT');
    const text = await terminal.ended;
    const lines = drawings(text.slice(0, text.indexOf(LEAVE)))
      .flatMap((drawing) => drawing.split('\r\n'))
      .map((line) => line.replaceAll(ANY_ESCAPE, '').replaceAll('\r', ''));
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => line.length > 39)).toEqual([]);
    expect(text).not.toContain('\x1b[32m');
    fact(context, 'command line', `falconry top on a real pseudo-terminal: ${lines.length} lines`);
  });

  it('follows the size of the terminal', async () => {
    const terminal = onTerminal(40, { NO_COLOR: '1' }, 'sleep 1; stty cols 120;');
    const pid = await terminal.pid();
    const widest = (text: string) =>
      Math.max(...drawings(text).flatMap((each) => each.split('\r\n').map((line) => line.length)));
    await terminal.shown((text) => drawings(text).length > 0 && widest(text) > 80);
    process.kill(pid, 'SIGINT');
    expect(await terminal.ended).toContain('ended 0');
  });

  it('put aside and taken up again, gives the terminal back and takes it anew', async () => {
    const terminal = onTerminal(100);
    const pid = await terminal.pid();
    await terminal.shown((text) => drawings(text).length >= 2);
    process.kill(pid, 'SIGTSTP');
    await terminal.shown((text) => text.includes(LEAVE));
    // It stops itself after that: going on comes later, or it is lost.
    await expect.poll(() => stateOf(pid)).toBe('T');
    process.kill(pid, 'SIGCONT');
    await terminal.shown((text) => text.split(ENTER).length === 3);
    process.kill(pid, 'SIGINT');
    const text = await terminal.ended;
    expect(text.split(LEAVE)).toHaveLength(3);
  });

  it('TERM=dumb: every look is printed, and nothing else', async () => {
    const terminal = onTerminal(100, { TERM: 'dumb' });
    const pid = await terminal.pid();
    await terminal.shown((text) => text.split('server ').length >= 3);
    process.kill(pid, 'SIGKILL');
    expect(await terminal.ended).not.toContain('\x1b[');
  });
});

describe('without a terminal', () => {
  it('prints look after look, as lines of JSON if asked', async () => {
    const top = start(['top', '--json', '--interval', '100ms', '--metrics-url', metrics]);
    const [text] = await top.printed(/^(\{.*\}\n){3}/);
    top.kill('SIGKILL');
    await top.ended;
    for (const line of text.trim().split('\n')) {
      expect(JSON.parse(line)).toMatchObject({ ok: true, state: 'running' });
    }
    const plain = start(['top', '--interval', '100ms', '--metrics-url', metrics]);
    const [lines] = await plain.printed(/server [\s\S]*server [\s\S]*server /);
    plain.kill('SIGKILL');
    await plain.ended;
    expect(lines).not.toContain('\x1b');
  });

  it('ends when the server does', async () => {
    const data = temporaryFolder();
    const other = start([
      ...['serve', '--port', '0', '--metrics-port', '0', '--data', data.path, '--json'],
    ]);
    const [line] = await other.printed(/^\{"ok":true.*\}\n/);
    const url = `http://127.0.0.1:${JSON.parse(line).metrics_port}`;
    const top = start(['top', '--json', '--interval', '100ms', '--metrics-url', url]);
    await top.printed(/^\{"ok":true.*\}\n/);
    other.kill('SIGKILL');
    await other.ended;
    const { code, stdout } = await top.ended;
    expect(code).toBe(4);
    expect(stdout.trim().split('\n').at(-1)).toContain('"code":"UNREACHABLE"');
    data.remove();
  });
});
