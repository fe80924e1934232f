/**
 * `npm run fuzz`: random requests, made from the service's own OpenAPI document, to a real service
 * in a process of its own. Every answer must be one that the document has, none a 500; in the end
 * the service must be alive, do its work, and not have grown. The exit code is 1 at the first
 * fault, which is printed as a command line.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Outcome, ROUND, runCampaign } from './fuzz/campaign.ts';
import { curlOf } from './fuzz/reproduce.ts';
import { startTarget } from './fuzz/server.ts';

const HELP = `Usage: npm run fuzz -- [options]

  --requests N  how many requests (default 100000)
  --seed S      the seed; the same seed gives the same requests (default: drawn)
  --minutes M   end after this time, however many requests that were
  --help        this text
`;

/** More than this is growth: with fewer requests than this, memory is still settling. */
const MAX_RATIO = 1.2;
const SETTLED = 20_000;

interface Plan {
  readonly requests: number;
  readonly seed: number;
  readonly minutes?: number;
}

async function main(plan: Plan): Promise<boolean> {
  const target = await startTarget();
  try {
    console.log(`${plan.requests} requests, seed ${plan.seed}`);
    const startMs = performance.now();
    const outcome = await runCampaign(target, {
      ...plan,
      onProgress(sent, residentBytes) {
        const rate = (1000 * sent) / (performance.now() - startMs);
        console.log(`  ${sent} sent, ${rate.toFixed(0)} a second, ${mib(residentBytes)} resident`);
      },
    });
    console.log(`\n${tallyTable(outcome)}`);
    return verdict(outcome, plan, target.port);
  } finally {
    await target.stop();
  }
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

/** A row for each operation, a column for each status. */
function tallyTable({ tally }: Outcome): string {
  const statuses = [...new Set([...tally.values()].flatMap((row) => [...row.keys()]))].sort();
  const cell = (text: string | number) => String(text).padStart(7);
  const rows = [...tally]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([operation, row]) => {
      const counts = statuses.map((status) => cell(row.get(status) ?? ''));
      return operation.padEnd(18) + counts.join('');
    });
  return [`${''.padEnd(18)}${statuses.map(cell).join('')}`, ...rows, ''].join('\n');
}

function verdict(outcome: Outcome, { seed }: Plan, port: number): boolean {
  const { sent, fault, markBytes, endBytes, peakBytes } = outcome;
  const ratio = endBytes / markBytes;
  const grew = sent >= SETTLED && ratio > MAX_RATIO;
  if (fault !== null) {
    for (const reason of fault.reasons) console.log(`FAULT ${reason}`);
    if (fault.plan !== null) console.log(curlOf(fault.plan, port));
    if (!fault.again) console.log('It did not come again when the request was sent alone.');
    console.log(`The round again: npm run fuzz -- --seed ${fault.seed} --requests ${ROUND}`);
  }
  if (grew) console.log(`FAULT memory has grown by more than ${MAX_RATIO}`);
  const good = fault === null && !grew;
  const faults = fault === null ? 0 : 1;
  console.log(
    `${good ? 'ok' : 'FAILED'}: ${sent} requests, seed ${seed}, ${faults} faults; ` +
      `resident ${mib(markBytes)}, then ${mib(endBytes)} (${ratio.toFixed(2)}), ` +
      `at most ${mib(peakBytes)}`,
  );
  return good;
}

/** @throws Error for anything but a number in this range */
function numberOf(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`--${name} must be a number from ${min} to ${max}`);
}

function parse(args: readonly string[]): Plan | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      requests: { type: 'string', default: '100000' },
      seed: { type: 'string', default: String(randomInt(1e9)) },
      minutes: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const { requests, seed, minutes } = values;
  return {
    requests: Math.floor(numberOf('requests', requests, 1, 1e9)),
    seed: Math.floor(numberOf('seed', seed, 0, 2 ** 31 - 1)),
    ...(minutes !== undefined && { minutes: numberOf('minutes', minutes, 0, 1e6) }),
  };
}

let plan: Plan | null | undefined;
try {
  plan = parse(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
  process.exitCode = 2;
}
if (plan === null) process.stdout.write(HELP);
else if (plan !== undefined && !(await main(plan))) process.exitCode = 1;
