/**
 * What a task is: its terms, its states, and the one table of texts and transitions.
 *
 * TERMINOLOGY
 *   task       one batch of signatures on its way to one result; a row in a store
 *   kind       what is to be done with it; today always 'aggregate'
 *   state      where it stands (the machine below); texts for the wire are derived from it, never stored
 *   input      the task file: a blob, named by key; replaced until the notification, frozen after it
 *   result     the result file: a blob whose key ends in `<task id>.json`
 *   claim      the act by which one worker takes a waiting task; it starts an attempt and a lease
 *   attempt    number of claims so far; every write of a worker names it, and is refused when it is not the
 *              current one (fencing)
 *   lease      the time until which a claim holds without a word from its worker
 *   heartbeat  the word: `extend`, which moves the lease on
 *   loss       a lease that ended without a word; the task goes back to waiting
 *   failure    an attempt that ended with a reported fault; retried when the fault is retriable
 *
 *              upload        notify         claim           all valid          result stored
 *   created ──────▶ uploaded ──────▶ waiting ──────▶ verifying ──────▶ aggregating ──────▶ completed
 *      │               │                ▲  │             │ │                │ │
 *      └──▶ expired ◀──┘                └──┼── lease ended ┴───── lease ended ┘ └──▶ failed
 *                                          └──▶ cancelled (from every unfinished state)
 *
 * A direct request is born in `waiting`. Completed, failed, cancelled and expired are final.
 */

import { CodedError, type CodedErrorDetails, type ErrorCode, type InvalidItem } from '../errors.ts';
import type { BlobRef } from './blobs/blobStore.ts';

export const TASK_STATES = [
  'created',
  'uploaded',
  'waiting',
  'verifying',
  'aggregating',
  'completed',
  'failed',
  'cancelled',
  'expired',
] as const;

export type TaskState = (typeof TASK_STATES)[number];

/** Every legal step. A store makes no other, and makes each one in one transaction. */
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

/** The text of each state in the progress record, and in the list. Part of the wire contract. */
export const STATE_TEXTS: Readonly<
  Record<TaskState, { readonly progress: string; readonly list: string }>
> = {
  created: { progress: 'wait for task file upload', list: 'created' },
  uploaded: { progress: 'wait for notification', list: 'uploaded' },
  waiting: { progress: 'wait for falcon signature verify', list: 'waiting' },
  verifying: { progress: 'falcon signature verify', list: 'verifying' },
  aggregating: { progress: 'falcon signature aggregation', list: 'aggregating' },
  completed: { progress: 'completed', list: 'completed' },
  failed: { progress: 'failed', list: 'failed' },
  cancelled: { progress: 'cancelled', list: 'cancelled' },
  expired: { progress: 'expired', list: 'expired' },
};

/** @returns the state that a status text means (either text of it), or null for an unknown text. */
export function stateOfText(text: string): TaskState | null {
  for (const state of TASK_STATES) {
    if (STATE_TEXTS[state].progress === text || STATE_TEXTS[state].list === text) return state;
  }
  return null;
}

/** @returns whether the state is final: nothing leaves it. */
export function isFinal(state: TaskState): boolean {
  return TRANSITIONS[state].length === 0;
}

/** @returns whether a worker holds the task in this state. */
export function isRunning(state: TaskState): boolean {
  return state === 'verifying' || state === 'aggregating';
}

/** @returns whether the state machine knows the step. */
export function canGo(from: TaskState, to: TaskState): boolean {
  return TRANSITIONS[from].includes(to);
}

/** How far a worker is. `total` is 0 until it is known. */
export interface TaskProgress {
  readonly phase: 'read' | 'verify' | 'aggregate' | 'store';
  readonly done: number;
  readonly total: number;
}

/**
 * Why a task failed, as stored and shown. `invalid` names every bad item, `errors` says more about the first
 * hundred that are not even well formed (`path` is a JSON pointer into the task file), `total` how many such
 * faults there are.
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
}

/** A CodedError with everything that a client shall see. */
export class TaskFailure extends CodedError {
  readonly shown: TaskError;

  constructor(shown: TaskError, details: Omit<CodedErrorDetails, 'message'> = {}) {
    super(shown.code, { ...details, message: shown.message });
    this.shown = shown;
  }
}

/** What a completed task leaves. `format` is that of the aggregate ('bundle' or 'proof'). */
export interface TaskResult {
  readonly blob: BlobRef;
  readonly format: string;
  /** Bytes of the aggregate itself, before hex. */
  readonly aggregateBytes: number;
}

/** One task as a store shows it. Never changed in place: every read gives a new object. */
export interface Task {
  /** The wire's `process_id`: 1..2^53-1, later tasks have larger ones. */
  readonly id: number;
  readonly clientId: number;
  readonly kind: 'aggregate';
  readonly state: TaskState;
  /** Number of claims so far; 0 = never claimed. */
  readonly attempt: number;
  /** Attempts that ended with a reported, retriable fault. */
  readonly failures: number;
  /** Leases that ended without a word. */
  readonly losses: number;
  /** Signatures in the task file; 0 until it has been read. */
  readonly count: number;
  /** Worker threads planned for it, then those given to it at the claim (`VCPUs`). */
  readonly threads: number;
  readonly progress: TaskProgress | null;
  /** ISO 8601 UTC with nine fractional digits, as all times that end in `At`. */
  readonly createdAt: string;
  /** Equals `createdAt` until the notification. */
  readonly submittedAt: string;
  readonly updatedAt: string;
  /** When a final state was reached. */
  readonly finishedAt: string | null;
  /** End of the upload url, and of the wait for the notification; Unix time in milliseconds. */
  readonly expiresAtMs: number;
  /** The task file; null before the upload and after the end (it is deleted then). */
  readonly input: BlobRef | null;
  readonly result: TaskResult | null;
  readonly error: TaskError | null;
}

/** A task as lists show it: without what can be long. */
export type ListedTask = Pick<
  Task,
  'id' | 'clientId' | 'state' | 'count' | 'createdAt' | 'submittedAt' | 'finishedAt' | 'result'
>;

const NS_PER_MS = 1_000_000n;
/** Two readings of one clock this close together: nothing came between them. */
const MAX_GAP_MS = 1;
let anchorNs = 0n;
let lastNs = 0n;

/**
 * Both clocks at one moment. A process that loses its processor between the readings would pair a wall clock with a
 * monotonic one of long before, and take the difference for a clock that was set: such a pair is read again.
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
 * The time now as ISO 8601 UTC with nine fractional digits. The wall clock gives the milliseconds' truth, the
 * monotonic clock the digits below; the anchor moves when the two part by more than 5 ms (a clock was set).
 *
 * @returns e.g. `2026-11-21T20:23:05.123456789Z`; never the same text twice in one process.
 */
export function timestamp(): string {
  const { wallNs, monotonicNs } = readClocks();
  const driftNs = anchorNs + monotonicNs - wallNs;
  if (driftNs < 0n || driftNs > 5n * NS_PER_MS) anchorNs = wallNs - monotonicNs;
  let ns = anchorNs + monotonicNs;
  // Equal readings get the next nanosecond; a clock set back is followed back.
  if (ns <= lastNs && lastNs - ns < NS_PER_MS) ns = lastNs + 1n;
  lastNs = ns;
  const digits = (ns % 1_000_000_000n).toString().padStart(9, '0');
  return `${new Date(Number(ns / NS_PER_MS)).toISOString().slice(0, 19)}.${digits}Z`;
}
