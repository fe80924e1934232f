/**
 * The list that `falconry submit` submits. One that is too long for memory is read as it is sent;
 * of its items, keys and messages are kept, for the check of the result.
 */
import { sha256, sha256OfPieces } from '../../shared/hash.ts';
import { checkTriples } from '../../wire/taskFile.ts';
import { formatTaskFile, type Statement, type TaskItem } from '../../wire/triple.ts';
import type { Io } from '../lib/command.ts';
import { readList } from '../lib/elements.ts';
import { streamInput } from '../lib/io.ts';

export interface Submitted {
  /** SHA-256 of the list, or of a file that is longer; undefined for what cannot be read again. */
  readonly hash: string | undefined;
  readonly items: readonly TaskItem[] | AsyncIterable<TaskItem>;
  /** What the result must state. */
  statements(): Promise<readonly Statement[]>;
}

/** @throws IoFailure; CodedError for a task file that is wrong */
export async function openSubmitted(path: string, io: Io): Promise<Submitted> {
  const list = await readList(path, io, checkTriples);
  if (Array.isArray(list)) {
    const hash = sha256(Buffer.from(formatTaskFile(list))).toString('hex');
    return { hash, items: list, statements: async () => list };
  }
  let known: Statement[] | undefined;
  const items = {
    async *[Symbol.asyncIterator]() {
      const seen: Statement[] = [];
      for await (const item of list) {
        seen.push({ publicKey: item.publicKey, message: item.message });
        yield item;
      }
      known = seen;
    },
  };
  return {
    hash: path === '-' ? undefined : await sha256OfPieces(streamInput(path, io)),
    items,
    async statements() {
      // After an interruption, the list was not read in this run.
      if (known === undefined) for await (const _ of items);
      return known!;
    },
  };
}
