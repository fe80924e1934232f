/**
 * The main job on the page, by a real Chromium against a real service that is mounted somewhere
 * under another name.
 */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { keyLink } from '../../../src/wire/pageConfig.ts';
import { formatTaskFile } from '../../../src/wire/triple.ts';
import { fact } from '../../support/facts.ts';
import { makeItems } from '../triples.ts';
import { enterKey, startUiService } from './browser.ts';
import { hasChromium, pageTest } from './pageTest.ts';
import { jsonFile, withWrongSignature } from './taskFiles.ts';

const test = pageTest(() => startUiService({ serviceName: 'quantum', threads: 1 }, '/some/where'));
const TOPIC = 'the page at /v1/ui';

/** The rows of the table of faults, as text. */
async function faultRows(page: Page): Promise<string[]> {
  const rows = page.getByRole('region', { name: 'Faults' }).getByRole('row');
  return (await rows.allTextContents()).slice(1);
}

describe.runIf(hasChromium)('in Chromium', { timeout: 300_000 }, () => {
  test('sign, build, submit, watch, verify, tamper', async ({ browser, open, task, ui }) => {
    const { page, complaints, requests } = await open();
    await enterKey(page, ui.key);
    const loaded = (name: string) => requests.some((request) => request.includes(`/ui/${name}.`));
    expect(loaded('worker')).toBe(false);

    await page.getByRole('link', { name: 'Sign', exact: true }).first().click();
    await page.getByRole('textbox', { name: 'Message' }).fill('the falcon takes wing');
    await page.getByRole('button', { name: 'Sign' }).click();
    await page.getByText('Verified in this browser', { exact: true }).waitFor();
    expect(loaded('worker')).toBe(true);
    const hexOf = new TextEncoder().encode('the falcon takes wing');
    const digest = Buffer.from(hexOf).toString('hex');
    expect(await page.getByText(`0x${digest}`).count()).toBe(1);
    await page.getByRole('button', { name: 'Add to the task' }).click();
    await page.getByText('The task has 1 item.').waitFor();

    await page.getByRole('link', { name: 'Show it' }).click();
    await page.getByText(/^all valid/).waitFor();
    await page.getByRole('spinbutton', { name: 'Signatures' }).fill('130');
    await page.getByRole('spinbutton', { name: 'Different keys' }).fill('7');
    // A draft is not replaced unasked.
    await page.getByRole('button', { name: 'Make test items' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click();
    await page.getByText('Collected signatures', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Make test items' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace it' }).click();
    const facts = page.getByRole('region', { name: 'Your task' });
    await facts.getByText('130', { exact: true }).waitFor();
    expect((await facts.getByRole('definition').allTextContents()).slice(0, 3)).toEqual([
      '130',
      '7',
      'Falcon-512',
    ]);

    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save the task file' }).click();
    const taskFile = await readFile(await (await saving).path());
    expect(JSON.parse(taskFile.toString())).toHaveLength(130);

    await page.getByRole('button', { name: 'Submit the task' }).click();
    await page.getByRole('heading', { name: /^Task \d+$/ }).waitFor();
    const id = page.url().split('/').at(-1)!;
    await page.getByRole('heading', { name: 'What was saved' }).waitFor();
    const headline = await page.locator('.picture .headline').textContent();
    const saved = Number(/: ([\d.]+) % saved$/.exec(headline!)?.[1]);
    expect(saved).toBeGreaterThan(10);
    expect(requests.filter((request) => request.endsWith(`/tasks/${id}/events`))).toHaveLength(1);
    const pictures = await page
      .getByRole('img')
      .evaluateAll((all) => all.map((one) => one.ariaLabel));
    expect(pictures[0]).toMatch(/^130 plain signatures: .* of signatures, 5\.2 kB of salts$/);
    expect(pictures[1]).toMatch(/^One aggregate \(proof\): .* of proof, 5\.2 kB of salts$/);
    // The headline and the bars say the same two numbers.
    const totals = await page.locator('.picture .bar-name b').allTextContents();
    expect(headline).toContain(`${totals[0]} of signatures became ${totals[1]}: `);

    const before = requests.length;
    await page.getByRole('button', { name: 'Verify in this browser' }).click();
    const verdict = await page.locator('.log .notice.good').first().textContent();
    expect(verdict).toMatch(
      /^Valid\. 130 signatures in [\d.,]+ m?s, by WebAssembly on \d threads? of this browser/,
    );
    for (let times = 1; times <= 3; times++) {
      await page.getByRole('button', { name: 'Change one byte and verify' }).click();
      await page
        .getByText('Rejected, as expected:')
        .nth(times - 1)
        .waitFor();
    }
    expect(await page.locator('.log .notice.bad').count()).toBe(0);
    // Nothing was asked of the service for any of it, but the threads' script, which is that of the
    // worker.
    const asked = new Set(requests.slice(before));
    expect([...asked].filter((request) => !/\/v1\/ui\/worker\.\w+\.js$/.test(request))).toEqual([]);

    const fetching = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save the result file' }).click();
    const download = await fetching;
    expect(download.suggestedFilename()).toBe(`${id}.json`);
    const resultFile = await readFile(await download.path());

    // The same without a service, without a key, from files.
    const fresh = await open('#verify');
    const choose = (label: string, text: string) =>
      fresh.page.getByLabel(label).setInputFiles(jsonFile('file.json', text));
    await choose('Choose a result file', resultFile.toString());
    await choose('Choose your task file', taskFile.toString());
    await fresh.page.getByRole('button', { name: 'Verify in this browser' }).click();
    await fresh.page.getByText('Valid.', { exact: true }).waitFor();
    await fresh.page.getByRole('button', { name: 'Use another file' }).click();
    const reversed = JSON.stringify(JSON.parse(taskFile.toString()).reverse());
    await choose('Choose your task file', reversed);
    await fresh.page.getByRole('button', { name: 'Verify in this browser' }).click();
    await fresh.page.getByText(/keys, digests or their order differ/).waitFor();
    expect(fresh.requests.filter((request) => !request.includes('/v1/ui'))).toEqual([]);

    for (const { complaints: all } of [{ complaints }, fresh]) expect(all).toEqual([]);
    for (const request of [...requests, ...fresh.requests]) {
      // Blobs are the page's own downloads.
      expect(request.replace(' blob:', ' ')).toContain(` ${new URL(ui.address).origin}/`);
      expect(request).not.toContain(ui.key);
    }
    const kept = await page.evaluate(
      'JSON.stringify([Object.keys(sessionStorage), { ...localStorage }, document.cookie])',
    );
    expect(kept).toBe('[[],{},""]');
    fact(
      { task },
      TOPIC,
      `signed, built, submitted and verified 130 signatures in Chromium ${browser.version()}: ${headline}; three damaged copies refused`,
    );
  });

  test('the page stays alive while 1722 items are made', async ({ open, task }) => {
    const { page, complaints } = await open('#build');
    await page.getByRole('spinbutton', { name: 'Signatures' }).fill('1722');
    await page.getByRole('spinbutton', { name: 'Different keys' }).fill('300');
    await page.evaluate(() => {
      const state = globalThis as unknown as { longestGap: number; ticks: number };
      state.longestGap = 0;
      state.ticks = 0;
      let last = performance.now();
      setInterval(() => {
        const now = performance.now();
        state.longestGap = Math.max(state.longestGap, now - last);
        state.ticks++;
        last = now;
      }, 10);
    });
    const ticks = async () => Number(await page.evaluate('ticks'));
    // Waited for before it begins: who looks only afterwards may come too late.
    const working = page.getByText(/^(Making keys|Signing): [\d,]+ of/).waitFor();
    const before = await ticks();
    const startMs = performance.now();
    await page.getByRole('button', { name: 'Make test items' }).click();
    await working;
    await page.getByText('1,722', { exact: true }).first().waitFor();
    const tookMs = performance.now() - startMs;
    // Its clock went on; and there is no pause in which most of the work can have been done. How
    // long either takes is the machine's affair.
    expect((await ticks()) - before).toBeGreaterThan(30);
    const gap = Number(await page.evaluate('longestGap'));
    expect(gap).toBeLessThan(Math.max(1000, tookMs / 2));
    fact(
      { task },
      TOPIC,
      `1722 items made in its worker while the page's longest pause was ${gap.toFixed(0)} ms`,
    );

    // And it stops when told: while it makes as many keys as there are items, and the slower ones,
    // for which it would need much longer than a click takes on a busy machine.
    await page.getByRole('spinbutton', { name: 'Different keys' }).fill('1722');
    await page.getByRole('radio', { name: 'Falcon-1024' }).check();
    const making = page.getByText(/^Making keys/).waitFor();
    await page.getByRole('button', { name: 'Make test items' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace it' }).click();
    await making;
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    expect(await page.getByRole('alert').count()).toBe(0);
    // Stop had the focus and is gone: it is where the action was started.
    const make = page.getByRole('button', { name: 'Make test items' });
    expect(await make.evaluate((control) => control === document.activeElement)).toBe(true);
    expect(await make.getAttribute('aria-disabled')).toBe(null);
    expect(complaints).toEqual([]);
  });

  test('a key that is not known, and one that is kept when asked', async ({ open, ui }) => {
    const { page, complaints, requests } = await open();
    await page.getByRole('textbox', { name: 'API key' }).fill('not a key');
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByRole('alert').getByText('The API key is not known').waitFor();
    const field = page.getByRole('textbox', { name: 'API key' });
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
    // The browser itself tells the console of a 401; there is nothing else to tell.
    expect(complaints.filter((text) => !text.includes('status of 401'))).toEqual([]);

    await page.getByRole('checkbox', { name: 'Keep it for this tab' }).check();
    await enterKey(page, ui.key);
    await page.reload();
    await page.getByText('A key is in use.').waitFor();
    await page.getByRole('button', { name: 'Forget the key' }).click();
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'API key' }).inputValue()).toBe('');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(requests.filter((request) => request.includes(ui.key))).toEqual([]);
    expect(page.url()).not.toContain(ui.key);
  });

  test('a link with a key: used, and gone from the address and the history', async ({
    open,
    ui,
  }) => {
    const base = ui.address;
    const link = new URL(keyLink(base, ui.key)!);
    const { page, complaints, requests } = await open(link.hash);
    await page.getByText('A key is in use.').waitFor();
    expect(page.url()).toBe(`${base}/v1/ui`);
    await page.getByRole('link', { name: 'Build a task' }).click();
    await page.getByRole('heading', { name: 'Build a task' }).waitFor();
    const history = async () =>
      (await page.evaluate('navigation.entries().map(({ url }) => url).join(" ")')) as string;
    expect(await history()).not.toContain('key=');
    await page.goBack();
    expect(page.url()).toBe(`${base}/v1/ui`);

    // Followed in a tab that has the page already, it changes only the fragment.
    await page.getByRole('button', { name: 'Forget the key' }).click();
    await page.evaluate((hash) => {
      location.hash = hash;
    }, link.hash);
    await page.getByText('A key is in use.').waitFor();
    expect(page.url()).toBe(`${base}/v1/ui`);
    expect(await history()).not.toContain('key=');

    await page.getByRole('link', { name: 'Tasks' }).first().click();
    await page.getByRole('heading', { name: 'Your tasks' }).waitFor();
    // It is in memory alone.
    expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage])')).toBe('[{},{}]');
    await page.reload();
    await page.getByText('No key', { exact: true }).waitFor();
    expect(requests.filter((request) => request.includes(ui.key))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('files that are none, by line and item', async ({ open }) => {
    const { page, complaints } = await open('#build');
    const input = page.getByLabel('Choose a task file');
    const drop = (name: string, text: string) => input.setInputFiles(jsonFile(name, text));
    const items = makeItems(3, 2);
    const good = formatTaskFile(items);

    await drop('cut.json', good.slice(0, good.lastIndexOf('}')));
    await page.getByText('cut.json is not a task file', { exact: true }).waitFor();
    await page
      .getByText(
        /The file is not JSON: expected a comma or \}|this string does not end|ends too early/,
      )
      .waitFor();

    await drop('comma.json', '[\n{"digest": "0x00",\n "public_key": "0x09" "signature": "0x39"}]');
    await page
      .getByText('The file is not JSON: expected a comma or }, line 3, column 23.')
      .waitFor();

    await drop('object.json', '{"data": []}');
    await page.getByText('The file must be an array.').waitFor();

    const faulty = JSON.parse(good);
    delete faulty[1].signature;
    faulty[2].digest = '0xabc';
    await drop(
      'shape.json',
      `[\n${faulty.map((item: unknown) => JSON.stringify(item)).join(',\n')}]`,
    );
    await page.getByText('shape.json is not a task file', { exact: true }).waitFor();
    expect(await faultRows(page)).toEqual([
      '13signature is missing',
      '24digest must have an even number of hex digits',
    ]);

    // Dropped by the mouse, as people do.
    const transfer = await page.evaluateHandle(
      (text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], 'dropped.json', { type: 'application/json' }));
        return data;
      },
      withWrongSignature(items, 1),
    );
    await page.locator('label.drop').dispatchEvent('drop', { dataTransfer: transfer });
    await page.getByText('1 of 3 invalid').waitFor();
    expect(await faultRows(page)).toEqual([
      '13the signature does not match the message and the key',
    ]);
    expect(complaints).toEqual([]);
  });

  test('a task that fails says why, item by item', async ({ open, ui }) => {
    const { page, complaints } = await open();
    await enterKey(page, ui.key);
    await page.goto(`${ui.page}#build`);
    const file = jsonFile('bad.json', withWrongSignature(makeItems(5, 2), 3));
    await page.getByLabel('Choose a task file').setInputFiles(file);
    await page.getByRole('button', { name: 'Submit it anyway' }).click();
    await page.getByText('Verifying: failed').waitFor();
    expect(await faultRows(page)).toEqual([
      '3the signature does not match the message and the key',
    ]);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Your tasks' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
