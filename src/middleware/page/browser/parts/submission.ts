/**
 * Submits a batch: creates the task, uploads its file, notifies; with progress and a Stop button.
 */

import { isClientError } from '../../../../client/index.ts';
import { sizeText } from '../../../../wire/sizes.ts';
import type { App } from '../app.ts';
import { announce, button, follow, h, setOff } from '../dom.ts';
import type { BatchSummary } from '../worker/protocol.ts';
import { keyNotice } from './keyNotice.ts';
import { longAction, type Tell } from './longAction.ts';

export function submission(app: App, summary: BatchSummary): HTMLElement {
  const label = summary.invalidTotal === 0 ? 'Submit the task' : 'Submit it anyway';
  const send = button(label, () => void run(), {
    look: summary.invalidTotal === 0 ? 'primary' : 'plain',
  });
  const action = longAction({
    label: 'Submitting',
    control: send,
    stopped: 'Stopped; nothing was submitted',
    work: async (signal, tell) => {
      const id = await submit(app, summary, signal, tell);
      app.submitted.set(id, summary);
      announce('Submitted');
      app.go(`tasks/${id}`);
    },
  });
  const run = async () => {
    if (app.session.key === null) announce('This needs an API key');
    else await action.run();
  };
  const notice = keyNotice(app);
  const show = () => setOff(send, app.session.key === null);
  follow(app.session, show);
  return h('div', { class: 'stack' }, notice, h('div', { class: 'row' }, send), action.places);
}

async function submit(
  app: App,
  summary: BatchSummary,
  signal: AbortSignal,
  tell: Tell,
): Promise<string> {
  const { client } = app;
  tell('Creating the task', 0, 0);
  const file = await app.worker.call('taskFile', { batch: summary.batch });
  const ticket = await client.createTask({ signal });
  try {
    await client.upload(app.reachable(ticket.url), file, {
      signal,
      onProgress: ({ done, total }) => {
        tell(`Uploading: ${sizeText(done)} of ${sizeText(total)}`, done, total);
      },
    });
    tell('Notifying', 1, 1);
    await client.notify(ticket.process_id, { signal });
  } catch (error) {
    // A task without its file would remain until it expires.
    if (signal.aborted || isClientError(error))
      await client.remove(ticket.process_id).catch(() => {});
    throw error;
  }
  return ticket.process_id;
}
