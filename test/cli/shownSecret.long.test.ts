/** Secrets are on a terminal only for those who ask; files and pipes get them as ever. */
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fact } from '../support/facts.ts';
import { falconry, temporaryFolder } from './cli.ts';
import { falconryOnTerminal, HAS_TERMINAL } from './pseudoTerminal.ts';

const folder = temporaryFolder();
const KEY = /falconry_[\w-]{20}/;
const SECRET = /secret_key|PRIVATE KEY|"d"|falconry_[\w-]{20}|whsec_/;
const on = (args: string) => falconryOnTerminal(args, { cwd: folder.path });
const keysOf = async () =>
  JSON.parse((await falconry(folder.path, ['keys', 'list', '--json'])).out);

beforeAll(async () => {
  const { code } = await falconry(folder.path, ['keys', 'create', '--name', 'alice']);
  expect(code).toBe(0);
});

describe.runIf(HAS_TERMINAL)('on a terminal', () => {
  const MAKERS = [
    'keygen',
    'keygen --key-format pem --public public.pem',
    'keygen -o - --json',
    'keys create --name bob',
    'keys create --quiet',
    'keys create --json',
  ];

  it.each(MAKERS)('%s makes nothing, and says what to do', async (command) => {
    const before = await keysOf();
    const { code, text } = await on(command);
    expect(code).toBe(2);
    expect(text).toMatch(/would be shown on this terminal: .*(-o|>).*, or --show/);
    expect(text).not.toMatch(SECRET);
    expect(await keysOf()).toEqual(before);
    expect(existsSync(join(folder.path, 'public.pem'))).toBe(false);
  });

  it('so does keys rotate', async () => {
    const [{ sha256 }] = await keysOf();
    const { code, text } = await on(`keys rotate ${sha256}`);
    expect([code, SECRET.test(text)]).toEqual([2, false]);
    expect(await keysOf()).toHaveLength(1);
  });

  it.each(MAKERS)('%s --show shows it', async (command) => {
    const { code, text } = await on(`${command} --show`);
    expect([code, SECRET.test(text)]).toEqual([0, true]);
  });

  it.each([
    'keygen -o key.json',
    'keygen > piped.json',
    'keys create | cat > created.key',
    'keygen --set falcon1024 | wc -c',
  ])('%s is nothing new', async (command) => {
    const { code, text } = await on(command);
    expect([code, SECRET.test(text)]).toEqual([0, false]);
  });

  it('an encrypted key is no secret', async (context) => {
    const { code, text } = await falconryOnTerminal('keygen --encrypt', {
      cwd: folder.path,
      env: { FALCONRY_PASSPHRASE: 'of the test' },
    });
    expect(code).toBe(0);
    expect(text).toContain('BEGIN ENCRYPTED PRIVATE KEY');
    const count = MAKERS.length + 1;
    fact(context, 'command line', `${count} commands show no secret on a terminal unasked`);
  });

  describe('the first start', () => {
    const serve = (name: string, more = '') => {
      mkdirSync(join(folder.path, name));
      const ends = /list your tasks[\s\S]*Auth|"api_key"/;
      const cwd = join(folder.path, name);
      return falconryOnTerminal(`serve --port 0 --data . ${more}`, { cwd, ends });
    };
    const file = (name: string) => join(folder.path, name, 'first-api-key');

    it.each(['', '--json'])('writes its key to a file %s', async (more) => {
      const name = `file${more}`;
      const { text } = await serve(name, more);
      expect(text).not.toMatch(KEY);
      expect(text).toContain(file(name));
      expect(readFileSync(file(name), 'utf8')).toMatch(KEY);
      expect(statSync(file(name)).mode & 0o777).toBe(0o600);
    });

    it.each(['--show', '--show --json'])('shows it instead with %s', async (more) => {
      const name = `shown${more.replaceAll(' ', '')}`;
      const { text } = await serve(name, more);
      expect(text).toMatch(KEY);
      expect(existsSync(file(name))).toBe(false);
      const links = [...text.matchAll(/(http:\/\/127\.0\.0\.1:\d+)\/v1\/ui#key=(\S+)/g)];
      expect(links.map(([, , key]) => key)).toEqual(
        more.includes('json') ? [] : [/FALCONRY_API_KEY=(\S+)/.exec(text)?.[1]],
      );
    });

    it.each(['--host 0.0.0.0', '--no-ui'])('gives no link with %s', async (more) => {
      const { text } = await serve(`plain${more.replaceAll(' ', '')}`, `--show ${more}`);
      expect(text).toMatch(KEY);
      expect(text).not.toContain('#key=');
    });
  });
});

describe('without a terminal', () => {
  it('secrets go where they are sent', async () => {
    for (const args of [['keygen'], ['keys', 'create']]) {
      const { code, out } = await falconry(folder.path, args);
      expect([args, code, SECRET.test(out)]).toEqual([args, 0, true]);
    }
  });

  it('--show belongs to what makes a key', async () => {
    const { code, err } = await falconry(folder.path, ['keys', 'list', '--show']);
    expect(code).toBe(2);
    expect(err).toContain('"keys list" has no option --show');
  });
});
