/**
 * The page for everybody: by screen reader, in both schemes, on a phone, without motion. In
 * keyboard.long.test.ts it is used by keyboard.
 */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { createClient } from '../../../src/client/index.ts';
import { PATIENCE_MS } from '../../support/chromium.ts';
import { fact } from '../../support/facts.ts';
import { makeItems } from '../triples.ts';
import {
  axeFindings,
  brokenIds,
  headingLevels,
  measureContrast,
  measureSizes,
  readTree,
} from './accessibility.ts';
import { enterKey, type UiService } from './browser.ts';
import { hasChromium, pageTest } from './pageTest.ts';
import { jsonFile, withWrongSignature } from './taskFiles.ts';

const test = pageTest();
const TOPIC = 'the page at /v1/ui';

type Look = (state: string) => Promise<void>;

const section = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name }).click();

/** Every view in every state worth looking at; `look` is called in each. */
async function everyView(page: Page, ui: UiService, look: Look): Promise<void> {
  await withoutKey(page, ui, look);
  await withKey(page, look);
}

async function withoutKey(page: Page, ui: UiService, look: Look): Promise<void> {
  const open = (name: string) => section(page, name);
  await look('start');
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.getByRole('textbox', { name: 'API key' }).fill('wrong');
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.getByRole('alert').waitFor();
  await look('start, wrong key');
  for (const name of ['Sign', 'Tasks', 'Verify']) {
    await open(name);
    await look(`${name}, no key`);
  }
  await open('Start');
  await enterKey(page, ui.key);
  await look('start, key');
}

