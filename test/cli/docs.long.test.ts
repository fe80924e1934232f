/** docs/cli.md and the README say what the commands really do. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { cliDocument } from '../../scripts/cli-docs.ts';
import { startService } from '../middleware/support.ts';
import { makeTriples } from '../middleware/triples.ts';
import { fact } from '../support/facts.ts';
import { cleanEnvironment, MAIN, temporaryFolder } from './cli.ts';

const ROOT = new URL('../../', import.meta.url);
const folder = temporaryFolder();
afterAll(() => folder.remove());

it('docs/cli.md is current: node scripts/cli-docs.ts', async () => {
  expect(readFileSync(new URL('docs/cli.md', ROOT), 'utf8')).toBe(await cliDocument());
});

it('the README’s commands run as they stand', async (context) => {
  const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
  const section = /\n## The command line\n([\s\S]*?)\n## /.exec(readme)![1]!;
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]!);
  expect(blocks.length).toBeGreaterThan(0);
  const bin = join(folder.path, 'bin');
  mkdirSync(bin);
  // `npx falconry` as it is after `npm install falconry`.
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(bin, 'npx'), 0o755);
  writeFileSync(join(folder.path, 'message.txt'), 'a message');
  writeFileSync(join(folder.path, 'task.json'), JSON.stringify(makeTriples(3)));
  const service = await startService({ threads: 1 });
  try {
    const env = cleanEnvironment({
      PATH: `${bin}:${process.env.PATH}`,
      FALCONRY_URL: `http://127.0.0.1:${service.port}`,
      FALCONRY_API_KEY: service.alice,
      FALCONRY_PORT: '0',
    });
    for (const block of blocks) {
      const { spawn } = await import('node:child_process');
      const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', block], { cwd: folder.path, env });
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (part) => (text += part));
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect([code, code === 0 ? '' : `${block}\n${text}`]).toEqual([0, '']);
    }
  } finally {
    await service.close();
  }
  const lines = blocks.join('').match(/^npx falconry/gm)!.length;
  expect(lines).toBeGreaterThan(8);
  fact(context, 'command line', `${lines} commands of the README run`);
});

it('falconry help <command> is falconry <command> --help', () => {
  const started = spawnSync(process.execPath, [MAIN, 'help', 'keygen'], { encoding: 'utf8' });
  expect(started.stdout).toMatch(/^Usage: falconry keygen/);
});
