/**
 * The page in every host: each program of docs/hosts.md is run, and a Chromium signs, submits and
 * verifies at its page.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { commandOf, layOut, withKeys } from '../../hosts/recipes.ts';
import { findChromium, openBrowser } from '../../support/chromium.ts';
import { fact } from '../../support/facts.ts';
import { it as test } from '../support.ts';
import { enterKey, startUiService, visit } from './browser.ts';

const executablePath = findChromium();

describe.skipIf(executablePath === undefined)('in Chromium', { timeout: 300_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser(executablePath!);
  });
  afterAll(() => browser?.close());

  test('there are hosts', () => {
    const headings = new Set(withKeys.map(({ heading }) => heading));
    expect([...headings]).toEqual(
      expect.arrayContaining(['Hono', 'Express 5', 'Fastify 5', 'node:http', 'Deno', 'Bun']),
    );
  });

  test('a host with its own login: no key, and items are numbered as on the wire', async ({
    defer,
  }) => {
    const ui = await startUiService({
      authenticate: (_key, { headers }) =>
        headers.get('cookie') === 'session=1' ? { client: 'ada' } : null,
    });
    defer(ui.close);
    const stranger = await visit(browser, ui.page);
    await stranger.page.getByText('Log in to this site and reload the page').waitFor();
    await stranger.close();
    const cookie = { name: 'session', value: '1', domain: '127.0.0.1', path: '/', expires: -1 };
    const rules = { httpOnly: true, secure: false, sameSite: 'Strict' as const };
    const storageState = { cookies: [{ ...cookie, ...rules }], origins: [] };
    const { page, complaints, close } = await visit(browser, `${ui.page}#tasks`, { storageState });
    await page.getByText('Logged in', { exact: true }).waitFor();
    await page.getByText('No tasks', { exact: false }).first().waitFor();
    await page.getByRole('link', { name: 'Sign', exact: true }).first().click();
    await page.getByRole('textbox', { name: 'Message' }).fill('hello');
    await page.getByRole('button', { name: 'Sign' }).click();
    await page.getByRole('button', { name: 'Add to the task' }).click();
    await page.getByRole('link', { name: 'Show it' }).click();
    await page.locator('summary', { hasText: '1 item' }).click();
    expect(await page.getByRole('cell').first().textContent()).toBe('0');
    await page.getByRole('button', { name: 'Submit the task' }).click();
    await page.getByRole('heading', { name: 'What was saved' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  for (const [i, recipe] of withKeys.entries()) {
    test(`${recipe.heading}, program ${i + 1}`, async ({ defer, task }) => {
      const kitchen = await layOut(recipe.source, commandOf(recipe));
      defer(kitchen.close);
      const { base } = await kitchen.start();
      const { page, complaints, requests, close } = await visit(browser, `${base}/v1/ui/`);
      expect(page.url()).toBe(`${base}/v1/ui`);
      await enterKey(page, kitchen.alice);
      await page.getByRole('link', { name: 'Sign', exact: true }).first().click();
      await page.getByRole('textbox', { name: 'Message' }).fill(recipe.heading);
      await page.getByRole('button', { name: 'Sign' }).click();
      await page.getByText('Verified in this browser', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Add to the task' }).click();
      await page.getByRole('link', { name: 'Show it' }).click();
      await page.getByRole('button', { name: 'Submit the task' }).click();
      await page.getByRole('heading', { name: 'What was saved' }).waitFor();
      await page.getByRole('button', { name: 'Verify in this browser' }).click();
      await page.getByText('Valid.', { exact: true }).waitFor();
      expect(complaints).toEqual([]);
      for (const request of requests) expect(request).toContain(` ${base}/v1/`);
      await close();
      fact(
        { task },
        'the page at /v1/ui',
        `works in ${recipe.heading} (program ${i + 1} of docs/hosts.md)`,
      );
    });
  }
});
