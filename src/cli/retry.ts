/** `falconry retry`: puts tasks that were set aside back into the queue. */
import type { CompleteStore } from '../middleware/stores/port/serviceStore.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, FLAG, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { STORE_SETTINGS, type StoreSetting, withStore } from './ownStore.ts';
import { unfinished } from './queue.ts';
import { settingLines } from './settings.ts';

const help = `Usage: falconry retry [options] <id> …
       falconry retry [options] --all

Has tasks tried again that were set aside, since they had ended several workers (falconry queue
lists them). A running service takes them at once. Before that, remove the reason: give the service
more memory, or a version without the fault.

      --all           all tasks that were set aside

${settingLines(STORE_SETTINGS)}
      --json          answer in JSON, one line for each task; ids are strings
  -q, --quiet         print nothing
  -h, --help          this text

Examples
  falconry retry --all
  falconry retry --all --json

More
  falconry retry 123 124

${exitHelp('invalid', 'usage', 'io')}`;

/** The `retry` command. */
export const command: Command = defineCommand({
  name: 'retry',
  summary: 'have tasks tried again that were set aside, as operator',
  help,
  options: { all: FLAG },
  settings: STORE_SETTINGS,
  execute,
});

async function execute(invocation: Invocation<StoreSetting>): Promise<number> {
  const { positionals: ids, flag } = invocation;
  if (flag('all') === ids.length > 0) throw new UsageError('expected ids of tasks, or --all');
  const wrong = ids.find((id) => !/^\d{1,16}$/.test(id));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is not the id of a task`);
  return withStore(invocation, { mayBeNew: false }, (store) =>
    flag('all') ? retryAll(store, invocation) : retryEach(store, ids.map(Number), invocation),
  );
}

async function retryAll(
  store: CompleteStore,
  { report, json }: Invocation<StoreSetting>,
): Promise<number> {
  let count = 0;
  for await (const { id } of unfinished(store, { quarantined: true })) {
    // Somebody else may have been quicker.
    if (!(await store.tasks.putBack(id))) continue;
    count++;
    report({ process_id: String(id), retried: true }, `${id} waits again\n`);
  }
  if (count === 0 && !json) report({}, 'no task was set aside\n');
  return EXIT.ok;
}

async function retryEach(
  store: CompleteStore,
  ids: readonly number[],
  { io, json, report }: Invocation<StoreSetting>,
): Promise<number> {
  let code: number = EXIT.ok;
  for (const id of ids) {
    const process_id = String(id);
    if (await store.tasks.putBack(id)) {
      report({ process_id, retried: true }, `${id} waits again\n`);
      continue;
    }
    code = EXIT.invalid;
    const message = `no task ${id} was set aside`;
    if (json) report({ process_id, retried: false, code: 'NOT_FOUND', message }, '');
    else io.stderr.write(`falconry retry: ${message}\n`);
  }
  return code;
}