async function withKey(page: Page, look: Look): Promise<void> {
  const open = (name: string) => section(page, name);
  await open('Sign');
  await page.getByRole('textbox', { name: 'Message' }).fill('hello');
  await page.getByRole('button', { name: 'Sign' }).click();
  await page.getByText('Verified in this browser', { exact: true }).waitFor();
  await page.getByRole('radio', { name: 'Hex' }).check();
  await look('sign, not hex');
  await open('Build');
  await look('build, empty');
  const drop = (name: string, text: string) =>
    page.getByLabel('Choose a task file').setInputFiles(jsonFile(name, text));
  await drop('none.json', '{"a": 1}');
  await page.getByText('The file must be an array.').waitFor();
  await look('build, no task file');
  await drop('bad.json', withWrongSignature(makeItems(4, 2), 2));
  await page.getByText('1 of 4 invalid').waitFor();
  await page.getByText('4 items', { exact: true }).click();
  await look('build, invalid');
  await page.getByRole('button', { name: 'Empty it' }).click();
  await look('build, question');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Submit it anyway' }).click();
  await page.getByText('Verifying: failed').waitFor();
  await look('task, failed');
  await open('Build');
  await page.getByRole('button', { name: 'Make test items' }).click();
  await page.getByRole('button', { name: 'Replace it' }).waitFor();
  await look('build, another question');
  await page.getByRole('button', { name: 'Replace it' }).click();
  await page.getByText(/^all valid/).waitFor();
  await page.getByRole('button', { name: 'Submit the task' }).click();
  await page.getByRole('heading', { name: 'What was saved' }).waitFor();
  await page.getByRole('button', { name: 'Verify in this browser' }).click();
  await page.getByText('Valid.', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Change one byte and verify' }).click();
  await page.getByText('Rejected, as expected:').waitFor();
  await look('task, verified');
  await open('Tasks');
  await page.locator('.tasks .chip', { hasText: 'completed' }).first().waitFor();
  await look('tasks');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('expired');
  await page.getByText('No expired tasks').waitFor();
  await look('tasks, none of this status');
}

describe.runIf(hasChromium)('in Chromium', { timeout: 300_000 }, () => {
  const SCREENS = [
    ['light', 'on a desk', { width: 1280, height: 800 }],
    ['dark', 'on a small phone', { width: 320, height: 640 }],
  ] as const;

  test.for(SCREENS)('every view, %s, %s', async ([colorScheme, , viewport], { open, ui }) => {
    const { page } = await open('', { colorScheme, viewport });
    let views = 0;
    let texts = 0;
    await everyView(page, ui, async (state) => {
      const { measured, low } = await measureContrast(page);
      expect(low, state).toEqual([]);
      expect(measured, state).toBeGreaterThan(20);
      const { roles, nameless } = await readTree(page);
      expect(nameless, state).toEqual([]);
      if (!state.includes('question')) {
        for (const landmark of ['banner', 'main', 'contentinfo']) {
          expect(roles.get(landmark), `${state}: ${landmark}`).toBe(1);
        }
      }
      const levels = await headingLevels(page);
      expect(
        levels.filter((level) => level === 1),
        state,
      ).toHaveLength(1);
      expect(levels[0], state).toBe(1);
      for (const [i, level] of levels.entries()) {
        if (i > 0) expect(level - levels[i - 1]!, `${state}: ${levels}`).toBeLessThanOrEqual(1);
      }
      expect(await brokenIds(page), state).toEqual([]);
      const { kept, broken } = await axeFindings(page);
      expect(broken, state).toEqual([]);
      expect(kept, state).toBeGreaterThan(15);
      const { wide, small } = await measureSizes(page);
      expect(wide, `${state}: wider than the screen`).toBeLessThanOrEqual(viewport.width);
      expect(small, `${state}: too small to press`).toEqual([]);
      views++;
      texts += measured;
    });
    expect(views).toBe(16);
    expect(texts).toBeGreaterThan(500);
  });

  test('both contrasts on both screens', async ({ open, task, ui }) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [320, 1280]) {
        const viewport = { width, height: 800 };
        const { page } = await open('', { colorScheme, viewport });
        for (const view of ['start', 'sign', 'build', 'tasks', 'verify']) {
          await page.goto(`${ui.page}#${view}`);
          expect((await measureContrast(page)).low, `${view}, ${colorScheme}, ${width}`).toEqual(
            [],
          );
        }
      }
    }
    const what =
      'names, headings, contrast of AA, sizes, in light at 1280 pixels and in dark at 320';
    fact({ task }, TOPIC, `16 states of its views: ${what}, axe-core`);
  });

  test('the measures bite', async ({ open }) => {
    const { page } = await open();
    expect((await measureContrast(page)).low).toEqual([]);
    await page.evaluate(() => {
      const pale = document.createElement('p');
      pale.textContent = 'pale';
      pale.style.color = 'rgb(150 150 150)';
      const nameless = document.createElement('button');
      const twin = document.createElement('p');
      twin.id = 'about';
      document.querySelector('main')!.append(pale, nameless, twin);
    });
    const { low } = await measureContrast(page);
    expect(low).toMatchObject([{ text: 'pale', needed: 4.5 }]);
    expect(low[0]!.ratio).toBeCloseTo(2.7, 0);
    expect((await readTree(page)).nameless).toEqual(['button']);
    expect((await axeFindings(page)).broken.join()).toMatch(/button-name.*color-contrast/s);
    expect(await brokenIds(page)).toEqual(['about']);
    await page.evaluate(() => {
      document.querySelector('main')!.textContent = '';
      document.body.style.width = '5000px';
    });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeGreaterThan(2000);
  });

  test('light and dark: by the system, by the button, and remembered', async ({ open }) => {
    const { page } = await open('', { colorScheme: 'dark' });
    const ground = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const dark = await ground();
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await ground();
    expect(light).not.toBe(dark);
    const press = (name: string) => page.getByRole('button', { name: `Colours: ${name}` }).click();
    await press('Auto');
    await press('Light');
    expect(await ground()).toBe(dark);
    await page.reload();
    expect(await ground()).toBe(dark);
    await press('Dark');
    expect(await ground()).toBe(light);
  });

  test('without motion where none is wanted', async ({ open }) => {
    for (const reducedMotion of ['no-preference', 'reduce'] as const) {
      const { page } = await open('', { reducedMotion });
      const moving = await page.evaluate(() => {
        const chip = document.createElement('span');
        chip.className = 'chip busy';
        chip.append(document.createElementNS('http://www.w3.org/2000/svg', 'svg'));
        document.body.append(chip);
        return getComputedStyle(chip.firstElementChild!).animationName;
      });
      expect(moving).toBe(reducedMotion === 'reduce' ? 'none' : 'turn');
    }
  });

  /** From now on, all that is said is kept; returns what was. */
  async function listen(page: Page): Promise<() => Promise<string[]>> {
    await page.evaluate(() => {
      const said: string[] = [];
      Object.assign(globalThis, { said });
      const region = document.getElementById('announcer')!;
      new MutationObserver(() => said.push(region.textContent ?? '')).observe(region, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    });
    return async () => (await page.evaluate('said')) as string[];
  }

  test('what happens is said aloud', async ({ open, ui }) => {
    const { page } = await open();
    const said = await listen(page);
    await enterKey(page, ui.key);
    await page.getByRole('link', { name: 'Build a task' }).click();
    await page.getByRole('spinbutton', { name: 'Signatures' }).fill('3');
    await page.getByRole('button', { name: 'Make test items' }).click();
    await page.getByText(/^all valid/).waitFor();
    await page.getByRole('button', { name: 'Submit the task' }).click();
    await page.getByRole('heading', { name: 'What was saved' }).waitFor();
    expect(await said()).toEqual(
      expect.arrayContaining([
        'The key was accepted',
        'Making test items',
        '3 test items made; every signature verified',
        'Submitted',
        'The task is completed',
        'The result is ready',
      ]),
    );
  });

  test('an end that came before the first look is said, too', async ({ open, ui }) => {
    const client = createClient({ baseUrl: ui.address, apiKey: ui.key });
    const ends: [string, () => Promise<string>][] = [
      [
        'completed',
        async () => (await client.waitFor(await client.submit(makeItems(2, 2)))).process_id,
      ],
      [
        'failed',
        async () => {
          const { process_id } = await client.submit(withWrongSignature(makeItems(2, 2), 1));
          await expect(client.waitFor(process_id)).rejects.toMatchObject({ code: 'TASK_FAILED' });
          return process_id;
        },
      ],
      [
        'cancelled',
        async () => {
          const { process_id } = await client.createTask();
          await client.cancel(process_id);
          return process_id;
        },
      ],
    ];
    const { page } = await open();
    await enterKey(page, ui.key);
    const said = await listen(page);
    for (const [state, end] of ends) {
      await page.goto(`${ui.page}#tasks/${await end()}`);
      await expect.poll(said, { timeout: PATIENCE_MS }).toContain(`The task is ${state}`);
    }
    // What goes on is there to be read; nothing has happened yet.
    const { process_id } = await client.createTask();
    await page.goto(`${ui.page}#tasks/${process_id}`);
    await page.locator('.chip', { hasText: 'created' }).waitFor();
    expect((await said()).filter((text) => text.includes('created'))).toEqual([]);
  });
});
