/**
 * A task: its terms, its states, and the table of transitions.
 *
 * TERMINOLOGY
 *   task       one batch of signatures and its result; a row in a store
 *   kind       the work to do: 'aggregate' makes an aggregate of the task file; a task with parts
 *              is a 'merge', which makes one aggregate of the results of its 'part's
 *   part       a row below a task with parts, its parent, with a file and an attempt of its own
 *   state      see below; the texts on the wire are derived from it, never stored
 *   input      the task file: a blob, named by its key; replaceable until the notification
 *   result     the result file: a blob whose key ends in `<task id>.json`
 *   claim      a worker takes a waiting task, which starts an attempt and a lease
 *   attempt    the number of claims so far; every write of a worker names it, and is refused if
 *              another attempt is the current one (fencing)
 *   lease      the time for which a claim holds without a heartbeat
 *   heartbeat  `extend`, which prolongs the lease
 *   loss       a lease that ended without a heartbeat; the task waits again
 *   set aside  waiting, but not claimable (quarantined), since the task killed its workers; an
 *              operator puts it back
 *   failure    an attempt whose worker died while the process of the runner lived on
 *   isolation  an attempt at a suspect task (see runner.ts) in a separate worker
 *
 *             upload       notify       claim          all valid         result stored
 *   created ─────▶ uploaded ─────▶ waiting ─────▶ verifying ─────▶ aggregating ─────▶ completed
 *      │              │               ▲  │            │ │               │ │
 *      └─▶ expired ◀──┘               └──┼─ lease ended ┴──── lease ended ┘ └──▶ failed
 *                                        └──▶ cancelled (from every unfinished state)
 *
 * A direct request starts in `waiting`. Completed, failed, cancelled and expired are final.
 *
 * A task with parts is `uploaded` from its first part until the notification, which closes the list
 * of parts. Then it waits for them, and the end of the last one makes it claimable:
 *
 *            upload       claim                                   lease ended: back to waiting
 *   created ─────▶ waiting ─────▶ verifying ─────▶ aggregating ─────▶ completed ─┐
 *                   ▲  ▲                └────────────┴──▶ failed ─┐              │
 *                   │  └── upload of another file, while open ────┘              │
 *                   └─────── the result is damaged, when it is merged ───────────┘
 *
 * While the list is open, a part that fails can be replaced; a part that fails later fails the
 * task. The end of a task cancels its parts, which `sweep` removes with their files.
 */
import {
  CodedError,
  type CodedErrorDetails,
  type ErrorCode,
  type InvalidItem,
} from '../../../shared/errors.ts';
import type { TaskState } from '../../../wire/taskStates.ts';

/** The legal steps. A store makes no others, each in one transaction. */
export const TRANSITIONS: Readonly<Record<TaskState, readonly TaskState[]>> = {
  created: ['uploaded', 'cancelled', 'expired'],
  uploaded: ['uploaded', 'waiting', 'cancelled', 'expired'],
  waiting: ['verifying', 'cancelled'],
  verifying: ['aggregating', 'failed', 'cancelled', 'waiting'],
  aggregating: ['completed', 'failed', 'cancelled', 'waiting'],
  completed: [],
  failed: [],
  cancelled: [],
  expired: [],
};

/** Further steps of parts and their parents. */
const PART_TRANSITIONS: Readonly<Partial<Record<TaskState, readonly TaskState[]>>> = {
  created: ['waiting'],
  waiting: ['failed'],
  completed: ['waiting'],
  failed: ['waiting'],
};

/** Maximum number of parts of a task. */
export const MAX_PARTS = 4096;

/** Returns whether a worker holds the task in this state. */
export function isRunning(state: TaskState): boolean {
  return state === 'verifying' || state === 'aggregating';
}

/** Returns whether the step is legal. */
export function canGo(from: TaskState, to: TaskState, kind: TaskKind = 'aggregate'): boolean {
  const own = kind === 'aggregate' ? undefined : PART_TRANSITIONS[from];
  return TRANSITIONS[from].includes(to) || own?.includes(to) === true;
}

/** The progress of a worker. `total` is 0 until it is known. */
export interface TaskProgress {
  readonly phase: 'read' | 'verify' | 'aggregate' | 'store';
  readonly done: number;
  readonly total: number;
}

/**
 * The reason why a task failed, as stored and shown. `invalid` lists every invalid item, `errors`
 * the first hundred malformed ones (`path` is a JSON pointer into the task file), and `total` is
 * the number of malformed ones.
 */
export interface TaskError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly invalid?: readonly InvalidItem[];
  readonly errors?: readonly {
    readonly path: string;
    readonly code: string;
    readonly message: string;
  }[];
  readonly total?: number;
  /** The part at fault; indices count from its start. */
  readonly part?: number;
}

/** A CodedError with everything that clients see of a failure. */
export class TaskFailure extends CodedError {
  readonly shown: TaskError;

  constructor(shown: TaskError, details: Omit<CodedErrorDetails, 'message'> = {}) {
    super(shown.code, { ...details, message: shown.message });
    this.shown = shown;
  }
}

