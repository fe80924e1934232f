/** Keeps the draft of a task over a reload, with the tasks that it was submitted as. */
import type { App } from './app.ts';
import { MAX_KEPT_BYTES } from './kept.ts';

interface KeptDraft {
  readonly name: string;
  readonly file: Uint8Array<ArrayBuffer>;
  readonly submittedAs: readonly string[];
}

/** Brings back what was kept, unless there is a draft already, and keeps every change from then. */
export async function keepDraft(app: App): Promise<void> {
  const { draft, kept, worker, limits } = app;
  let changed = false;
  draft.onChange(() => {
    changed = true;
    void save(app);
  });
  const found = (await kept.read('draft')) as KeptDraft | null;
  if (found === null || changed) return;
  const { name, submittedAs } = found;
  const file = new Blob([found.file]);
  const reading = await worker.call('readFile', { file, name, kind: 'task', limits });
  if (changed || 'faults' in reading) return;
  draft.set(reading.summary, submittedAs);
}

/** Never rejects. */
async function save({ draft, kept, worker }: App): Promise<void> {
  const { summary, submittedAs } = draft;
  if (summary === null || summary.bytes.file > MAX_KEPT_BYTES) return kept.save('draft', null);
  try {
    const file = await worker.call('taskFile', { batch: summary.batch });
    if (draft.summary !== summary) return;
    const { name } = summary;
    await kept.save('draft', { name, file, submittedAs } satisfies KeptDraft);
  } catch {
    // The worker is lost, and with it the draft.
  }
}
