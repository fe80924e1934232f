/** Several processes of `falconry serve` on one port, by the program of docs/service.md. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../middleware/support.ts';
import { blocksOf } from '../support/documentBlocks.ts';
import { cleanEnvironment, MAIN, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();

test('two serve, one that is killed is replaced, and SIGTERM ends both', async () => {
  const block = blocksOf('docs/service.md').find(({ source }) => source.includes('node:cluster'))!;
  const program = join(folder.path, 'cluster.mjs');
  writeFileSync(program, block.source.replace(/node_modules\S+main\.js/, MAIN));
  const key = 'k'.repeat(43);
  const args = ['serve', '--port', '0', '--data', join(folder.path, 'data'), '--json'];
  const primary = spawn(process.execPath, [program, '2', ...args, '--log-level', 'error'], {
    env: cleanEnvironment({ FALCONRY_FIRST_KEY: key }),
  });
  const ended = new Promise<number | null>((resolve) => primary.once('exit', resolve));
  let said = '';
  primary.stdout.on('data', (part: Buffer) => (said += part));
  let complaints = '';
  primary.stderr.on('data', (part: Buffer) => (complaints += part));
  const ready = () => said.split('\n').filter((line) => line.includes('"address"'));
  const children = () =>
    readFileSync(`/proc/${primary.pid}/task/${primary.pid}/children`, 'utf8').trim().split(' ');
  try {
    await until(() => ready().length === 2);
    const addresses = new Set(ready().map((line) => JSON.parse(line).address));
    expect([...addresses]).toEqual([expect.stringMatching(/^http:/)]);
    const [address] = addresses;
    const create = async () => {
      const headers = { authorization: key, connection: 'close' };
      return (await fetch(`${address}/v1/svc/aggsign/task`, { method: 'POST', headers })).status;
    };
    for (let i = 0; i < 6; i++) expect(await create()).toBe(201);
    const [first, second] = children();
    process.kill(Number(first), 'SIGKILL');
    await until(() => ready().length === 3);
    for (let i = 0; i < 6; i++) expect(await create()).toBe(201);
    expect(children()).toHaveLength(2);
    expect(children()).toContain(second);
    primary.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(complaints).toBe('');
  } finally {
    primary.kill('SIGKILL');
  }
});
