/** `falconry restore`: makes a data directory of a backup. */

import { rmSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { STORE_FILE } from '../middleware/options/options.ts';
import { SCHEMA_VERSION } from '../middleware/stores/sqlite/sqliteSchema.ts';
import { CodedError } from '../shared/errors.ts';
import { sizeText } from '../wire/sizes.ts';
import {
  badBackup,
  checkStore,
  copyHashed,
  FORMAT,
  isBackupName,
  MANIFEST,
  type Manifest,
  SUMS,
  syncPath,
  VERSION,
} from './backupFormat.ts';
import { refuseFilled, syncFolders } from './backupTaking.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { asIoFailure, whenStopped } from './io.ts';
import { settingLines } from './settings.ts';

const help = `Usage: falconry restore [options] <directory>

Makes a data directory of a backup by falconry backup. Every file is compared with its checksum, and
every file that the store names must be there; else nothing is made. A data directory that is not
empty is refused. Then start the service: results are there, and tasks that waited or ran go on.

${settingLines(['data'])}
      --json          answer in JSON
  -q, --quiet         print nothing
  -h, --help          this text

Tasks that ended after the backup are worked on again: tell clients that their newer ones are gone.

Examples
  falconry restore falconry-backup --data restored
  falconry restore falconry-backup --data restored-too --json

${exitHelp('invalid', 'usage', 'io')}`;

/** The `restore` command. */
export const command: Command = defineCommand({
  name: 'restore',
  summary: 'make a data directory of a backup',
  help,
  mostArguments: 1,
  settings: ['data'],
  execute,
});

async function execute(invocation: Invocation<'data'>): Promise<number> {
  const { positionals, report } = invocation;
  const [backup] = positionals;
  if (backup === undefined) throw new UsageError('expected the directory of a backup');
  const { values } = await invocation.config();
  const { tasks, files, bytes, made_at } = await restoreBackup(backup, values.data);
  const facts = { ok: true, data: values.data, tasks, files, bytes, made_at };
  const size = `${files} files, ${sizeText(bytes)}`;
  report(facts, `Restored ${tasks} tasks of ${made_at} to ${values.data}: ${size}.\n`);
  return EXIT.ok;
}

/**
 * @param data is made, and complete once it has its name
 * @throws IoFailure if something is at `data`, CodedError `BAD_BACKUP`, `STORE_NEWER`
 */
export async function restoreBackup(backup: string, data: string): Promise<Manifest> {
  const to = resolve(data);
  await refuseFilled(to);
  const manifest = await readManifest(backup);
  const sums = await readSums(backup);
  if (sums.size !== manifest.files) throw badBackup(`${SUMS} does not list every file`);
  const aside = join(dirname(to), `.${basename(to)}.${crypto.randomUUID()}`);
  const undo = () => rmSync(aside, { recursive: true, force: true });
  const release = whenStopped(undo);
  try {
    await mkdir(aside, { recursive: true, mode: 0o700 });
    for (const [name, sha256] of sums) await take(backup, aside, name, sha256);
    const absent = new Set(manifest.missing);
    const { named } = checkStore(aside);
    const lost = named.find(({ key }) => !sums.has(`files/${key}`) && !absent.has(key));
    if (lost !== undefined) throw badBackup(`${lost.key} is missing`);
    await syncFolders(aside);
    await rmdir(to).catch(() => {});
    await rename(aside, to);
    await chmod(to, 0o700);
    await syncPath(dirname(to));
    return manifest;
  } finally {
    release();
    undo();
  }
}

async function readManifest(backup: string): Promise<Manifest> {
  const path = join(backup, MANIFEST);
  const text = await readFile(path, 'utf8').catch((error) => {
    throw asIoFailure(`cannot read ${path}`, error);
  });
  let manifest: Partial<Manifest> | null;
  try {
    manifest = JSON.parse(text);
  } catch {
    throw badBackup(`${MANIFEST} is not JSON`);
  }
  if (manifest?.format !== FORMAT) throw badBackup(`${MANIFEST} is not that of a backup`);
  if (manifest.version !== VERSION || (manifest.schema ?? 0) > SCHEMA_VERSION) {
    const message = 'The backup was made by a newer version of falconry';
    throw new CodedError('STORE_NEWER', { message });
  }
  const { files, missing } = manifest;
  if (!Number.isSafeInteger(files) || !Array.isArray(missing)) {
    throw badBackup(`${MANIFEST} is not complete`);
  }
  return manifest as Manifest;
}

/** Names of files and their checksums. */
async function readSums(backup: string): Promise<Map<string, string>> {
  const path = join(backup, SUMS);
  const text = await readFile(path, 'utf8').catch((error) => {
    throw asIoFailure(`cannot read ${path}`, error);
  });
  const sums = new Map<string, string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [, sha256, name] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (sha256 === undefined || name === undefined || !isBackupName(name)) {
      throw badBackup(`${SUMS} has a line that is none`);
    }
    sums.set(name, sha256);
  }
  if (!sums.has(STORE_FILE)) throw badBackup(`${SUMS} does not list ${STORE_FILE}`);
  return sums;
}

async function take(backup: string, aside: string, name: string, sha256: string): Promise<void> {
  let copied: { readonly sha256: string };
  try {
    copied = await copyHashed(join(backup, name), join(aside, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw badBackup(`${name} is missing`);
    throw error;
  }
  if (copied.sha256 !== sha256) throw badBackup(`${name} is not what it was`);
}
