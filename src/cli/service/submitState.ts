/**
 * The state of a submission, in a small file beside the task file, so that a killed command can
 * resume. The file is written before the step that it names: it may lag behind, but is never ahead.
 *
 *   create   a key was chosen; the task may exist (the same key gets the same task), and so may its
 *            parts (keys derived from it get the same ones)
 *   upload   the task exists; its file may be there (sending it again replaces it)
 *   notify   the file is there; the service may have been notified
 *   wait     the service has been notified; the result can be awaited and fetched
 *
 * It holds the upload url, which lets anyone upload, so only its owner can read it.
 */
import { readFile, rm } from 'node:fs/promises';
import { newIdempotencyKey } from '../../client/index.ts';
import { type Io, IoFailure, UsageError } from '../lib/command.ts';
import { asIoFailure, writeOutput } from '../lib/io.ts';

const VERSION = 1;
const STEPS = ['create', 'upload', 'notify', 'wait'] as const;

export interface SubmitState {
  readonly version: typeof VERSION;
  readonly service: string;
  /** SHA-256 of the task file. */
  readonly task_file: string;
  readonly idempotency_key: string;
  /** The next step. */
  readonly step: (typeof STEPS)[number];
  readonly process_id: string | null;
  readonly upload_url: string | null;
}

/** A state must match it to be resumed. */
interface Submission {
  /** Address and name of the service. */
  readonly service: string;
  /** SHA-256 of the task file. */
  readonly hash: string;
}

/** Keeps the state; without a path (standard input) it is kept for this run alone. */
export class StateKeeper {
  readonly path: string | undefined;
  readonly #io: Io;

  constructor(path: string | undefined, io: Io) {
    this.path = path;
    this.#io = io;
  }

  /** The state on disk, or a new one. @throws UsageError if it is of another file or service */
  async open(submission: Submission): Promise<{ state: SubmitState; resumed: boolean }> {
    const found = await this.#read();
    if (found !== null) {
      this.#requireSame(found, submission);
      return { state: found, resumed: true };
    }
    const state = freshState(submission);
    try {
      return { state: await this.save(state, 'create'), resumed: false };
    } catch (error) {
      // If another process has created it a moment ago, its task is ours too.
      if ((await this.#read()) === null) throw error;
      return this.open(submission);
    }
  }

  async save(state: SubmitState, how?: 'create'): Promise<SubmitState> {
    const text = `${JSON.stringify(state, null, 2)}\n`;
    if (this.path !== undefined) await writeOutput(this.path, text, this.#io, how);
    return state;
  }

  async forget(): Promise<void> {
    if (this.path === undefined) return;
    await rm(this.path, { force: true }).catch((error) => {
      throw asIoFailure(`cannot remove ${this.path}`, error);
    });
  }

  async #read(): Promise<SubmitState | null> {
    if (this.path === undefined) return null;
    try {
      return parse(await readFile(this.path, 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      if (!(error instanceof SyntaxError)) throw asIoFailure(`cannot read ${this.path}`, error);
      const message = `${this.path} is not the state of a submission: remove it, or give --restart`;
      throw new IoFailure(message);
    }
  }

  #requireSame(state: SubmitState, { service, hash }: Submission): void {
    const refuse = (what: string) =>
      new UsageError(`${this.path} belongs to a submission ${what}: give --restart to start over`);
    if (state.service !== service) throw refuse(`to another service (${state.service})`);
    if (state.task_file !== hash) throw refuse('of a different task file');
  }
}

export function freshState({ service, hash }: Submission): SubmitState {
  return {
    version: VERSION,
    service,
    task_file: hash,
    idempotency_key: newIdempotencyKey(),
    step: 'create',
    process_id: null,
    upload_url: null,
  };
}

/** @throws SyntaxError if it is not a state */
function parse(text: string): SubmitState {
  const value: Partial<SubmitState> | null = JSON.parse(text);
  const { version, service, task_file, idempotency_key, step = '', process_id } = value ?? {};
  const isWhole =
    version === VERSION &&
    [service, task_file, idempotency_key].every((each) => typeof each === 'string') &&
    STEPS.some((each) => each === step) &&
    (step === 'create' ||
      (/^\d+$/.test(String(process_id)) &&
        (step === 'wait' || typeof value?.upload_url === 'string')));
  if (isWhole) return value as SubmitState;
  throw new SyntaxError('parts are missing');
}
