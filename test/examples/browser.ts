/** Pages of examples in a real Chromium, if there is one. */
import type { Browser, Page } from 'playwright-core';
import { findChromium, openBrowser, PATIENCE_MS } from '../support/chromium.ts';

const path = findChromium();
let browser: Browser | undefined;

/** Opens a page of a server and uses it. @returns what `use` says; null without a Chromium */
export async function inChromium<T>(
  url: string,
  use: (page: Page) => Promise<T>,
): Promise<T | null> {
  if (path === undefined) return null;
  browser ??= await openBrowser(path);
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  try {
    await page.goto(url);
    return await use(page);
  } finally {
    await page.close();
  }
}

export const closeChromium = async (): Promise<void> => browser?.close();
