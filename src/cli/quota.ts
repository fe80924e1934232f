/** `falconry quota`: what single clients may use, in the store of a service. */

import { CLIENT_LIMITS } from '../middleware/options/optionTable.ts';
import type { ClientQuota } from '../middleware/stores/port/operatorStore.ts';
import type { CompleteStore } from '../middleware/stores/port/serviceStore.ts';
import { sizeText } from '../wire/sizes.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, FLAG, type Invocation, TEXT } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { CLIENT, STORE_SETTINGS, type StoreSetting, withStore } from './ownStore.ts';
import { settingLines } from './settings.ts';
import { readNumber, showBytes } from './settingText.ts';

const help = `Usage: falconry quota [options]
       falconry quota <client> [--open-tasks <n>] [--stored-bytes <size>] [--rate <n>]
       falconry quota <client> --default

Shows or changes what single clients may use, instead of the limits of the service (--open-tasks,
--stored-bytes and --requests-per-second of falconry serve), and shows what a client uses now. A
running service sees a change within seconds. Without a client, it lists all clients that have a
quota of their own. A client's number is in falconry keys list and falconry queue.

      --open-tasks <n>      unfinished tasks
      --stored-bytes <size> task files and results together, such as 500MB or 2GiB
      --rate <n>            requests per second in the long run, on each host; at once after a rest,
                            as many times more as for other clients
      --default             as all clients: removes the quota

A limit that is not given stays as it was. A client that has more than a new limit allows loses
nothing: it can add nothing until it has less.

${settingLines(STORE_SETTINGS)}
      --json          answer in JSON
  -q, --quiet         print nothing but lists
  -h, --help          this text

Examples
  falconry quota 1
  falconry quota 1 --open-tasks 50 --stored-bytes 2GiB
  falconry quota 1 --default
  falconry quota --json

${exitHelp('usage', 'io')}`;

/** The `quota` command. */
export const command: Command = defineCommand({
  name: 'quota',
  summary: 'show or change what a client may use, as operator',
  help,
  mostArguments: 1,
  options: { 'open-tasks': TEXT, 'stored-bytes': TEXT, rate: TEXT, default: FLAG },
  settings: STORE_SETTINGS,
  execute,
});

async function execute(invocation: Invocation<StoreSetting>): Promise<number> {
  const { positionals, flag } = invocation;
  const [client] = positionals;
  const changes = readChanges(invocation);
  const changed = Object.keys(changes).length > 0;
  if (client === undefined) {
    if (changed || flag('default')) throw new UsageError('expected the number of a client');
    return withStore(invocation, { mayBeNew: false }, (store) => list(store, invocation));
  }
  const clientId = readNumber('the client', CLIENT, client);
  if (changed && flag('default')) throw new UsageError('--default stands alone');
  return withStore(invocation, { mayBeNew: false }, async (store) => {
    const quota = flag('default')
      ? await store.quotas.setQuota(clientId, null)
      : changed
        ? await store.quotas.setQuota(clientId, changes)
        : await store.quotas.quota(clientId);
    const { openTasks, storedBytes } = await store.tasks.usage(clientId);
    const used = { open_tasks: openTasks, stored_bytes: storedBytes };
    const uses = `${unfinished(openTasks)}, ${sizeText(storedBytes)} of files`;
    const text = `Client ${clientId}: ${describe(quota)}; in use: ${uses}\n`;
    invocation.report({ ok: true, ...wireQuota({ clientId, ...quota }), used }, text);
    return EXIT.ok;
  });
}

function readChanges({ option }: Invocation<StoreSetting>): ClientQuota {
  const read = (name: string, row: Parameters<typeof readNumber>[1]) => {
    const given = option(name);
    return given === undefined ? undefined : readNumber(`--${name}`, row, given);
  };
  const openTasks = read('open-tasks', CLIENT_LIMITS.openTasks);
  const storedBytes = read('stored-bytes', CLIENT_LIMITS.storedBytes);
  const requestsPerSecond = read('rate', CLIENT_LIMITS.requestsPerSecond);
  return {
    ...(openTasks !== undefined && { openTasks }),
    ...(storedBytes !== undefined && { storedBytes }),
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
  };
}

async function list(store: CompleteStore, { io, json }: Invocation<StoreSetting>): Promise<number> {
  const all = await store.quotas.quotas();
  const lines = all.map((quota) => `client ${quota.clientId}  ${describe(quota)}\n`);
  io.stdout.write(json ? `${JSON.stringify(all.map(wireQuota))}\n` : lines.join(''));
  return EXIT.ok;
}

/** Null: as for all clients. */
const wireQuota = (quota: ClientQuota & { readonly clientId: number }) => ({
  client_id: quota.clientId,
  open_tasks: quota.openTasks ?? null,
  stored_bytes: quota.storedBytes ?? null,
  requests_per_second: quota.requestsPerSecond ?? null,
});

const unfinished = (count: number) => `${count} unfinished ${count === 1 ? 'task' : 'tasks'}`;

function describe(quota: ClientQuota | null): string {
  const { openTasks, storedBytes, requestsPerSecond } = quota ?? {};
  const parts = [
    openTasks === undefined ? [] : unfinished(openTasks),
    storedBytes === undefined ? [] : `${showBytes(storedBytes)} of files`,
    requestsPerSecond === undefined ? [] : `${requestsPerSecond} requests per second`,
  ].flat();
  return parts.length === 0 ? 'the limits of the service' : parts.join(', ');
}
