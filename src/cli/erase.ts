/** `falconry erase`: removes everything that a service keeps of one client. */

import { rm } from 'node:fs/promises';
import { eraseClient } from '../middleware/erasure.ts';
import { clientKeyFiles } from '../middleware/signing/keyStore.ts';
import type { Holdings } from '../middleware/stores/port/operatorStore.ts';
import { sizeText } from '../wire/sizes.ts';
import { type Command, type Io, UsageError } from './command.ts';
import { defineCommand, FLAG, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { asIoFailure } from './io.ts';
import {
  FILE_SETTINGS,
  type FileSetting,
  keysFolder,
  OWNER,
  ownFiles,
  withStore,
} from './ownStore.ts';
import { settingLines } from './settings.ts';
import { readNumber } from './settingText.ts';

const SETTINGS = [...FILE_SETTINGS, 'keys'] as const;
type Names = FileSetting | 'keys';

const help = `Usage: falconry erase [options] <client>

Removes everything that the service keeps of a client, while it runs or not: its API keys, its tasks
with their files and results, its Idempotency-Keys, quota, name and signing key. Tasks that
wait or run are cancelled first. What was interrupted goes on when it is called again. There is no
way back, but from a backup.

      --dry-run       only count
      --yes           do not ask; needed where there is no terminal to ask on
${settingLines(SETTINGS)}
      --json          answer in JSON
  -q, --quiet         print nothing
  -h, --help          this text

The client is its number, as in falconry keys list and falconry queue. If the host knows it by other
means than an API key, refuse it there first. A running service clears the signing key from its
memory within seconds; files of requests that are under way, and those of crashes, are removed by
the service within two days.

Examples
  falconry erase 7 --dry-run
  falconry erase 7 --yes --json

${exitHelp('invalid', 'usage', 'io')}`;

/** The `erase` command. */
export const command: Command = defineCommand({
  name: 'erase',
  summary: 'remove everything that is kept of a client, as operator',
  help,
  mostArguments: 1,
  options: { 'dry-run': FLAG, yes: FLAG },
  settings: SETTINGS,
  execute,
});

async function execute(invocation: Invocation<Names>): Promise<number> {
  const { positionals, flag, io, report } = invocation;
  const [given] = positionals;
  if (given === undefined) throw new UsageError('expected the number of a client');
  const clientId = readNumber('<client>', OWNER, given);
  const dryRun = flag('dry-run');
  if (!dryRun && !flag('yes') && io.stderr.isTTY !== true) {
    throw new UsageError('--yes is needed where there is no terminal to ask on');
  }
  const { values } = await invocation.config();
  const keys = keysFolder(values);
  const files = await ownFiles(values, io.env);
  return withStore(invocation, { mayBeNew: false }, async (store) => {
    const held = await store.holdings(clientId);
    const signingKeys = await keyFiles(keys, clientId);
    const found = { ...held, signingKeys: signingKeys.length };
    if (dryRun) {
      report(facts(clientId, found, false), `Client ${clientId} has ${describe(found)}.\n`);
      return EXIT.ok;
    }
    const question = `Erase client ${clientId} with ${describe(found)}? Type yes: `;
    if (!flag('yes') && !(await confirmed(io, question))) {
      report({ ...facts(clientId, found, false), ok: false, code: 'ABORTED' }, 'Nothing erased.\n');
      return EXIT.invalid;
    }
    const done = await eraseClient(store, files, clientId);
    for (const path of signingKeys) await removeFile(path);
    const erased = { ...held, ...done, signingKeys: signingKeys.length };
    report(facts(clientId, erased, true), `Erased client ${clientId}: ${describe(erased)}.\n`);
    return EXIT.ok;
  });
}

type Counts = Holdings & { readonly signingKeys: number };
/** The files of the client's signing keys, of today and of before. */
async function keyFiles(folder: string, clientId: number): Promise<string[]> {
  try {
    return await clientKeyFiles(folder, clientId);
  } catch (error) {
    throw asIoFailure(`cannot read ${folder}`, error);
  }
}

async function removeFile(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
  } catch (error) {
    throw asIoFailure(`cannot remove ${path}`, error);
  }
}

async function confirmed(io: Io, question: string): Promise<boolean> {
  io.stderr.write(question);
  let typed = '';
  const decoder = new TextDecoder();
  for await (const part of io.stdin) {
    typed += decoder.decode(part, { stream: true });
    if (typed.includes('\n')) break;
  }
  return typed.split('\n')[0]!.trim() === 'yes';
}

/** `3 tasks (1 of them unfinished), 4 files of 2.1 MB, 1 API key, …`. */
function describe(counts: Counts): string {
  const some = (count: number, one: string, many = `${one}s`) =>
    `${count} ${count === 1 ? one : many}`;
  const parts = [
    `${some(counts.tasks, 'task')} (${counts.unfinished} of them unfinished)`,
    `${some(counts.files, 'file')} of ${sizeText(counts.bytes)}`,
    some(counts.apiKeys, 'API key'),
    some(counts.answers, 'Idempotency-Key'),
    some(counts.signingKeys, 'signing key'),
  ];
  return `${parts.join(', ')}${counts.named ? ' and a name' : ''}`;
}

function facts(clientId: number, counts: Counts, erased: boolean): Record<string, unknown> {
  return {
    ok: true,
    client_id: clientId,
    erased,
    tasks: counts.tasks,
    unfinished: counts.unfinished,
    files: counts.files,
    bytes: counts.bytes,
    api_keys: counts.apiKeys,
    answers: counts.answers,
    signing_keys: counts.signingKeys,
    named: counts.named,
  };
}
