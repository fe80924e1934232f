/** `falconry quota`: what single clients may use, in the store of a service. */

import { CLIENT_LIMITS } from '../../middleware/options/optionTable.ts';
import type { ClientQuota, CompleteStore } from '../../middleware/stores/port/serviceStore.ts';
import { sizeText } from '../../wire/sizes.ts';
import { type Command, EXIT, UsageError } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { readNumber, showBytes } from '../lib/settingText.ts';
import { plural } from '../lib/text.ts';
import { CLIENT, STORE_SETTINGS, type StoreSetting, withStore } from './ownStore.ts';

/** The `quota` command. */
export const command: Command = defineCommand({
  name: 'quota',
  summary: 'show or change what a client may use, as operator',
  usage: [
    '[options]',
    '<client> [--open-tasks <n>] [--stored-bytes <size>] [--rate <n>]',
    '<client> --default',
  ],
  about: [
    'Shows or changes the limits of a client, which replace those of falconry serve, and shows ' +
      'what the client uses now. A running service notices a change within seconds. Without a ' +
      'client, it lists all clients with a quota.',
    'A limit that is not given stays as it was. A client that uses more than a new limit allows ' +
      'loses nothing, but can add nothing until it uses less.',
  ],
  operands: { '<client>': 'its number, as in falconry keys list and falconry queue' },
  options: [
    { name: 'open-tasks', value: 'n', about: 'unfinished tasks' },
    {
      name: 'stored-bytes',
      value: 'size',
      about: 'task files and results together, such as 500MB or 2GiB',
    },
    {
      name: 'rate',
      value: 'n',
      about: 'sustained requests per second per host; the burst scales with it',
    },
    { name: 'default', about: 'remove the quota: the limits of falconry serve apply' },
  ],
  settings: STORE_SETTINGS,
  examples: [
    'falconry quota 1',
    'falconry quota 1 --open-tasks 50 --stored-bytes 2GiB',
    'falconry quota 1 --default',
    'falconry quota --json',
  ],
  exits: ['usage', 'io'],
  mostArguments: 1,
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
  if (changed && flag('default')) throw new UsageError('--default excludes other limits');
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

const unfinished = (count: number) => plural(count, 'unfinished task');

function describe(quota: ClientQuota | null): string {
  const { openTasks, storedBytes, requestsPerSecond } = quota ?? {};
  const parts = [
    openTasks === undefined ? [] : unfinished(openTasks),
    storedBytes === undefined ? [] : `${showBytes(storedBytes)} of files`,
    requestsPerSecond === undefined ? [] : `${plural(requestsPerSecond, 'request')} per second`,
  ].flat();
  return parts.length === 0 ? 'the limits of the service' : parts.join(', ');
}
