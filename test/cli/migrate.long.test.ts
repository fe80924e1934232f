/** `falconry migrate` on a real server: what it says, its exit codes, and what it hides. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LAST_OLD_STEP, STEPS } from '../../src/middleware/stores/postgres/schema.ts';
import { overPostgres } from '../support/postgres.ts';
import { falconryHere, temporaryFolder } from './cli.ts';

const TO = LAST_OLD_STEP + STEPS.length;
const PASSWORD = 'hunter2hunter2';
const folder = temporaryFolder();

it('takes addresses from where others cannot read them', async () => {
  const run = (args: string[], env: NodeJS.ProcessEnv = {}) =>
    falconryHere(['migrate', ...args], env);
  const nowhere = 'host=%2Fnowhere';
  const secret = `postgres://me:${PASSWORD}@localhost/db?${nowhere}`;
  const file = join(folder.path, 'address');
  writeFileSync(file, `${secret}\n`);
  const refused = [
    await run(['--database', secret]),
    await run(['--database', `postgres://localhost/db?password=${PASSWORD}`]),
    await run(['--database', `me:${PASSWORD}@localhost`]),
  ];
  for (const { code, out, err } of refused) {
    expect(code).toBe(2);
    expect(err).toMatch(/--database may hold no password/);
    expect(out + err).not.toContain(PASSWORD);
  }
  const unreachable = [
    await run(['--database', `postgres://me@localhost/db?${nowhere}`]),
    await run(['--database-file', file]),
    await run([], { FALCONRY_DATABASE: secret }),
    await run([], { FALCONRY_DATABASE_FILE: file }),
    await run(['--json'], { FALCONRY_DATABASE: 'postgres://a', FALCONRY_DATABASE_DIRECT: secret }),
  ];
  for (const { code, out, err } of unreachable) {
    expect(code).toBe(3);
    expect(out + err).toMatch(/The store cannot be reached \(ENOENT: /);
    expect(out + err).not.toContain(PASSWORD);
  }
  for (const value of [`${secret}&pooled=1`, `http://me:${PASSWORD}@host`]) {
    const { code, err } = await run([], { FALCONRY_DATABASE: value });
    expect([code, err]).toEqual([2, expect.stringMatching(/must be/)]);
    expect(err).not.toContain(PASSWORD);
  }
  const wrong = [await run([]), await run(['--check', '--dry-run']), await run(['up'])];
  expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2]);
});

overPostgres('newest', (server) => {
  it('says what is to be done, does it, and finds it done', async () => {
    const run = async (...args: string[]) => {
      const { code, out } = await falconryHere(['migrate', '--database', server().url, ...args]);
      return [code, out];
    };
    const steps = STEPS.map(({ about }, i) => ({ step: LAST_OLD_STEP + i + 1, about }));
    expect(await run('--check')).toEqual([1, expect.stringMatching(/^Steps to take:\n {2}5 {2}/)]);
    expect(await run('--dry-run')).toEqual([0, expect.stringMatching(/^Steps to take:/)]);
    const [code, line] = await run('--check', '--json');
    expect(code).toBe(1);
    const facts = { from: 0, to: TO, steps };
    expect(JSON.parse(String(line))).toEqual({ ok: false, taken: false, ...facts, warnings: [] });
    expect(await run()).toEqual([0, expect.stringMatching(/^Steps taken:\n {2}5 {2}/)]);
    expect(await run()).toEqual([0, `The schema is up to date (step ${TO}).\n`]);
    expect(await run('--check', '--quiet')).toEqual([0, '']);
    await server().query('ALTER TABLE falconry.secrets SET UNLOGGED');
    const message = 'unlogged, so a crash empties them: secrets';
    expect(await run()).toEqual([0, expect.stringContaining(`\nWarning: ${message}\n`)]);
    const doctor = ['doctor', '--database', server().url, '--port', '0', '--json'];
    const bucket = ['--blobs', 's3://bucket', '--s3-endpoint', 'http://127.0.0.1:9'];
    const { findings } = JSON.parse((await falconryHere([...doctor, ...bucket])).out);
    expect(findings).toContainEqual({ level: 'warning', check: 'database', message });
    await server().query('ALTER TABLE falconry.secrets SET LOGGED');
    await server().query('INSERT INTO falconry.migrations (step, oldest_reader) VALUES (99, 99)');
    const newer = await falconryHere(['migrate', '--database', server().url]);
    expect([newer.code, newer.err]).toEqual([3, expect.stringMatching(/newer version/)]);
  });

  it('refuses tables from before 0.1.0', async () => {
    await server().query('DELETE FROM falconry.migrations');
    await server().query('INSERT INTO falconry.migrations (step, oldest_reader) VALUES (3, 1)');
    for (const args of [[], ['--check'], ['--dry-run']]) {
      const { code, err } = await falconryHere(['migrate', '--database', server().url, ...args]);
      expect([code, err]).toEqual([3, expect.stringMatching(/made before falconry 0\.1\.0/)]);
    }
    expect(await server().query('SELECT step FROM falconry.migrations')).toEqual([{ step: 3 }]);
  });
});
