/**
 * The list that `falconry submit` submits: a task file, which is held whole, or items line by line
 * (NDJSON), which are read as they are sent. Of those, keys and messages are kept, for the check of
 * the result.
 */
import { CodedError } from '../../shared/errors.ts';
import { sha256, sha256Of } from '../../shared/hash.ts';
import { checkTriples, parseTaskFile } from '../../wire/taskFile.ts';
import type { Statement, TaskItem } from '../../wire/triple.ts';
import type { Io } from '../lib/command.ts';
import { readInput, streamInput } from '../lib/io.ts';
import { FILE_LIMITS } from '../lib/tasks.ts';

export interface Submitted {
  /** SHA-256 of the file; of lines from standard input, which cannot be read again, none. */
  readonly hash: string;
  /** Null for lines. */
  readonly file: Uint8Array | null;
  /** A list, or the items of the lines. */
  readonly items: readonly TaskItem[] | AsyncIterable<TaskItem>;
  /** What the result must state. */
  statements(): Promise<readonly Statement[]>;
}

/** A longer list than fits one file is submitted in parts. */
const LIMITS = { ...FILE_LIMITS, maxSignatures: Number.POSITIVE_INFINITY };

/** @throws IoFailure; CodedError for a task file that is wrong */
export async function openSubmitted(path: string, isLines: boolean, io: Io): Promise<Submitted> {
  if (isLines) return openLines(path, io);
  const file = await readInput(path, io);
  const items = parseTaskFile(file, LIMITS);
  return { hash: sha256(file).toString('hex'), file, items, statements: async () => items };
}

async function openLines(path: string, io: Io): Promise<Submitted> {
  let known: Statement[] | undefined;
  const items = {
    async *[Symbol.asyncIterator]() {
      const seen: Statement[] = [];
      for await (const item of itemsOf(streamInput(path, io))) {
        seen.push({ publicKey: item.publicKey, message: item.message });
        yield item;
      }
      known = seen;
    },
  };
  return {
    hash: path === '-' ? '' : await sha256Of(streamInput(path, io)),
    file: null,
    items,
    async statements() {
      // After an interruption, the lines were not read in this run.
      if (known === undefined) for await (const _ of items);
      return known!;
    },
  };
}

/** @throws CodedError `MALFORMED_JSON`, `BAD_TASK_FILE` with the number of the line */
async function* itemsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<TaskItem> {
  /** Repeated keys share one array. */
  const keys = new Map<string, Uint8Array>();
  let number = 0;
  for await (const line of linesOf(pieces)) {
    number++;
    if (line.trim() === '') continue;
    const { items, faults } = checkTriples([parseLine(line, number)], LIMITS);
    if (faults) {
      const message = `Line ${number}: ${faults.map((fault) => fault.message).join('; ')}`;
      throw new CodedError('BAD_TASK_FILE', { message });
    }
    const [item] = items as [TaskItem];
    const name = Buffer.from(item.publicKey).toString('latin1');
    const publicKey = keys.get(name) ?? item.publicKey;
    keys.set(name, publicKey);
    yield { ...item, publicKey };
  }
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new CodedError('MALFORMED_JSON', { message: `Line ${number} is not valid JSON`, cause });
  }
}

async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  yield rest + decoder.decode();
}
