/**
 * A real Chromium. Debian's package installs it; nothing is downloaded, and without one its tests
 * are skipped.
 */
import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from './programs.ts';

export type { Browser } from 'playwright-core';

/**
 * The longest wait for anything on a page. Only a machine that is slow beyond use needs so much.
 */
export const PATIENCE_MS = 100_000;

/** Where it is; undefined, with a notice, where there is none. */
export function findChromium(): string | undefined {
  const found = findProgram('chromium');
  if (found === undefined) {
    console.log(
      'NOTICE: no Chromium on this machine (Debian: apt-get install chromium); its tests are skipped.',
    );
  }
  return found;
}

/** Starts it without a window. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

/**
 * The most memory that objects and buffers of a page need while it works, in MB: what is left after
 * a collection, without the memory of WebAssembly modules.
 */
export async function liveMb<T>(page: Page, work: Promise<T>): Promise<[mb: number, result: T]> {
  const session = await page.context().newCDPSession(page);
  let isDone = false;
  const result = work.finally(() => {
    isDone = true;
  });
  let bytes = 0;
  while (!isDone) {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize } = await session.send('Runtime.getHeapUsage');
    bytes = Math.max(bytes, usedSize + backingStorageSize);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return [bytes / 1e6, await result];
}

/**
 * Opens a page of a test.
 *
 * @param missing what its server could not find, for the error if the page does not load
 * @returns the page, once its script has set `globalThis.loaded`, and what its scripts threw
 */
export async function loadPage(
  browser: Browser,
  url: string,
  missing: readonly string[] = [],
): Promise<{ page: Page; errors: readonly string[] }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(url);
  await page.waitForFunction('globalThis.loaded === true').catch((error) => {
    throw new Error([...errors, ...missing, String(error)].join('\n'));
  });
  return { page, errors };
}
