/** `falconry quota`: the limits of single clients, in the store of a service. */
import { CLIENT_LIMITS } from '../../middleware/options/optionTable.ts';
import type { ClientQuota } from '../../middleware/stores/port/serviceStore.ts';
import { sizeText } from '../../wire/sizes.ts';
import { type Command, flag, UsageError, valued } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { readNumber, showBytes } from '../lib/settingText.ts';
import { plural } from '../lib/text.ts';
import { CLIENT, STORE_SETTINGS, type StoreSetting, withStore } from './stores.ts';

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
  takes: [0, 1],
  options: [
    valued('open-tasks', 'n', 'unfinished tasks'),
    valued('stored-bytes', 'size', 'task files and results together, such as 500MB or 2GiB'),
    valued('rate', 'n', 'sustained requests per second per host; the burst scales with it'),
    flag('default', 'remove the quota: the limits of falconry serve apply', {
      excludes: ['open-tasks', 'stored-bytes', 'rate'],
    }),
  ],
  settings: STORE_SETTINGS,
  examples: [
    'falconry quota 1',
    'falconry quota 1 --open-tasks 50 --stored-bytes 2GiB',
    'falconry quota 1 --default',
    'falconry quota --json',
  ],
  exits: ['usage', 'io'],
  execute,
});

async function execute(invocation: Invocation<StoreSetting>): Promise<void> {
  const { positionals, flag: has, print, report } = invocation;
  const changes = readChanges(invocation);
  const isChanged = Object.keys(changes).length > 0;
  const [client] = positionals;
  if (client === undefined) {
    if (isChanged || has('default')) throw new UsageError('expected the number of a client');
    return withStore(invocation, { mayBeNew: false }, async ({ quotas }) => {
      const all = await quotas.quotas();
      const lines = all.map((quota) => `client ${quota.clientId}  ${describe(quota)}\n`);
      print(all.map(wireQuota), lines.join(''));
    });
  }
  const clientId = readNumber('the client', CLIENT, client);
  return withStore(invocation, { mayBeNew: false }, async ({ quotas, tasks }) => {
    const quota = await (isChanged || has('default')
      ? quotas.setQuota(clientId, has('default') ? null : changes)
      : quotas.quota(clientId));
    const { openTasks, storedBytes } = await tasks.usage(clientId);
    const used = { open_tasks: openTasks, stored_bytes: storedBytes };
    const uses = `${unfinished(openTasks)}, ${sizeText(storedBytes)} of files`;
    report(
      { ok: true, ...wireQuota({ clientId, ...quota }), used },
      `Client ${clientId}: ${describe(quota)}; in use: ${uses}\n`,
    );
  });
}

/** The options of the limits, by their names in the store. */
const LIMITS = { openTasks: 'open-tasks', storedBytes: 'stored-bytes', requestsPerSecond: 'rate' };

function readChanges({ option }: Invocation<StoreSetting>): ClientQuota {
  const changes = Object.entries(LIMITS).flatMap(([name, own]) => {
    const given = option(own);
    const row = CLIENT_LIMITS[name as keyof typeof LIMITS];
    return given === undefined ? [] : [[name, readNumber(`--${own}`, row, given)]];
  });
  return Object.fromEntries(changes);
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
    openTasks !== undefined && unfinished(openTasks),
    storedBytes !== undefined && `${showBytes(storedBytes)} of files`,
    requestsPerSecond !== undefined && `${plural(requestsPerSecond, 'request')} per second`,
  ];
  return parts.filter(Boolean).join(', ') || 'the limits of the service';
}
