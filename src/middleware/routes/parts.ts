/** `…/aggsign/task/:id/part`: announces the parts of a task, or gets new URLs for them. */
import { MAX_PROOF_ITEMS } from '../../aggregate/index.ts';
import { CodedError } from '../../shared/errors.ts';
import { decodeUtf8 } from '../../shared/utf8.ts';
import { STATE_TEXTS } from '../../wire/taskStates.ts';
import { bodyLimits, withBody } from '../http/body.ts';
import { requestFingerprint, requestLine, taskOnce } from '../http/idempotency.ts';
import { ProblemError } from '../http/problems.ts';
import type { Settings } from '../options/options.ts';
import { MAX_PARTS, type Task } from '../stores/port/task.ts';
import type { NewPart, PartStore, PutOptions, PutPartOutcome } from '../stores/port/taskStore.ts';
import { noteArrivedParts } from './arrivals.ts';
import { findTask, toSeconds, uploadTicket } from './records.ts';
import type { Deps, Handler } from './route.ts';

/** Maximum length of a body that may be ignored, which is read to recognise repeats. */
export const IGNORED_BODY_BYTES = 64 * 1024;

/** Parts whose files are looked for at the blob store when another part is announced. */
const LOOKS = 4;

export function makePart(deps: Deps): Handler {
  const { settings, runtime, budget } = deps;
  const limits = bodyLimits(settings, IGNORED_BODY_BYTES);
  return (c, caller) =>
    withBody(c, limits, budget.of(caller.clientId), async (body) => {
      const { store, parts } = runtime.ports;
      const { clientId } = caller;
      const task = await findTask(store, c.req.param('process_id'), caller);
      if (parts === null || !task.parts) throw REFUSALS.noParts();
      const { bytes, part: number } = announcement(body, settings.maxBodyBytes);
      await noteArrivedParts(deps, task, LOOKS);
      const { threads, uploadUrlTtlMs: ttlMs } = settings;
      const next = { parent: task.id, clientId, threads, ttlMs, ...c.get('origin') };
      const part =
        number === undefined
          ? await taskOnce(c, {
              clientId,
              store,
              fingerprint: () => requestFingerprint(requestLine(c), body),
              make: (options) => putPart(parts, next, options),
            })
          : await store.renew(task.id, clientId, ttlMs, number);
      if (part === null) throw conflict(`The task accepts no file for part ${number}`);
      const { process_id, ...ticket } = await uploadTicket(c, deps, part, bytes);
      return c.json({ part: part.part, ...ticket, status: STATE_TEXTS[part.state].list }, 201);
    });
}

async function putPart(
  parts: PartStore,
  part: NewPart,
  options: Pick<PutOptions, 'hold'>,
): Promise<Task> {
  const outcome = await parts.putPart(part, options);
  if (outcome.ok) return outcome.task;
  throw REFUSALS[outcome.reason]();
}

const conflict = (message: string) => new ProblemError('CONFLICT', { message });

const REFUSALS: Readonly<
  Record<Exclude<PutPartOutcome, { ok: true }>['reason'], () => CodedError>
> = {
  missing: () => new CodedError('NOT_FOUND', { message: 'There is no such task' }),
  noParts: () => conflict('The task was created without parts'),
  closed: () => conflict('The task accepts no more parts: it was notified, or has ended'),
  tooMany: () => conflict(`The task has ${MAX_PARTS} parts, which is the maximum`),
  superseded: () => new CodedError('IDEMPOTENCY_CONFLICT'),
};

/** Returns the answer to the creation of a task with parts. */
export const partsTicket = ({ maxBodyBytes }: Settings, { id, expiresAtMs }: Task) => ({
  process_id: id,
  expires_at: toSeconds(new Date(expiresAtMs).toISOString()),
  max_parts: MAX_PARTS,
  max_part_bytes: maxBodyBytes,
  max_part_items: MAX_PROOF_ITEMS,
});

/** Returns the refusal to close a task before all its parts are uploaded. */
export function incompleteParts(parts: readonly Task[]): ProblemError {
  const errors = parts.flatMap(({ state, part, error }) => {
    const path = `/parts/${part}`;
    if (state === 'created') return [{ path, code: 'missing', message: 'has not been uploaded' }];
    if (state !== 'failed') return [];
    return [{ path, code: 'failed', message: error?.message ?? 'has failed' }];
  });
  return new ProblemError('NOT_UPLOADED', {
    message: 'Parts have not been uploaded, or have failed',
    errors,
  });
}

/** Longer bodies are not announcements. */
const MAX_ANNOUNCEMENT_BYTES = 1024;

interface Announcement {
  /** Length of the file. */
  readonly bytes?: number;
  /** The task has parts. */
  readonly parts?: true;
  /** The number of an earlier part. */
  readonly part?: number;
}

/**
 * Returns the known members of a body that is a JSON object. Other bodies are ignored.
 *
 * @throws CodedError `BODY_TOO_LARGE` for a file that would be refused later
 */
export function announcement(body: Uint8Array, maxBytes: number): Announcement {
  if (body.length === 0 || body.length > MAX_ANNOUNCEMENT_BYTES) return {};
  let said: unknown;
  try {
    said = JSON.parse(decodeUtf8(body));
  } catch {
    return {};
  }
  const { bytes, parts, part } = (said ?? {}) as Readonly<Record<keyof Announcement, unknown>>;
  const isCount = (value: unknown, min: number): value is number =>
    Number.isSafeInteger(value) && (value as number) >= min;
  if (isCount(bytes, 1) && bytes > maxBytes) throw new CodedError('BODY_TOO_LARGE');
  return {
    ...(isCount(bytes, 1) && { bytes }),
    ...(parts === true && { parts }),
    ...(isCount(part, 0) && { part }),
  };
}
