/**
 * Takes the pictures of the page in docs/screenshots: a real service, a real Chromium, a batch of
 * 1722 signatures.
 *
 *   node scripts/screenshots.ts           all of them
 *   node scripts/screenshots.ts --to DIR  somewhere else
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { createClient } from '../src/client/index.ts';
import { findChromium, openBrowser } from '../test/support/chromium.ts';
import { enterKey, startUiService, type UiService, visit } from '../test/ui/browser.ts';
import { someItems, withWrongSignature } from '../test/ui/taskFiles.ts';
import { palettePng } from './palettePng.ts';

const MAX_BYTES = 200_000;

const { values } = parseArgs({ options: { to: { type: 'string' } } });
const folder = values.to ?? fileURLToPath(new URL('../docs/screenshots', import.meta.url));

const SCREENS = {
  desktop: { viewport: { width: 1280, height: 860 }, deviceScaleFactor: 1 },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.5 },
} as const;

/** A list with something of everything in it. */
async function fillList(ui: UiService): Promise<void> {
  const client = createClient({ baseUrl: ui.address, apiKey: ui.key });
  const items = someItems(120);
  const submitted = [
    await client.submit(items),
    await client.submit(withWrongSignature(items, 17)),
    await client.submit(items.slice(0, 40)),
  ];
  for (const { process_id } of submitted) await client.waitFor(process_id).catch(() => {});
  await client.cancel((await client.createTask()).process_id);
  await client.createTask();
}

/** Goes through the page once, with a picture at each place that is worth one. */
async function tour(
  browser: Browser,
  ui: UiService,
  screen: keyof typeof SCREENS,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const { page, close } = await visit(browser, `${ui.address}/v1/ui`, {
    ...SCREENS[screen],
    colorScheme,
    reducedMotion: 'reduce',
  });
  const open = (name: string) =>
    page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name }).click();
  const take = async (name: string, fullPage = false) => {
    // Nothing is under the pointer, and nothing has just been focused by it.
    await page.mouse.move(0, 0);
    const path = join(folder, `${name}-${screen}-${colorScheme}.png`);
    const picture = palettePng(await page.screenshot({ fullPage }));
    if (picture.length > MAX_BYTES) throw new Error(`${path} would have ${picture.length} bytes`);
    writeFileSync(path, picture);
    console.log(`${path} ${picture.length} bytes`);
  };
  await take('start');
  await enterKey(page, ui.key);
  await open('Sign');
  await page.getByRole('textbox', { name: 'Message' }).fill('the falcon takes wing');
  await page.getByRole('button', { name: 'Sign' }).click();
  await page.getByText('Verified in this browser', { exact: true }).waitFor();
  await take('sign', screen === 'phone');
  await open('Build');
  await makeItems(page);
  await take('build', true);
  await page.getByRole('button', { name: 'Submit the task' }).click();
  await page.getByRole('heading', { name: 'What was saved' }).waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Verify in this browser' }).click();
  await page.getByText('Valid.', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Change one byte and verify' }).click();
  await page.getByText('Refused, as it must be:').waitFor();
  await take('result', true);
  await open('Tasks');
  await page.locator('.tasks .chip', { hasText: 'completed' }).first().waitFor();
  await take('tasks');
  await close();
}

async function makeItems(page: Page): Promise<void> {
  await page.getByRole('spinbutton', { name: 'Signatures' }).fill('1722');
  await page.getByRole('spinbutton', { name: 'Different keys' }).fill('200');
  await page.getByRole('button', { name: 'Make test items' }).click();
  await page.getByText(/^all verify/).waitFor({ timeout: 60_000 });
}

const executablePath = findChromium();
if (executablePath === undefined) process.exit(1);
mkdirSync(folder, { recursive: true });
const browser = await openBrowser(executablePath);
const ui = await startUiService();
try {
  await fillList(ui);
  for (const screen of ['desktop', 'phone'] as const) {
    for (const scheme of ['light', 'dark'] as const) await tour(browser, ui, screen, scheme);
  }
} finally {
  await browser.close();
  await ui.close();
}
