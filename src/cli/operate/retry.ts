/** `falconry retry`: puts tasks that were set aside back into the queue. */
import type { CompleteStore } from '../../middleware/stores/port/serviceStore.ts';
import { type Command, EXIT, FILE_EXITS, UsageError } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { STORE_SETTINGS, type StoreSetting, withStore } from './ownStore.ts';
import { unfinished } from './queue.ts';

/** The `retry` command. */
export const command: Command = defineCommand({
  name: 'retry',
  summary: 'try tasks again that were set aside, as operator',
  usage: ['<id>… [options]', '--all [options]'],
  about: [
    'Puts tasks back into the queue that were set aside because they had ended several workers ' +
      '(falconry queue lists them). A running service starts them at once. First remove the ' +
      'cause: give the service more memory, or a version without the fault.',
    'With --json, there is one line for each task; ids are strings.',
  ],
  options: [{ name: 'all', about: 'all tasks that were set aside' }],
  settings: STORE_SETTINGS,
  examples: ['falconry retry --all', 'falconry retry --all --json'],
  more: ['falconry retry 123 124'],
  exits: FILE_EXITS,
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
