/**
 * `npm run chaos`: the real service as processes, killed and troubled in every way that this
 * machine allows, while clients submit batches. In the end every accepted task must be completed
 * once, with a result that verifies. The exit code is 1 if any is lost, completed twice or stuck.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { testRandom } from '../test/support/random.ts';
import { embeddedWorld } from './chaos/embedded.ts';
import { scaledWorld } from './chaos/scaled.ts';
import { type Plan, runTrial } from './chaos/trial.ts';

const HELP = `Usage: npm run chaos -- [options]

Two falconry serve and three falconry worker on PostgreSQL and S3, or one falconry serve on its
embedded store, are killed (kill -9) again and again, stopped beyond their leases, given full disks
and clocks that are minutes or a year off. Bits flip in stored files, or on their way. The database
is restarted as after a crash, and fails over to a synchronous standby; answers to commits are lost,
connections cut, delayed or half-open; the bucket answers 500, late, in part or not at all. Clients
that follow the wire contract submit batches meanwhile, and fetch completed results again.

  --embedded    the embedded store instead of PostgreSQL and S3
  --tasks N     how many batches (default 200)
  --kills N     how many kills (default 100; 60 with --embedded)
  --seed S      the seed of sizes, kills and troubles (default: drawn)
  --minutes M   the most that it takes once all is started (default 10)
  --help        this text

The last line is: chaos: accepted A, completed C, lost 0, twice 0, stuck 0
`;

interface Asked extends Plan {
  readonly embedded: boolean;
}

/** @throws Error for anything but a number in this range */
function numberOf(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`--${name} must be a number from ${min} to ${max}`);
}

function parse(args: readonly string[]): Asked | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      embedded: { type: 'boolean', default: false },
      tasks: { type: 'string', default: '200' },
      kills: { type: 'string' },
      seed: { type: 'string', default: String(randomInt(1e9)) },
      minutes: { type: 'string', default: '10' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const { embedded, tasks, seed, minutes } = values;
  const kills = values.kills ?? (embedded ? '60' : '100');
  return {
    embedded,
    tasks: Math.floor(numberOf('tasks', tasks, 1, 1e5)),
    kills: Math.floor(numberOf('kills', kills, 1, 1e5)),
    seed: Math.floor(numberOf('seed', seed, 0, 2 ** 31 - 1)),
    minutes: numberOf('minutes', minutes, 0.1, 1e5),
  };
}

let asked: Asked | null | undefined;
try {
  asked = parse(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
  process.exitCode = 2;
}
if (asked === null) process.stdout.write(HELP);
else if (asked !== undefined) {
  const { embedded, ...plan } = asked;
  const random = testRandom(`chaos ${plan.seed}`);
  const open = embedded ? embeddedWorld : scaledWorld;
  const good = await runTrial({ ...plan, random, open, log: (line) => console.log(line) });
  if (!good) process.exitCode = 1;
}
