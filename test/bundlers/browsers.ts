/**
 * Browsers that open a page and wait for the report that its script puts into `globalThis.report`.
 */
import type { Browser } from 'playwright-core';
import { findChromium, openBrowser, PATIENCE_MS } from '../support/chromium.ts';
import { type Firefox, findFirefox, openFirefox } from './bidi.ts';
import type { JobReport } from './report.ts';

const chromiumPath = findChromium();
const firefoxPath = findFirefox();
/** Which of the two this machine has. */
export const HAS = { Chromium: chromiumPath !== undefined, Firefox: firefoxPath !== undefined };

let chromium: Browser | undefined;
let firefox: Firefox | undefined;

/** The script comes after the page's load event where a bundler loads it in parts. */
const REPORT = `(async () => {
  while (globalThis.report === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
  return JSON.stringify(await globalThis.report);
})()`;

export async function inChromium(url: string): Promise<JobReport> {
  chromium ??= await openBrowser(chromiumPath!);
  const page = await chromium.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  try {
    await page.goto(url);
    await page.waitForFunction('globalThis.report !== undefined').catch((error) => {
      throw new Error([...said, String(error)].join('\n'));
    });
    return JSON.parse(await page.evaluate(REPORT));
  } finally {
    await page.close();
  }
}

export async function inFirefox(url: string): Promise<JobReport> {
  firefox ??= await openFirefox(firefoxPath!);
  return JSON.parse(await firefox.ask(url, REPORT));
}

/** @returns what the browsers that were used call themselves */
export async function closeBrowsers(): Promise<string[]> {
  const versions = [
    ...(chromium ? [`Chromium ${chromium.version()}`] : []),
    ...(firefox ? [`Firefox ${firefox.version}`] : []),
  ];
  await Promise.all([chromium?.close(), firefox?.close()]);
  return versions;
}
