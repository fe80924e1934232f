/** Limits of task files and threads on the command line. */
import { availableParallelism } from 'node:os';
import { MAX_AGGREGATE_ITEMS } from '../../aggregate/index.ts';
import { integer } from '../../shared/optionRows.ts';
import type { Option } from './command.ts';
import { MAX_INPUT_BYTES } from './io.ts';
import { readNumber } from './settingText.ts';

/** Wider than those of the service: whoever runs the command owns the machine. */
export const FILE_LIMITS = Object.freeze({
  maxSignatures: MAX_AGGREGATE_ITEMS,
  maxMessageBytes: MAX_INPUT_BYTES,
  maxFileBytes: MAX_INPUT_BYTES,
});

/** The most threads that the library uses. */
const MAX_THREADS = 64;
const ROW = integer('threads of one aggregate', { min: 1, max: MAX_THREADS });

export const THREADS: Option = {
  name: 'threads',
  value: 'n',
  about: `threads to use, 1 to ${MAX_THREADS} [one per processor]`,
};

/** `--threads`; one per processor if it is absent. */
export function readThreads(text: string | undefined): number {
  if (text === undefined) return Math.min(MAX_THREADS, availableParallelism());
  return readNumber('--threads', ROW, text);
}
