import { describe, expect, it, vi } from 'vitest';
import {
  canGo,
  isRunning,
  TaskFailure,
  TRANSITIONS,
  timestamp,
} from '../../src/middleware/stores/port/task.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { isFinal, STATE_TEXTS, stateOfText, TASK_STATES } from '../../src/wire/taskStates.ts';

describe('the state machine of a task', () => {
  it('has the texts that clients know', () => {
    expect(STATE_TEXTS.waiting).toEqual({
      progress: 'wait for falcon signature verify',
      list: 'waiting',
    });
    expect(STATE_TEXTS.completed).toEqual({ progress: 'completed', list: 'completed' });
  });

  it('finds a state by either text, and by nothing else', () => {
    for (const state of TASK_STATES) {
      expect(stateOfText(STATE_TEXTS[state].progress)).toBe(state);
      expect(stateOfText(STATE_TEXTS[state].list)).toBe(state);
    }
    for (const text of ['', 'Waiting', ' waiting', 'wait', 'constructor', 'toString']) {
      expect(stateOfText(text)).toBe(null);
    }
  });

  it('gives every text to one state only', () => {
    const texts = TASK_STATES.flatMap((state) => [...new Set(Object.values(STATE_TEXTS[state]))]);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('leads from created to every state, and from every state to an end', () => {
    const reach = (from: (typeof TASK_STATES)[number], seen = new Set([from])) => {
      for (const next of TRANSITIONS[from]) if (!seen.has(next)) reach(next, seen.add(next));
      return seen;
    };
    expect([...reach('created')].sort()).toEqual([...TASK_STATES].sort());
    for (const state of TASK_STATES) expect([...reach(state)].some(isFinal), state).toBe(true);
    expect(TASK_STATES.filter(isFinal)).toEqual(['completed', 'failed', 'cancelled', 'expired']);
    expect(TASK_STATES.filter(isRunning)).toEqual(['verifying', 'aggregating']);
  });

  it('lets every unfinished task be cancelled, and none complete unverified', () => {
    for (const state of TASK_STATES) expect(canGo(state, 'cancelled')).toBe(!isFinal(state));
    expect(TASK_STATES.filter((state) => canGo(state, 'completed'))).toEqual(['aggregating']);
    expect(TASK_STATES.filter((state) => canGo(state, 'expired'))).toEqual(['created', 'uploaded']);
  });
});

describe('a timestamp', () => {
  it('has nine digits, follows the clock and never repeats', () => {
    const stamps = Array.from({ length: 20_000 }, timestamp);
    for (const stamp of stamps.slice(0, 50)) {
      expect(stamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
    }
    expect(stamps).toEqual(stamps.toSorted());
    expect(new Set(stamps).size).toBe(stamps.length);
    const before = Date.now();
    const stampMs = Date.parse(timestamp());
    expect(stampMs).toBeGreaterThanOrEqual(before - 1);
    expect(stampMs).toBeLessThanOrEqual(Date.now() + 6);
  });

  it('stays in order when the process loses its processor between its two clocks', () => {
    const now = Date.now.bind(Date);
    const lasting = (ms: number, work = () => {}) => {
      for (const endMs = performance.now() + ms; performance.now() < endMs; ) work();
    };
    let holdMs = 0;
    const held = vi.spyOn(Date, 'now').mockImplementation(() => {
      lasting(holdMs);
      holdMs = 0;
      return now();
    });
    const stamps: string[] = [];
    try {
      for (let i = 0; i < 40; i++) {
        holdMs = 4.2 + (i % 8) / 10;
        lasting(8, () => stamps.push(timestamp()));
      }
      expect(stamps).toEqual(stamps.toSorted());
    } finally {
      held.mockRestore();
    }
  });
});

it('a task failure is a coded error that carries what is shown', () => {
  const shown = { code: 'BAD_TASK_FILE', message: 'what is wrong' } as const;
  const failure = new TaskFailure(shown, { cause: 'a detail for the log' });
  expect(failure).toBeInstanceOf(CodedError);
  expect(failure).toMatchObject({ ...shown, retriable: false, shown });
});
