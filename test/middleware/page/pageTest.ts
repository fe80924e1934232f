/** Tests at the page of a service, in a Chromium that all tests of the file share. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { test as base } from 'vitest';
import { findChromium, openBrowser } from '../../support/chromium.ts';
import { startUiService, type UiService, type Visit, visit } from './browser.ts';

const executablePath = findChromium();
export const hasChromium = executablePath !== undefined;

interface Fixtures {
  /** Opens the page, closed with the test; `view` is what follows its address. */
  readonly open: (view?: string, options?: BrowserContextOptions) => Promise<Visit>;
}

/** @param start opens the service of the file */
export function pageTest(start: () => Promise<UiService> = () => startUiService({ threads: 1 })) {
  const withPage = base.extend<{ $file: { browser: Browser; ui: UiService } }>({
    browser: [
      // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of what it needs
      async ({}, use) => {
        const browser = await openBrowser(executablePath!);
        await use(browser);
        await browser.close();
      },
      { scope: 'file' },
    ],
    ui: [
      // biome-ignore lint/correctness/noEmptyPattern: as above
      async ({}, use) => {
        const ui = await start();
        await use(ui);
        await ui.close();
      },
      { scope: 'file' },
    ],
  });
  return withPage.extend<Fixtures>({
    open: async ({ browser, ui }, use) => {
      const visits: Visit[] = [];
      await use(async (view = '', options = {}) => {
        const opened = await visit(browser, ui.page + view, options);
        visits.push(opened);
        return opened;
      });
      await Promise.all(visits.map(({ close }) => close()));
    },
  });
}
