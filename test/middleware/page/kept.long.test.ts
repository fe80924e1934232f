/** What survives a reload of the tab, what does not, and what is not replaced unasked. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatTaskFile } from '../../../src/wire/triple.ts';
import { findChromium, openBrowser } from '../../support/chromium.ts';
import { enterKey, startUiService, type UiService, visit } from './browser.ts';
import { jsonFile, someItems } from './taskFiles.ts';

const executablePath = findChromium();

describe.skipIf(executablePath === undefined)('in Chromium', { timeout: 300_000 }, () => {
  let browser: Browser;
  let ui: UiService;
  beforeAll(async () => {
    browser = await openBrowser(executablePath!);
    ui = await startUiService({ threads: 1 });
  });
  afterAll(async () => {
    await browser?.close();
    await ui?.close();
  });
  const address = () => `${ui.address}/v1/ui`;

  test('a draft survives, in its tab alone, with the task that it became', async () => {
    const { page, complaints, close } = await visit(browser, `${address()}#build`);
    const drop = (name: string, count: number) =>
      page
        .getByLabel('Choose a task file')
        .setInputFiles(jsonFile(name, formatTaskFile(someItems(count))));
    await drop('mine.json', 3);
    await page.getByText('mine.json', { exact: true }).waitFor();
    await expect.poll(() => page.evaluate(KEPT)).toBe(1);
    await page.reload();
    await page.getByText('mine.json', { exact: true }).waitFor();
    await page.getByText(/^all valid/).waitFor();

    // Another file replaces it only if that is wanted.
    await drop('other.json', 5);
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click();
    await page.getByText('other.json: 5 items read, not taken.').waitFor();
    await page.getByText('mine.json', { exact: true }).waitFor();
    await drop('other.json', 5);
    await page.getByRole('dialog').getByRole('button', { name: 'Replace it' }).click();
    await page.getByText('other.json', { exact: true }).waitFor();

    const elsewhere = await page.context().newPage();
    await elsewhere.goto(`${address()}#build`);
    await elsewhere.getByText('The task is empty').waitFor();
    await elsewhere.close();

    // After a reload, the result is verified against the draft that the task was made of.
    await page.goto(`${address()}#start`);
    await page.getByRole('checkbox', { name: 'Keep it for this tab' }).check();
    await enterKey(page, ui.key);
    await page.getByRole('link', { name: 'Build a task' }).click();
    await page.getByRole('button', { name: 'Submit the task' }).click();
    await page.getByRole('heading', { name: 'What was saved' }).waitFor();
    await page.reload();
    await page.getByText('the task submitted from this page').waitFor();
    await page.getByRole('button', { name: 'Verify in this browser' }).click();
    await page.getByText('Valid.', { exact: true }).waitFor();

    await page.goto(`${address()}#build`);
    await page.getByRole('button', { name: 'Empty it' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Empty it' }).click();
    await expect.poll(() => page.evaluate(KEPT)).toBe(0);
    await page.reload();
    await page.getByText('The task is empty').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('signatures survive', async () => {
    const { page, complaints, close } = await visit(browser, address());
    await enterKey(page, ui.key);
    await page.goto(`${address()}#sign`);
    for (const text of ['one', 'two']) {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.getByRole('button', { name: 'Sign', exact: true }).click();
      const hex = `0x${Buffer.from(text).toString('hex')}`;
      await page.getByText(hex, { exact: true }).waitFor();
    }
    await expect.poll(() => page.evaluate(KEPT)).toBe(2);
    await page.reload();
    await page.getByText('0x6f6e65', { exact: true }).waitFor();
    await page.getByText('0x74776f', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add to the task' }).first().click();
    await page.getByText('The task has 1 item.').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});

/** How many things the tab has kept; each signature is one. */
const KEPT = `new Promise((resolve, reject) => {
  const opening = indexedDB.open('falconry', 1);
  opening.onerror = () => reject(opening.error);
  // Not made by the page yet.
  opening.onupgradeneeded = () => opening.transaction.abort();
  opening.onsuccess = () => {
    const all = opening.result.transaction('kept').objectStore('kept').getAll();
    all.onsuccess = () => {
      opening.result.close();
      resolve(all.result.flatMap(({ value }) => value).length);
    };
  };
}).catch(() => 0)`;
