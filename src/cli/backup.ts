/** `falconry backup`: copies store, files and keys of a service, while it runs or not. */
import { sizeText } from '../wire/sizes.ts';
import { takeBackup } from './backupTaking.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { settingLines } from './settings.ts';

const SETTINGS = ['data', 'database'] as const;
type Names = (typeof SETTINGS)[number];

const help = `Usage: falconry backup [options] <directory>

Copies everything that a service keeps in its data directory to a new directory: the store as it is
at one moment, every file that it names, and the signing keys. The service may go on meanwhile; its
writers wait for some milliseconds. The backup appears under its name once it is complete and on the
disk. It holds secrets, readable by its owner only: keep it as you keep the service.

${settingLines(['data'])}
      --json          answer in JSON
  -q, --quiet         print nothing
  -h, --help          this text

SHA256SUMS in the directory is read by sha256sum --check. falconry restore brings the backup back.
The copy is on the same machine until you move it: tar czf - <directory> | …
A database and a bucket have ways of their own (pg_dump): see docs/operating.md. With --database,
--database-file or FALCONRY_DATABASE nothing is copied.

Examples
  falconry backup falconry-backup
  falconry backup nightly-backup --json

More
  falconry backup /backups/falconry-$(date +%F) --json

${exitHelp('invalid', 'usage', 'io')}`;

/** The `backup` command. */
export const command: Command = defineCommand({
  name: 'backup',
  summary: 'copy the data of a service that may be running',
  help,
  mostArguments: 1,
  settings: SETTINGS,
  execute,
});

const ELSEWHERE =
  'tasks are in the database and their files in the bucket, not in a data directory: use pg_dump ' +
  'and a copy of the bucket (docs/operating.md, "PostgreSQL and a bucket"); without "database", ' +
  'the data directory is copied';

async function execute(invocation: Invocation<Names>): Promise<number> {
  const { positionals, io, json, report } = invocation;
  const [target] = positionals;
  if (target === undefined) throw new UsageError('expected a directory for the backup');
  const { values } = await invocation.config();
  if (values.database !== undefined) throw new UsageError(ELSEWHERE);
  const { tasks, files, bytes, missing, schema } = await takeBackup(values.data, target);
  const facts = { ok: true, directory: target, tasks, files, bytes, schema, missing };
  report(facts, `Backup of ${tasks} tasks in ${target}: ${files} files, ${sizeText(bytes)}.\n`);
  if (missing.length > 0 && !json) {
    io.stderr.write(`falconry backup: ${missing.length} files that tasks name were not there\n`);
  }
  return EXIT.ok;
}
