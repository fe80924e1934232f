/**
 * Proofs on several threads, really started in Node, Deno, Bun and Chromium; and where threads are
 * not allowed.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findChromium, openBrowser, PATIENCE_MS } from '../support/chromium.ts';
import { fact } from '../support/facts.ts';
import { BUN, BUN_RUN, DENO, DENO_RUN, NODE_CONFINED, reportOf } from '../support/hostCommands.ts';
import { serveLibrary } from './serve.ts';
import type { ThreadsReport } from './threadsCheck.ts';

const main = fileURLToPath(new URL('./threadsMain.ts', import.meta.url));
const LONG = { timeout: 300_000 };

const runCommand = (command: string, args: readonly string[]) =>
  reportOf<ThreadsReport>(command, [...args, main]);

const expected = {
  same: true,
  valid: true,
  threads: Math.min(3, availableParallelism()),
  refused: 1,
};

test.each([
  ['Node', process.execPath, []],
  ['Deno', DENO, DENO_RUN],
  ['Bun', BUN, BUN_RUN],
] as const)('%s, which then exits', LONG, async (_, command, args) => {
  expect(await runCommand(command, args)).toEqual(expected);
});

test('Node under its permission model: this thread does the work', LONG, async () => {
  expect(await runCommand(process.execPath, NODE_CONFINED)).toEqual({ ...expected, threads: 1 });
});

const executablePath = findChromium();

test('Chromium', LONG, async (context) => {
  if (executablePath === undefined) return context.skip('no Chromium on this machine');
  const server = await serveLibrary();
  const browser = await openBrowser(executablePath);
  const call = "import('/test/runtimes/threadsCheck.ts').then((m) => m.checkThreads())";
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(server.url);
    expect(await page.evaluate(call)).toEqual(expected);
    // A page whose policy forbids workers.
    await page.route(server.url, async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), 'content-security-policy': "worker-src 'none'" };
      await route.fulfill({ response, headers });
    });
    await page.goto(server.url);
    expect(await page.evaluate(call)).toEqual({ ...expected, threads: 1 });
    fact(context, 'threads', 'Node, Deno, Bun, Chromium: three threads make the proof of one');
  } finally {
    await browser.close();
    await server.close();
  }
});
