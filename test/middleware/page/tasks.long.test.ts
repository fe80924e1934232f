/**
 * The list of tasks in Chromium: pages, filter, live changes, cancel and delete; and a submission
 * that is stopped.
 */
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { createClient } from '../../../src/client/index.ts';
import { PATIENCE_MS } from '../../support/chromium.ts';
import { makeItems } from '../triples.ts';
import { enterKey, startUiService, type UiService } from './browser.ts';
import { hasChromium, pageTest } from './pageTest.ts';

/** Nobody works on the tasks of the first: they stay where they are. */
const idle = pageTest(() => startUiService({ workers: false }));
const working = pageTest();

/** Waits until what is read is as expected. */
async function eventually<T>(read: () => Promise<T>, expected: T): Promise<void> {
  await expect.poll(read, { timeout: PATIENCE_MS }).toEqual(expected);
}

describe.runIf(hasChromium)('in Chromium', { timeout: 300_000 }, () => {
  const clientOf = (ui: UiService) => createClient({ baseUrl: ui.address, apiKey: ui.key });
  const openTasks = async (ui: UiService, page: Page) => {
    await enterKey(page, ui.key);
    await page.goto(`${ui.page}#tasks`);
  };
  const names = (page: Page) => page.locator('.tasks .name').allTextContents();

  idle('pages, newest first, and by status', async ({ open, ui }) => {
    const client = clientOf(ui);
    const ids: string[] = [];
    for (let i = 0; i < 45; i++) ids.push((await client.createTask()).process_id);
    const { process_id: waiting } = await client.submit(makeItems(2, 2));
    const newest = [...ids, waiting].reverse();
    const { page, complaints } = await open();
    await openTasks(ui, page);
    await eventually(() => names(page), newest.slice(0, 20));
    expect(await page.getByRole('button', { name: 'Newer' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Older' }).click();
    await eventually(() => names(page), newest.slice(20, 40));
    await page.getByRole('button', { name: 'Older' }).click();
    await eventually(() => names(page), newest.slice(40));
    expect(await page.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Newer' }).click();
    await eventually(() => names(page), newest.slice(20, 40));

    const filter = page.getByRole('combobox', { name: 'Status' });
    await filter.selectOption('waiting');
    await eventually(() => names(page), [waiting]);
    expect(await page.locator('.tasks .chip').allTextContents()).toEqual(['waiting']);
    await filter.selectOption('failed');
    await page.getByText('No failed tasks').waitFor();
    expect(complaints).toEqual([]);
  });

  idle('a task is cancelled, then deleted; the list follows by itself', async ({ open, ui }) => {
    const client = clientOf(ui);
    const { process_id: id } = await client.submit(makeItems(2, 2));
    const { page, complaints, requests } = await open();
    await openTasks(ui, page);
    await page.getByRole('button', { name: `Cancel task ${id}` }).click();
    // Asked first, and a No is a No.
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click();
    expect((await client.task(id)).status).toBe('wait for falcon signature verify');
    await page.getByRole('button', { name: `Cancel task ${id}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the task' }).click();
    await page.getByRole('button', { name: `Delete task ${id}` }).waitFor();
    expect((await client.task(id)).status).toBe('cancelled');

    await page.getByRole('link', { name: `Task ${id}` }).click();
    await page.getByText('Waiting: cancelled').waitFor();
    expect(await page.getByRole('heading', { name: 'What was saved' }).count()).toBe(0);
    await page.getByRole('link', { name: 'All tasks' }).click();
    await page.getByRole('button', { name: `Delete task ${id}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: `Task ${id}` }).waitFor({ state: 'detached' });
    await expect(client.task(id)).rejects.toMatchObject({ status: 404 });

    // Cancelled elsewhere: heard of without a click.
    const { process_id: other } = await client.submit(makeItems(2, 2));
    const row = page.locator('.tasks > li', { hasText: other });
    await row.getByText('waiting', { exact: true }).waitFor();
    await eventually(async () => requests.some((one) => one.includes(`${other}/events`)), true);
    await client.cancel(other);
    await row.getByText('cancelled', { exact: true }).waitFor();
    // A list from before the cancellation that comes after its event is followed again, and must
    // find the task.
    const lists = () => requests.filter((one) => one.includes('/tasks?')).length;
    const seen = lists();
    await eventually(async () => lists() > seen, true);
    await client.remove(other);
    await row.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  working('a task in work is followed to its end', async ({ open, ui }) => {
    const { page, complaints } = await open();
    await openTasks(ui, page);
    await page.getByText('No tasks yet').waitFor();
    const { process_id: id } = await clientOf(ui).submit(makeItems(3, 2));
    await page
      .locator('.tasks > li', { hasText: id })
      .getByText('completed', { exact: true })
      .waitFor();
    expect(complaints).toEqual([]);
  });

  working('a task that there is not', async ({ open, ui }) => {
    const { page, complaints } = await open();
    await enterKey(page, ui.key);
    await page.goto(`${ui.page}#tasks/123456789012345678`);
    await page.getByRole('alert').getByText('There is no such task').waitFor();
    expect(complaints.filter((text) => !text.includes('status of 404'))).toEqual([]);
  });

  idle('an upload shows its progress, and stops when told', async ({ open, ui }) => {
    const { page, complaints } = await open();
    await enterKey(page, ui.key);
    await page.goto(`${ui.page}#build`);
    await page.getByRole('spinbutton', { name: 'Signatures' }).fill('600');
    await page.getByRole('button', { name: 'Make test items' }).click();
    await page.getByText(/^all valid/).waitFor();
    const newest = async () => (await clientOf(ui).page({ limit: 1, order: 'desc' })).tasks[0]?.id;
    const before = await newest();
    const session = await page.context().newCDPSession(page);
    const slow = { offline: false, latency: 0, downloadThroughput: -1 };
    await session.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: 100_000 });
    await page.getByRole('button', { name: 'Submit the task' }).click();
    await page.getByText(/^Uploading: [\d.]+ [kM]?B of 1\.9 MB$/).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    expect(await page.getByRole('alert').count()).toBe(0);
    // What was begun is not left lying about.
    await session.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 });
    await eventually(newest, before);
    await page.getByRole('button', { name: 'Submit the task' }).click();
    await page.getByRole('heading', { name: /^Task \d/ }).waitFor();
    await page.locator('.chip', { hasText: 'waiting' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
