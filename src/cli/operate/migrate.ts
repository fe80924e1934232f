/** `falconry migrate`: brings a PostgreSQL database up to this version. */
import type { MigrateOptions, Migration } from '../../middleware/stores/postgres/index.ts';
import { type Command, UsageError } from '../lib/command.ts';
import { defineCommand, FLAG, type Invocation } from '../lib/define.ts';
import { EXIT, exitHelp } from '../lib/exitCodes.ts';
import { settingLines } from '../lib/settings.ts';
import { loadPostgres } from './drivers.ts';
import { explained } from './sharedStores.ts';

const help = `Usage: falconry migrate [--check | --dry-run] [options]

Brings the schema of a PostgreSQL database up to this version of falconry, step by step, and prints
the steps. The service never does that by itself: run this before a new version is started. The old
version goes on while the steps are taken. Running it again, or several times at once, does no harm.

      --check         only look: exit code 1 if there are steps to take
      --dry-run       take the steps in a transaction that is rolled back
${settingLines(['database', 'databaseDirect'])}
      --json          answer in JSON
  -q, --quiet         print nothing
  -h, --help          this text

Behind a pooler such as PgBouncer, give the address of the server itself as well.

Examples
  falconry migrate --dry-run
  falconry migrate
  falconry migrate --check

${exitHelp('invalid', 'usage', 'io')}`;

type Names = 'database' | 'databaseDirect';

/** The `migrate` command. */
export const command: Command = defineCommand({
  name: 'migrate',
  summary: 'bring a PostgreSQL database up to this version',
  help,
  mostArguments: 0,
  options: { check: FLAG, 'dry-run': FLAG },
  settings: ['database', 'databaseDirect'],
  execute,
});

async function execute(invocation: Invocation<Names>): Promise<number> {
  const [check, dryRun] = [invocation.flag('check'), invocation.flag('dry-run')];
  if (check && dryRun) throw new UsageError('--check and --dry-run exclude each other');
  const { values } = await invocation.config();
  const url = values.databaseDirect ?? values.database;
  if (url === undefined) {
    throw new UsageError('no database is given: --database, FALCONRY_DATABASE or its file');
  }
  const done = await migrateBy(url, { check, dryRun });
  const due = (check || dryRun) && done.steps.length > 0;
  const facts = { ok: !(check && due), from: done.from, to: done.to, steps: done.steps };
  invocation.report({ ...facts, taken: !(check || dryRun) }, describe(done, due));
  return facts.ok ? EXIT.ok : EXIT.invalid;
}

async function migrateBy(url: string, options: MigrateOptions): Promise<Migration> {
  const { migrate } = await loadPostgres();
  try {
    return await migrate(url, options);
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message.replace('"url"', 'it'));
    throw explained(error);
  }
}

function describe({ from, to, steps }: Migration, due: boolean): string {
  if (steps.length === 0) return `The schema is up to date (step ${Math.max(from, to)}).\n`;
  const lines = steps.map(({ step, about }) => `  ${step}  ${about}\n`);
  return `${due ? 'Steps to take' : 'Steps taken'}:\n${lines.join('')}`;
}
