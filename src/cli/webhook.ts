/** `falconry webhook`: who is told of the end of tasks. */
import { OPERATOR, type Webhook } from '../middleware/stores/port/webhookStore.ts';
import { webhookUrlFault } from '../middleware/webhooks/address.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, FLAG, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { OWNER, STORE_SETTINGS, withStore } from './ownStore.ts';
import { printable } from './service.ts';
import { settingLines } from './settings.ts';
import { readNumber } from './settingText.ts';
import type { OperatedStore } from './sharedStores.ts';
import { refuseOnTerminal, SHOW_OPTION } from './shownSecret.ts';

const SETTINGS = [...STORE_SETTINGS, 'webhookAllowPrivate'] as const;
type Names = (typeof SETTINGS)[number];

const help = `Usage: falconry webhook [options]
       falconry webhook [options] <client> <url>
       falconry webhook [options] <client> --remove

Lists the webhooks in the store of a service; sets that of a client, and prints the secret that
signs what it is sent, which is shown once; or removes it. A running service notices at once. When a
task of the client has been completed or has failed, the service sends a POST there: JSON with id,
type (task.completed, task.failed), process_id, client_id, status and times, and the header

  Falconry-Signature: t=<unix seconds>,v1=<hex HMAC-SHA-256 of "t.body">

which verifyWebhook of falconry/client checks. It counts as sent with an answer of 2xx within 10 s;
else it is sent again, nine times within 25 hours in all. It may come twice, with the same id. A
webhook at which nothing arrives for three days is disabled, until it is set again.

      --remove        remove it, with what waits for it
      --show          print the secret even where standard output is a terminal
${settingLines(SETTINGS)}
      --json          answer in JSON
  -q, --quiet         print the secret and nothing else
  -h, --help          this text

Urls are https and lead to public addresses, unless the service and this command are told otherwise.
The operator, whose url is an option of falconry serve, is called operator here.

Examples
  falconry webhook 7 https://example.com/falconry
  falconry webhook
  falconry webhook 7 --remove

${exitHelp('invalid', 'usage', 'io')}`;

/** The `webhook` command. */
export const command: Command = defineCommand({
  name: 'webhook',
  summary: 'set, list and remove webhooks of clients, as operator',
  help,
  mostArguments: 2,
  options: { remove: FLAG, ...SHOW_OPTION },
  settings: SETTINGS,
  execute,
});

async function execute(invocation: Invocation<Names>): Promise<number> {
  const [client, url] = invocation.positionals;
  const remove = invocation.flag('remove');
  if (remove !== (client !== undefined && url === undefined)) {
    throw new UsageError('expected a client and a url, or a client and --remove, or neither');
  }
  if (client === undefined) {
    return withStore(invocation, { mayBeNew: false }, (store) => list(store, invocation));
  }
  if (url === undefined) {
    const owner = client === 'operator' ? OPERATOR : readNumber('<client>', OWNER, client);
    return withStore(invocation, { mayBeNew: false }, (store) =>
      removeOf(store, owner, invocation),
    );
  }
  const owner = readNumber('<client>', OWNER, client);
  const { values } = await invocation.config();
  const fault = webhookUrlFault(url, values.webhookAllowPrivate);
  if (fault !== null) throw new UsageError(`<url> ${fault}`);
  refuseOnTerminal(invocation, 'the secret', 'write it to a file (falconry webhook … > secret)');
  return withStore(invocation, { mayBeNew: false }, (store) => set(store, owner, url, invocation));
}

async function set(
  store: OperatedStore,
  owner: number,
  url: string,
  { io, json, note }: Invocation<Names>,
): Promise<number> {
  const random = crypto.getRandomValues(new Uint8Array(32));
  const secret = `whsec_${Buffer.from(random).toString('base64url')}`;
  await store.putWebhook({ owner, url, secret });
  const facts = { ok: true, client_id: owner, url, secret };
  // The secret alone on standard output, so that it can be captured.
  io.stdout.write(json ? `${JSON.stringify(facts)}\n` : `${secret}\n`);
  note(`The secret of the webhook of client ${owner}. It will not be shown again.\n`);
  return EXIT.ok;
}

async function removeOf(
  store: OperatedStore,
  owner: number,
  { io, json, report }: Invocation<Names>,
): Promise<number> {
  const whose = nameOf(owner);
  if (await store.removeWebhook(owner)) {
    report({ ok: true, ...ownerFact(owner) }, `Removed the webhook of ${whose}.\n`);
    return EXIT.ok;
  }
  const message = `${whose} has no webhook`;
  if (json) report({ ok: false, code: 'NOT_FOUND', message }, '');
  else io.stderr.write(`falconry webhook: ${message}\n`);
  return EXIT.invalid;
}

async function list(store: OperatedStore, { io, json, note }: Invocation<Names>): Promise<number> {
  const webhooks = await store.listWebhooks();
  if (json) io.stdout.write(`${JSON.stringify(webhooks.map(facts))}\n`);
  else for (const webhook of webhooks) io.stdout.write(`${line(webhook)}\n`);
  if (webhooks.length === 0) note('no webhooks\n');
  return EXIT.ok;
}

const nameOf = (owner: number) => (owner === OPERATOR ? 'operator' : `client ${owner}`);
const ownerFact = (owner: number) => ({ client_id: owner === OPERATOR ? null : owner });

function line(webhook: Webhook): string {
  const { owner, url, disabledAt, failingSince, lastError, waiting, dropped } = webhook;
  const second = (time: string) => `${time.slice(0, 19)}Z`;
  const state =
    disabledAt !== null
      ? `disabled since ${second(disabledAt)}`
      : failingSince !== null
        ? `failing since ${second(failingSince)}`
        : 'in use';
  const why = lastError === null ? '' : ` (${lastError})`;
  const counts = `${waiting} waiting, ${dropped} given up`;
  return printable(`${nameOf(owner)}  ${url}  ${state}${why}; ${counts}`);
}

function facts(webhook: Webhook): Readonly<Record<string, unknown>> {
  return {
    ...ownerFact(webhook.owner),
    url: webhook.url,
    created_at: webhook.createdAt,
    failing_since: webhook.failingSince,
    disabled_at: webhook.disabledAt,
    last_error: webhook.lastError,
    waiting: webhook.waiting,
    dropped: webhook.dropped,
  };
}
