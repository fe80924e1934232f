/** Logs the work on tasks: failures and trouble as warnings and errors, the rest as debug. */
import type { Logger, RunnerEvent } from '../events.ts';
import { errorSummary, errorText } from '../events.ts';

/** The same trouble is logged once per interval: every heartbeat meets an unreachable store. */
const TROUBLE_EVERY_MS = 10_000;

/** @returns a function that writes events to the log */
export function workLog(logger: Logger): (event: RunnerEvent) => void {
  const trouble = new Map<string, { readonly atMs: number; repeated: number }>();

  const tellTrouble = (error: unknown): void => {
    const text = errorSummary(error);
    const nowMs = performance.now();
    const last = trouble.get(text.error);
    if (last !== undefined && nowMs - last.atMs < TROUBLE_EVERY_MS) {
      last.repeated++;
      return;
    }
    // Texts may contain numbers, so old ones are dropped.
    for (const [key, { atMs }] of trouble) {
      if (nowMs - atMs >= TROUBLE_EVERY_MS) trouble.delete(key);
    }
    trouble.set(text.error, { atMs: nowMs, repeated: 0 });
    const repeated = last?.repeated ?? 0;
    logger.warn('trouble with the store or the files', {
      ...text,
      ...(repeated > 0 && { repeated }),
    });
  };

  return (event) => {
    switch (event.type) {
      case 'failed': {
        const { error, type: _, ...named } = event;
        // A fault of the batch is the client's; anything else is the service's.
        if (error.status < 500) logger.info('task failed', { ...named, ...errorSummary(error) });
        else logger.error('task failed', { ...named, code: error.code, error: errorText(error) });
        return;
      }
      case 'setAside': {
        const { error, type: _, ...named } = event;
        const fields = { ...named, code: error.code, error: errorText(error) };
        const retry = `falconry retry ${event.taskId}`;
        logger.error('task set aside, since it ends its workers', { ...fields, retry });
        return;
      }
      case 'retried': {
        const { error, type: _, ...named } = event;
        const level = error.code === 'FILE_DAMAGED' ? 'error' : 'warn';
        logger[level]('task will be tried again', { ...named, ...errorSummary(error) });
        return;
      }
      case 'lost': {
        const { type: _, ...named } = event;
        logger.warn('task lost to another worker', named);
        return;
      }
      case 'trouble':
        tellTrouble(event.error);
        return;
      default:
        logger.debug('runner', { ...event });
    }
  };
}
