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

const HEAD = [
  '| bundler | how | runs in | falcon512 | createVerifyPool | aggregate |',
  '|---|---|---|---|---|---|',
];

/** Threads that were found; 0 and 1 are the calling thread. */
function words({ threads, correct, error }: Found): string {
  if (error !== undefined) return error;
  if (correct !== true) return 'wrong';
  return threads === 2 ? '2 threads' : 'calling thread';
}

/** The table in Markdown. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ bundler, how, host, report }) => {
    const { falcon512, verifyPool, aggregate } = report;
    const cells = [falcon512 ? 'yes' : 'no', words(verifyPool), words(aggregate)];
    return `| ${[bundler, how, host, ...cells].join(' | ')} |`;
  });
  return [...HEAD, ...lines].join('\n');
}
