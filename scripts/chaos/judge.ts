/** The verdict over a trial: what was accepted, and what became of it. */
import type { Job } from './clients.ts';

export interface Evidence {
  readonly jobs: readonly Job[];
  /** How often each task was completed, as the store's own trigger counted it. */
  readonly completions: ReadonlyMap<number, number>;
  /** The ids of all tasks that the service lists. */
  readonly listed: readonly number[];
  /** Processes that ended by themselves after they were ready. */
  readonly deaths: readonly string[];
  readonly kills: number;
  readonly wantedKills: number;
}

export interface Verdict {
  readonly good: boolean;
  /** A line for everything that is wrong. */
  readonly faults: readonly string[];
  /** The last line. */
  readonly line: string;
}

export function judge(evidence: Evidence): Verdict {
  const { jobs, completions, deaths, kills, wantedKills } = evidence;
  const accepted = jobs.filter(({ id, gone }) => id !== null || gone);
  const done = accepted.filter(({ verified }) => verified);
  const lost = accepted.filter(({ fault }) => fault !== null);
  const stuck = accepted.filter(({ fault, verified }) => fault === null && !verified);
  const refused = jobs.filter(({ id, gone }) => id === null && !gone);
  const known = new Set(accepted.map(({ id }) => id));
  // A repeat that made another task is work done twice as well.
  const strange = evidence.listed.filter((id) => !known.has(id));
  const again = [...completions].filter(([, times]) => times > 1).map(([id]) => id);
  const twice = [...new Set([...again, ...strange])];
  const uncounted = done.filter(({ id }) => !completions.has(id!));
  const faults = [
    ...lost.map(({ id, fault }) => `LOST ${id ?? 'before it was named'}: ${fault}`),
    ...stuck.map(({ id, seen }) => `STUCK ${id}: ${seen}`),
    ...twice.map((id) => `TWICE ${id}`),
    ...uncounted.map(({ id }) => `FAULT ${id} was completed, and not counted`),
    ...refused.map(({ fault, seen }) => `FAULT a batch was not accepted: ${fault ?? seen}`),
    ...deaths.map((death) => `FAULT ended by itself: ${death}`),
    ...(kills < wantedKills ? [`FAULT only ${kills} of ${wantedKills} kills in the time`] : []),
  ];
  const line =
    `chaos: accepted ${accepted.length}, completed ${done.length}, lost ${lost.length}, ` +
    `twice ${twice.length}, stuck ${stuck.length}`;
  return { good: faults.length === 0, faults, line };
}
