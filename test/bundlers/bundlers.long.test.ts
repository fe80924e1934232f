/**
 * The packed library in every bundler, its result really run: `falcon512` works, the pool and the
 * aggregate do their work on the threads that docs/bundlers.md says, and nothing is rejected or
 * hangs where there are none.
 */
import { readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { fact } from '../support/facts.ts';
import { closeBrowsers, HAS } from './browsers.ts';
import { CASES } from './cases.ts';
import { type NextReport, tryNext } from './next.ts';
import { OUTSIDE } from './outside.ts';
import { command, install, removeProjects, versionOf } from './project.ts';
import { type JobReport, lineOf } from './report.ts';

const LONG = { timeout: 300_000 };
const table = await readFile(new URL('../../docs/bundlers.md', import.meta.url), 'utf8');

beforeAll(install, 600_000);
afterAll(async () => {
  await closeBrowsers();
  await removeProjects();
});

/** All work is done and right, and the line of the table is that of this run. */
async function judge(
  context: TestContext,
  report: JobReport,
  [name, how, host]: readonly [name: string, how: string, host: string],
): Promise<void> {
  expect(report).toMatchObject({
    falcon512: true,
    verifyPool: { correct: true },
    aggregate: { correct: true },
  });
  const line = lineOf({ bundler: `${name} ${await versionOf(name)}`, how, host, report });
  fact(context, 'bundlers', line.slice(2, -2));
  expect(table.split('\n').includes(line), `docs/bundlers.md lacks the line ${line}`).toBe(true);
}

const missing = (host: string): boolean => host in HAS && !HAS[host as keyof typeof HAS];

test.for(CASES.map((each) => [each.bundler, each.how, each.host, each] as const))(
  '%s, %s, in %s',
  LONG,
  async ([bundler, how, host, { run }], context) => {
    if (missing(host)) return context.skip(`no ${host} on this machine`);
    await judge(context, await run(), [bundler, how, host]);
  },
);

describe.for([false, true])('next, serverExternalPackages: %s', (external) => {
  const setting = external ? "`serverExternalPackages: ['falconry']`" : 'as it is';
  let report: NextReport;
  beforeAll(async () => {
    report = await tryNext(external);
  }, 600_000);

  test('a client component', LONG, async (context) => {
    if (report.client === undefined) return context.skip('no Chromium on this machine');
    await judge(context, report.client, ['next', `client component, ${setting}`, 'Chromium']);
  });

  test('a server component', LONG, async (context) => {
    await judge(context, report.server, ['next', `server component, ${setting}`, 'Node']);
  });

  test('a route handler with the service: a task is done', LONG, (context) => {
    expect(report.route).toEqual({ checked: true });
    fact(context, 'bundlers', `next, route handler with the service, ${setting}: a task is done`);
  });
});

describe('a bundle of a server that leaves the package out', () => {
  test.for(OUTSIDE)('%s: the service starts', LONG, async ([, build]) => {
    const folder = await build();
    const file = join(folder, 'dist/server.js');
    expect(await readFile(file, 'utf8')).toContain('falconry/middleware');
    expect((await stat(file)).size).toBeLessThan(5000);
    // It was not the place of the build that helped: the folder has another name now.
    const moved = `${folder}-moved`;
    await rename(folder, moved);
    const said = await command(moved, process.execPath, ['dist/server.js']);
    expect(said).toBe('1\n');
  });
});
