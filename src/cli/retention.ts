/** `falconry retention`: what the next sweep of a service would remove. */

import type { Ageing } from '../middleware/stores/port/operatorStore.ts';
import { sizeText } from '../wire/sizes.ts';
import type { Command } from './command.ts';
import { defineCommand, FLAG, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { STORE_SETTINGS, withStore } from './ownStore.ts';
import { settingLines } from './settings.ts';

const SETTINGS = [...STORE_SETTINGS, 'retention'] as const;
type Names = (typeof SETTINGS)[number];

const help = `Usage: falconry retention [options]

Shows what the next sweep of the service would remove: finished tasks older than the retention, with
their results, and tasks whose file did not come in time. It only looks; the service itself sweeps
every 30 seconds. Give another --retention to see what a change of it would remove.

      --by-client     a line for each client
      --dry-run       changes nothing, for this command never removes
${settingLines(SETTINGS)}
      --json          answer in JSON
  -q, --quiet         print nothing but the answer
  -h, --help          this text

Examples
  falconry retention
  falconry retention --retention 30d --by-client
  falconry retention --json

${exitHelp('usage', 'io')}`;

/** The `retention` command. */
export const command: Command = defineCommand({
  name: 'retention',
  summary: 'show what the next sweep would remove, as operator',
  help,
  mostArguments: 0,
  options: { 'by-client': FLAG, 'dry-run': FLAG },
  settings: SETTINGS,
  execute,
});

async function execute(invocation: Invocation<Names>): Promise<number> {
  const { flag, io, json } = invocation;
  const { values } = await invocation.config();
  return withStore(invocation, { mayBeNew: false }, async (store) => {
    const clients = await store.ageing(values.retention);
    const all = total(clients);
    if (json) {
      const listed = flag('by-client') ? { clients: clients.map(clientFacts) } : {};
      io.stdout.write(
        `${JSON.stringify({ ok: true, retention_ms: values.retention, ...all, ...listed })}\n`,
      );
      return EXIT.ok;
    }
    if (flag('by-client')) {
      for (const one of clients) {
        io.stdout.write(`client ${one.clientId}: ${describe(amountsOf(one))}\n`);
      }
    }
    io.stdout.write(`${flag('by-client') ? 'all: ' : ''}${describe(all)}\n`);
    return EXIT.ok;
  });
}

interface Amounts {
  readonly removing: number;
  readonly expiring: number;
  readonly bytes: number;
  readonly oldest_end: string | null;
  readonly newest_end: string | null;
}

const amountsOf = ({ removing, expiring, bytes, oldestEnd, newestEnd }: Ageing): Amounts => ({
  removing,
  expiring,
  bytes,
  oldest_end: oldestEnd,
  newest_end: newestEnd,
});

const clientFacts = (one: Ageing) => ({ client_id: one.clientId, ...amountsOf(one) });

function total(clients: readonly Ageing[]): Amounts {
  const sum = (of: (one: Ageing) => number) => clients.reduce((all, one) => all + of(one), 0);
  return {
    removing: sum((one) => one.removing),
    expiring: sum((one) => one.expiring),
    bytes: sum((one) => one.bytes),
    oldest_end: clients.flatMap((one) => one.oldestEnd ?? []).sort()[0] ?? null,
    newest_end:
      clients
        .flatMap((one) => one.newestEnd ?? [])
        .sort()
        .at(-1) ?? null,
  };
}

function describe({ removing, expiring, bytes, oldest_end, newest_end }: Amounts): string {
  const day = (time: string | null) => `${time!.slice(0, 19)}Z`;
  const ends = removing === 0 ? '' : `, ended from ${day(oldest_end)} to ${day(newest_end)}`;
  return `${removing} to remove${ends}; ${expiring} to expire; ${sizeText(bytes)} of files`;
}
