/** Browsers that open pages of bundles and examples; one of each for a test file. */
import type { Browser, Page } from 'playwright-core';
import { findChromium, openBrowser, PATIENCE_MS } from '../support/chromium.ts';
import { type Firefox, type FirefoxPage, findFirefox, openFirefox, REPORT } from './bidi.ts';
import type { JobReport } from './report.ts';

const chromiumPath = findChromium();
const firefoxPath = findFirefox();
/** Which of the two this machine has. */
export const HAS = { Chromium: chromiumPath !== undefined, Firefox: firefoxPath !== undefined };

let chromium: Browser | undefined;
let firefox: Firefox | undefined;

/** Opens a page in Chromium and uses it. @returns what `use` says; null without a Chromium */
export async function inPage<T>(url: string, use: (page: Page) => Promise<T>): Promise<T | null> {
  if (chromiumPath === undefined) return null;
  chromium ??= await openBrowser(chromiumPath);
  const page = await chromium.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  try {
    await page.goto(url);
    return await use(page);
  } catch (error) {
    throw new Error([...said, String(error)].join('\n'), { cause: error });
  } finally {
    await page.close();
  }
}

/** The report of a page. */
export async function inChromium(url: string): Promise<JobReport> {
  const report = await inPage(url, (page) => page.evaluate<string>(REPORT));
  return JSON.parse(report!);
}

export async function inFirefox(url: string): Promise<JobReport> {
  firefox ??= await openFirefox(firefoxPath!);
  return firefox.report(url);
}

/** Opens a page that stays in Firefox. @returns null without a Firefox */
export async function firefoxPage(url: string): Promise<FirefoxPage | null> {
  if (firefoxPath === undefined) return null;
  firefox ??= await openFirefox(firefoxPath);
  return firefox.open(url);
}

export async function closeBrowsers(): Promise<void> {
  await Promise.all([chromium?.close(), firefox?.close()]);
}
