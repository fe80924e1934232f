/**
 * The page for everybody: by keyboard, by screen reader, in both schemes, on a phone, without
 * motion.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/index.ts';
import { findChromium, openBrowser, PATIENCE_MS } from '../../support/chromium.ts';
import { fact } from '../../support/facts.ts';
import {
  axeFindings,
  brokenIds,
  focused,
  headingLevels,
  measureContrast,
  measureSizes,
  readTree,
} from './accessibility.ts';
import { enterKey, startUiService, type UiService, visit } from './browser.ts';
import { jsonFile, someItems, withWrongSignature } from './taskFiles.ts';

const executablePath = findChromium();
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
  await drop('bad.json', withWrongSignature(someItems(4), 2));
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

  const SCREENS = [
    ['light', 'on a desk', { width: 1280, height: 800 }],
    ['dark', 'on a small phone', { width: 320, height: 640 }],
  ] as const;

  test.each(SCREENS)('every view, %s, %s', async (colorScheme, _name, viewport) => {
    const { page, close } = await visit(browser, address(), { colorScheme, viewport });
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
    await close();
  });

  test('both contrasts on both screens', async (context) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [320, 1280]) {
        const viewport = { width, height: 800 };
        const { page, close } = await visit(browser, address(), { colorScheme, viewport });
        for (const view of ['start', 'sign', 'build', 'tasks', 'verify']) {
          await page.goto(`${address()}#${view}`);
          expect((await measureContrast(page)).low, `${view}, ${colorScheme}, ${width}`).toEqual(
            [],
          );
        }
        await close();
      }
    }
    const what =
      'names, headings, contrast of AA, sizes, in light at 1280 pixels and in dark at 320';
    fact(context, TOPIC, `16 states of its views: ${what}, axe-core`);
  });

  test('the measures bite', async () => {
    const { page, close } = await visit(browser, address());
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
    await close();
  });

  test('light and dark: by the system, by the button, and remembered', async () => {
    const { page, close } = await visit(browser, address(), { colorScheme: 'dark' });
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
    await close();
  });

  test('without motion where none is wanted', async () => {
    for (const reducedMotion of ['no-preference', 'reduce'] as const) {
      const { page, close } = await visit(browser, address(), { reducedMotion });
      const moving = await page.evaluate(() => {
        const chip = document.createElement('span');
        chip.className = 'chip busy';
        chip.append(document.createElementNS('http://www.w3.org/2000/svg', 'svg'));
        document.body.append(chip);
        return getComputedStyle(chip.firstElementChild!).animationName;
      });
      expect(moving).toBe(reducedMotion === 'reduce' ? 'none' : 'turn');
      await close();
    }
  });

  test('by keyboard alone, from the key to the verified aggregate', async (context) => {
    const { page, complaints, close } = await visit(browser, address());
    let stops = 0;
    const press = (key: string) => page.keyboard.press(key);
    /**
     * Goes on by Tab until something of this name has the focus, which must be seen at every stop.
     */
    const tabTo = async (name: string | RegExp) => {
      for (let i = 0; i < 40; i++) {
        await press('Tab');
        const stop = await focused(page);
        if (stop.name === '') continue;
        stops++;
        expect(stop, stop.name).toMatchObject({ outlined: true, inSight: true });
        if (typeof name === 'string' ? stop.name.startsWith(name) : name.test(stop.name)) return;
      }
      throw new Error(`no way to ${name} by Tab`);
    };
    await press('Tab');
    expect(await focused(page)).toMatchObject({ name: 'Skip to content', inSight: true });
    await press('Enter');
    await tabTo('API key');
    await page.keyboard.type(ui.key);
    await press('Enter');
    await page.getByText('A key is in use.').waitFor();
    await tabTo('Build a task');
    await press('Enter');
    // The heading of the new view has the focus, so a reader begins there.
    await page.getByRole('heading', { name: 'Build a task' }).waitFor();
    expect(await focused(page)).toMatchObject({ name: 'Build a task' });
    await tabTo('Signatures');
    await press('Control+a');
    await page.keyboard.type('110');
    await tabTo('Falcon-512');
    await press('ArrowRight');
    await press('ArrowLeft');
    await tabTo('Make test items');
    await press('Enter');
    await page.getByText(/^all valid/).waitFor();
    expect((await focused(page)).name).toBe('Make test items');
    await tabTo('The first 8 items');
    await press('Enter');
    await tabTo('Empty it');
    await press('Enter');
    expect((await focused(page)).name).toBe('Keep it');
    await press('Escape');
    expect((await focused(page)).name).toBe('Empty it');
    await tabTo('Submit the task');
    await press('Enter');
    await page.getByRole('heading', { name: /^Task \d/ }).waitFor();
    expect((await focused(page)).name).toMatch(/^Task \d/);
    await page.getByRole('heading', { name: 'What was saved' }).waitFor();
    await tabTo('Verify in this browser');
    await press('Enter');
    await page.getByText('Valid.', { exact: true }).waitFor();
    await tabTo('Change one byte and verify');
    await press('Space');
    await page.getByText('Rejected, as expected:').waitFor();
    expect(complaints).toEqual([]);
    fact(
      context,
      TOPIC,
      `the whole way by keyboard alone: ${stops} stops, each one in sight and outlined`,
    );
    await close();
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

  test('what happens is said aloud', async () => {
    const { page, close } = await visit(browser, address());
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
    await close();
  });

  test('an end that came before the first look is said, too', async () => {
    const client = createClient({ baseUrl: ui.address, apiKey: ui.key });
    const ends: [string, () => Promise<string>][] = [
      [
        'completed',
        async () => (await client.waitFor(await client.submit(someItems(2)))).process_id,
      ],
      [
        'failed',
        async () => {
          const { process_id } = await client.submit(withWrongSignature(someItems(2), 1));
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
    const { page, close } = await visit(browser, address());
    await enterKey(page, ui.key);
    const said = await listen(page);
    for (const [state, end] of ends) {
      await page.goto(`${address()}#tasks/${await end()}`);
      await expect.poll(said, { timeout: PATIENCE_MS }).toContain(`The task is ${state}`);
    }
    // What goes on is there to be read; nothing has happened yet.
    const { process_id: open } = await client.createTask();
    await page.goto(`${address()}#tasks/${open}`);
    await page.locator('.chip', { hasText: 'created' }).waitFor();
    expect((await said()).filter((text) => text.includes('created'))).toEqual([]);
    await close();
  });
});
