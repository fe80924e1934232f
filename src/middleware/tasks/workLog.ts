/** The work on tasks in the log: failures and trouble for everybody, the rest for debugging. */
import { describe, inShort } from '../describe.ts';
import type { Logger } from '../options.ts';
import type { RunnerEvent } from './runner.ts';

/** Writes an event to the log. */
export function logWork(logger: Logger, event: RunnerEvent): void {
  switch (event.type) {
    case 'failed': {
      const { error, type: _, ...named } = event;
      // A fault of the batch is its client's; anything else is ours.
      if (error.status < 500) logger.info('task failed', { ...named, ...inShort(error) });
      else logger.error('task failed', { ...named, code: error.code, error: describe(error) });
      return;
    }
    case 'retried': {
      const { error, type: _, ...named } = event;
      logger.warn('task will be tried again', { ...named, ...inShort(error) });
      return;
    }
    case 'lost': {
      const { type: _, ...named } = event;
      logger.warn('task lost to another worker', named);
      return;
    }
    case 'trouble':
      logger.warn('trouble with the store or the files', inShort(event.error));
      return;
    default:
      logger.debug('runner', { ...event });
  }
}