/**
 * A stored blob. `tag` is its version, if the blob store has versions (an ETag). `sha256`, in hex,
 * is absent for a file that a client has put into a bucket, until a worker has read it.
 */
export interface BlobRef {
  readonly key: string;
  readonly bytes: number;
  readonly tag?: string;
  readonly sha256?: string;
}

/**
 * The result of a completed task. `format` is 'bundle', 'proof', 'merged' or 'series'; it is 'part'
 * for a part that is to be merged, whose blob is no result file then.
 */
export interface TaskResult {
  readonly blob: BlobRef;
  readonly format: string;
  /** Bytes of the aggregate itself, before hex. */
  readonly aggregateBytes: number;
}

export type TaskKind = 'aggregate' | 'part' | 'merge';

/** Numbers of parts of a task. */
export interface PartCounts {
  readonly announced: number;
  /** Uploaded, and not failed. */
  readonly ready: number;
  readonly done: number;
}

/** A task as read from a store. Never changed in place: every read returns a new object. */
export interface Task {
  /** The wire's `process_id`: 1..2^53-1, later tasks have larger ones. */
  readonly id: number;
  readonly clientId: number;
  readonly kind: TaskKind;
  /** The task that this is a part of, or null. */
  readonly parent: number | null;
  /** The number of this part, from 0 in the order of the list; null for others. */
  readonly part: number | null;
  /** Null unless the kind is 'merge'. */
  readonly parts: PartCounts | null;
  readonly state: TaskState;
  /** Number of claims so far; 0 = never claimed. */
  readonly attempt: number;
  /** Attempts that killed their worker, or in which the task failed. */
  readonly failures: number;
  /** Leases that ended without a heartbeat. */
  readonly losses: number;
  /** True if set aside: not claimable until an operator puts it back. */
  readonly quarantined: boolean;
  /** Signatures in the task file; 0 until it has been read. Of parts: in those that are done. */
  readonly count: number;
  /** Planned worker threads; after the claim, the actual number (`VCPUs`). */
  readonly threads: number;
  readonly progress: TaskProgress | null;
  /** ISO 8601 UTC with nine fractional digits, like all times whose names end in `At`. */
  readonly createdAt: string;
  /** Equals `createdAt` until the notification. */
  readonly submittedAt: string;
  readonly updatedAt: string;
  /** The time at which a final state was reached. */
  readonly finishedAt: string | null;
  /** Deadline for file and notification; Unix time in milliseconds. */
  readonly expiresAtMs: number;
  /** Id of the request that created the task, or null. */
  readonly requestId: string | null;
  /** Its `traceparent` (W3C Trace Context), or null. */
  readonly traceparent: string | null;
  /** The task file; null before the upload, and after the end, when it is deleted. */
  readonly input: BlobRef | null;
  readonly result: TaskResult | null;
  readonly error: TaskError | null;
}

/** A task in a list: no more than a list shows. */
export interface ListedTask
  extends Pick<Task, 'id' | 'state' | 'count' | 'createdAt' | 'submittedAt' | 'finishedAt'> {
  /** The key of the result's file, or null. */
  readonly resultKey: string | null;
}

const NS_PER_MS = 1_000_000n;
/** Maximum time between uninterrupted readings of a clock. */
const MAX_GAP_MS = 1;
let anchorNs = 0n;
let lastNs = 0n;

/**
 * Reads both clocks at the same moment. A pair of readings with an interruption in between would
 * look like a changed clock, so it is read again.
 *
 * @returns nanoseconds; the wall clock's are whole milliseconds
 */
function readClocks(): { wallNs: bigint; monotonicNs: bigint } {
  for (;;) {
    const beforeMs = performance.now();
    const wallMs = Date.now();
    const afterMs = performance.now();
    if (afterMs - beforeMs > MAX_GAP_MS) continue;
    return {
      wallNs: BigInt(wallMs) * NS_PER_MS,
      monotonicNs: BigInt(Math.round(beforeMs * 1e6)),
    };
  }
}

/**
 * The time now as ISO 8601 UTC with nine fractional digits. The wall clock gives the milliseconds,
 * the monotonic clock the digits below; the anchor moves when they differ by more than 5 ms (a
 * clock was set).
 *
 * @returns `2026-11-21T20:23:05.123456789Z`, for example; never the same text twice in one process
 */
export function timestamp(): string {
  const { wallNs, monotonicNs } = readClocks();
  const driftNs = anchorNs + monotonicNs - wallNs;
  if (driftNs < 0n || driftNs > 5n * NS_PER_MS) anchorNs = wallNs - monotonicNs;
  let ns = anchorNs + monotonicNs;
  // Equal readings get the next nanosecond; if the clock was set back, so is the result.
  if (ns <= lastNs && lastNs - ns < NS_PER_MS) ns = lastNs + 1n;
  lastNs = ns;
  const digits = (ns % 1_000_000_000n).toString().padStart(9, '0');
  return `${new Date(Number(ns / NS_PER_MS)).toISOString().slice(0, 19)}.${digits}Z`;
}
