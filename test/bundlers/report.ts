/** What the job of a bundle tells, and how the table of docs/bundlers.md says it. */

interface Found {
  readonly threads?: number;
  readonly correct?: boolean;
  readonly error?: string;
}

export interface JobReport {
  readonly falcon512: boolean;
  readonly verifyPool: Found;
  readonly aggregate: Found;
}

export interface Row {
  readonly bundler: string;
  readonly how: string;
  readonly host: string;
  readonly report: JobReport;
}

/** Two threads, or the calling one alone: a pool then tells of none, an aggregate of one. */
function words({ threads, error }: Found): string {
  if (error !== undefined) return error;
  return threads === 2 ? '2 threads' : 'calling thread';
}

/** The line of the table, in Markdown. */
export function lineOf({ bundler, how, host, report }: Row): string {
  const { falcon512, verifyPool, aggregate } = report;
  const cells = [falcon512 ? 'yes' : 'no', words(verifyPool), words(aggregate)];
  return `| ${[bundler, how, host, ...cells].join(' | ')} |`;
}
