/**
 * Takes the README's screenshots, docs/screenshots: the result of a task of 1722 signatures in
 * Chromium, light and dark.
 *
 *   node scripts/screenshots.ts [--to DIRECTORY]
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  enterKey,
  startUiService,
  type UiService,
  visit,
} from '../test/middleware/page/browser.ts';
import { type Browser, findChromium, openBrowser } from '../test/support/chromium.ts';

const { values } = parseArgs({ options: { to: { type: 'string' } } });
const folder = values.to ?? fileURLToPath(new URL('../docs/screenshots', import.meta.url));

/** A result that the browser has verified, and a damaged copy that it has refused. */
async function takeResult(
  browser: Browser,
  ui: UiService,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const { page, close } = await visit(browser, `${ui.address}/v1/ui`, {
    viewport: { width: 1280, height: 860 },
    colorScheme,
    reducedMotion: 'reduce',
  });
  await enterKey(page, ui.key);
  const sections = page.getByRole('navigation', { name: 'Sections' });
  await sections.getByRole('link', { name: 'Build' }).click();
  await page.getByRole('spinbutton', { name: 'Signatures' }).fill('1722');
  await page.getByRole('spinbutton', { name: 'Different keys' }).fill('200');
  await page.getByRole('button', { name: 'Make test items' }).click();
  await page.getByText(/^all valid/).waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Submit the task' }).click();
  await page.getByRole('heading', { name: 'What was saved' }).waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Verify in this browser' }).click();
  await page.getByText('Valid.', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Change one byte and verify' }).click();
  await page.getByText('Rejected, as expected:').waitFor();
  // Move the pointer away, so that nothing is highlighted.
  await page.mouse.move(0, 0);
  const path = join(folder, `result-desktop-${colorScheme}.png`);
  const picture = await page.screenshot({ fullPage: true });
  writeFileSync(path, picture);
  console.log(`${path} ${picture.length} bytes`);
  await close();
}

const executablePath = findChromium();
if (executablePath === undefined) {
  console.error('Chromium was not found');
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
const browser = await openBrowser(executablePath);
const ui = await startUiService();
try {
  for (const scheme of ['light', 'dark'] as const) await takeResult(browser, ui, scheme);
} finally {
  await browser.close();
  await ui.close();
}
