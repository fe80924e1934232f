/**
 * The whole page by keyboard alone, in Chromium and in Firefox: something always has the focus,
 * also after the thing that had it is gone, and every stop of Tab can be seen.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFirefox, openFirefox } from '../../bundlers/bidi.ts';
import { findChromium, openBrowser, PATIENCE_MS } from '../../support/chromium.ts';
import { fact } from '../../support/facts.ts';
import { startUiService, type UiService, visit } from './browser.ts';

/** A page that is used by its keyboard. */
interface Keyboard {
  ask(expression: string): Promise<string>;
  press(...keys: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const NAME_OF = `((element) => {
  if (element === null || element === document.body) return 'BODY';
  const label = element.labels?.[0]?.textContent;
  return (element.ariaLabel ?? label ?? element.textContent ?? '').trim() || element.tagName;
})`;
const NAME = `${NAME_OF}(document.activeElement)`;

/** Whether what has the focus can be seen, and is seen to have it. */
const SIGHT = `((element) => {
  const holder = element.closest('.drop') ?? element;
  const { outlineStyle, outlineWidth } = getComputedStyle(holder);
  const { left, right, top, bottom } = holder.getBoundingClientRect();
  return JSON.stringify({
    outlined: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    inSight: right > 0 && bottom > 0 && left < innerWidth && top < innerHeight,
  });
})(document.activeElement)`;

/** Whether a control of this name is behind what has the focus: past the end is the browser. */
const isAhead = (name: string) => `[...document.querySelectorAll('a, button, input, textarea,' +
  'summary')].some((each) => each.checkVisibility() &&
  ${NAME_OF}(each).startsWith(${JSON.stringify(name)}) &&
  (document.activeElement.compareDocumentPosition(each) & 4) !== 0)`;

/** Walks by Tab and Enter; every step ends with a look at the focus. */
class Walk {
  readonly #keyboard: Keyboard;
  steps = 0;

  constructor(keyboard: Keyboard) {
    this.#keyboard = keyboard;
  }

  /** What has the focus, which must be something. */
  async look(after: string): Promise<string> {
    const name = await this.#keyboard.ask(NAME);
    expect(name, `after ${after}`).not.toBe('BODY');
    this.steps++;
    return name;
  }

  async press(key: string): Promise<string> {
    await this.#keyboard.press(key);
    return this.look(key);
  }

  async tabTo(name: string): Promise<void> {
    if ((await this.#keyboard.ask(NAME)).startsWith(name)) return;
    const ahead = await this.#keyboard.ask(`String(${isAhead(name)})`);
    const seen: string[] = [];
    while (seen.length < 60) {
      const at = await this.press(ahead === 'true' ? 'Tab' : 'Shift+Tab');
      const sight = JSON.parse(await this.#keyboard.ask(SIGHT));
      // What has no name but that of its element is scrolled.
      if (!/^[A-Z]+$/.test(at)) expect(sight, at).toEqual({ outlined: true, inSight: true });
      if (at.startsWith(name)) return;
      seen.push(at);
    }
    throw new Error(`no way to ${name} by Tab: ${seen.join(' | ')}`);
  }

  /** Goes to a control, presses it, and waits for what it does; the focus is never lost. */
  async use(name: string, done: string, key = 'Enter'): Promise<void> {
    await this.tabTo(name);
    await this.#keyboard.press(key);
    await this.wait(done);
    await this.look(name);
  }

  /** Until an expression is true. */
  async wait(expression: string): Promise<void> {
    const read = () => this.#keyboard.ask(`String(Boolean(${expression}))`);
    const waited = expect.poll(read, { timeout: PATIENCE_MS, message: expression }).toBe('true');
    await waited.catch(async (error) => {
      throw new Error(`${error.message}\n${await this.#keyboard.ask('document.body.innerText')}`);
    });
  }

  /** Answers a question with none of its buttons. */
  async escape(): Promise<void> {
    await this.#keyboard.press('Escape');
    await this.wait(`!${DIALOG}`);
  }

  async type(text: string): Promise<void> {
    await this.#keyboard.press(...text);
    await this.look('typing');
  }
}

const DIALOG = `document.querySelector('dialog')`;
const shows = (text: string) => `document.body.innerText.includes(${JSON.stringify(text)})`;
const heading = (text: string) =>
  `document.activeElement?.tagName === 'H1' &&
   document.activeElement.textContent.startsWith(${JSON.stringify(text)})`;

async function walkThrough(keyboard: Keyboard, key: string): Promise<number> {
  const walk = new Walk(keyboard);
  expect(await walk.press('Tab')).toBe('Skip to content');
  expect(JSON.parse(await keyboard.ask(SIGHT))).toMatchObject({ inSight: true });
  await keyboard.press('Enter');
  await walk.tabTo('API key');
  await walk.type(key);
  await walk.use('Use this key', shows('A key is in use.'));
  await walk.use('Build a task', heading('Build a task'));
  await walk.tabTo('Signatures');
  await keyboard.press('Control+a');
  await walk.type('110');
  await walk.tabTo('Falcon-512');
  for (const key of ['ArrowRight', 'ArrowLeft']) await walk.press(key);
  await walk.use('Make test items', shows('all valid'));
  expect(await walk.look('the making')).toBe('Make test items');
  await walk.use('The first 8 items', 'document.querySelector("details[open]")');
  // A No is a No, and the focus is where it was.
  await walk.use('Empty it', DIALOG);
  expect(await walk.look('the question')).toBe('Keep it');
  await walk.escape();
  expect(await walk.look('the answer')).toBe('Empty it');
  // Empty it, and fill it again: what had the focus is gone.
  await walk.use('Empty it', DIALOG);
  await walk.use('Empty it', `!${DIALOG} && ${shows('is empty')}`);
  await walk.use('Make test items', shows('all valid'));
  await walk.use('Make test items', DIALOG);
  await walk.escape();
  await walk.look('the question');
  // Aggregate and verify.
  await walk.use('Submit the task', heading('Task '));
  await walk.wait(shows('What was saved'));
  await walk.use('Verify in this browser', shows('Valid.'));
  await walk.use('Change one byte and verify', shows('Rejected, as expected'), 'Space');
  await walk.use('Use another file', shows('Choose your task file'));
  // Tasks: the deleted one takes its button along.
  await walk.use('Tasks', heading('Tasks'));
  await walk.wait(`document.querySelector('.tasks li')`);
  await walk.use('Delete task', DIALOG);
  await walk.use('Delete', `!${DIALOG} && ${shows('No tasks yet')}`);
  // Sign, and add what was signed.
  await walk.use('Sign', heading('Sign a message'));
  await walk.tabTo('Message');
  await walk.type('falcon');
  await walk.use('Sign', shows('Verified in this browser'));
  await walk.use('Add to the task', shows('The task has 111 items'));
  // Forget the key, on the view that everything begins with.
  await walk.use('Start', heading('Many Falcon'));
  await walk.use('Forget the key', shows('Use this key'));
  // The page once more.
  await walk.tabTo('OpenAPI document');
  await keyboard.ask('String((window.isOld = true, location.reload()))');
  await walk.wait('!window.isOld && document.readyState === "complete"');
  await walk.wait(`location.pathname.endsWith('/v1/ui') && ${shows('Your API key')}`);
  await walk.tabTo('Build');
  await walk.press('Enter');
  await walk.wait(heading('Build a task'));
  await walk.look('the way back');
  return walk.steps;
}

const chromium = findChromium();
const firefox = findFirefox();

describe('by keyboard alone', { timeout: 300_000 }, () => {
  let ui: UiService;
  beforeAll(async () => {
    ui = await startUiService({ threads: 1 });
  });
  afterAll(() => ui?.close());
  const address = () => `${ui.address}/v1/ui`;

  test.skipIf(chromium === undefined)('in Chromium', async (context) => {
    const browser = await openBrowser(chromium!);
    try {
      const { page, complaints } = await visit(browser, address());
      const operated: Keyboard = {
        ask: (expression) => page.evaluate(expression),
        async press(...keys) {
          for (const key of keys) await page.keyboard.press(key);
        },
        close: () => browser.close(),
      };
      const steps = await walkThrough(operated, ui.key);
      expect(steps).toBeGreaterThan(40);
      expect(complaints).toEqual([]);
      const what = `${steps} steps, every stop in sight and outlined`;
      fact(context, 'the page at /v1/ui', `the whole way by keyboard alone: ${what}`);
    } finally {
      await browser.close();
    }
  });

  test.skipIf(firefox === undefined)('in Firefox', async () => {
    const browser = await openFirefox(firefox!);
    try {
      const page = await browser.open(address());
      const steps = await walkThrough({ ...page, close: () => browser.close() }, ui.key);
      expect(steps).toBeGreaterThan(40);
    } finally {
      await browser.close();
    }
  });
});
