/** `falconry migrate`: brings a PostgreSQL database up to this version. */
import type { Migration } from '../../middleware/stores/postgres/index.ts';
import { type Command, FILE_EXITS, flag, UsageError } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { explained, loadPostgres } from './stores.ts';

export const command: Command = defineCommand({
  name: 'migrate',
  summary: 'bring a PostgreSQL database up to this version',
  usage: ['[--check | --dry-run] [options]'],
  about: [
    'Brings the schema of a PostgreSQL database up to this version of falconry, step by step, ' +
      'and prints the steps. The service never does this itself: run it before starting a new ' +
      'version. The old version can keep running. Running the command again, or several times at ' +
      'once, does no harm. Like falconry doctor, it warns of what the service needs and cannot ' +
      'set by itself: fsync, encoding, row security, privileges, connection limits and others.',
    'Behind a pooler such as PgBouncer, also give the address of the database itself.',
  ],
  options: [
    flag('check', 'only report; exit code 1 if there are steps to take', { excludes: ['dry-run'] }),
    flag('dry-run', 'take the steps in a transaction that is rolled back'),
  ],
  settings: ['database', 'databaseDirect'],
  examples: ['falconry migrate --dry-run', 'falconry migrate', 'falconry migrate --check'],
  exits: FILE_EXITS,
  execute,
});

async function execute(invocation: Invocation<'database' | 'databaseDirect'>): Promise<void> {
  const [check, dryRun] = [invocation.flag('check'), invocation.flag('dry-run')];
  const { values } = await invocation.config();
  const url = values.databaseDirect ?? values.database;
  if (url === undefined) {
    throw new UsageError('no database is given: --database, FALCONRY_DATABASE or its file');
  }
  const { migrate } = await loadPostgres();
  const done = await migrate(url, { check, dryRun }).catch((error) => {
    if (error instanceof TypeError) throw new UsageError(error.message.replace('"url"', 'it'));
    throw explained(error);
  });
  const { examine } = await import('../../middleware/stores/postgres/examine.ts');
  const warnings = (await examine(url)).map(({ message }) => message);
  const due = (check || dryRun) && done.steps.length > 0;
  const facts = { ok: !(check && due), from: done.from, to: done.to, steps: done.steps };
  const text = describe(done, due) + warnings.map((each) => `Warning: ${each}\n`).join('');
  invocation.report({ ...facts, taken: !(check || dryRun), warnings }, text);
}

function describe({ from, to, steps }: Migration, due: boolean): string {
  if (steps.length === 0) return `The schema is up to date (step ${Math.max(from, to)}).\n`;
  const lines = steps.map(({ step, about }) => `  ${step}  ${about}\n`);
  return `${due ? 'Steps to take' : 'Steps taken'}:\n${lines.join('')}`;
}
