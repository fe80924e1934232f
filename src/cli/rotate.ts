/** `falconry rotate`: exchanges the secrets of a service. */
import { URL_SECRET } from '../middleware/http/urlSecrets.ts';
import { changeKeysSecret } from '../middleware/signing/keyReseal.ts';
import { type FileKeyStore, fileKeyStore } from '../middleware/signing/keyStore.ts';
import { encodeWireHex } from '../wire/hex.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, FLAG, type Invocation, refuseMore } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { CLIENT, keysFolder, STORE_SETTINGS, withStore } from './ownStore.ts';
import { settingLines } from './settings.ts';
import { readNumber } from './settingText.ts';
import { hint } from './suggest.ts';

const SETTINGS = [...STORE_SETTINGS, 'keys', 'keysPassphrase', 'newPassphrase'] as const;

const help = `Usage: falconry rotate urls [--at-once] [options]
       falconry rotate signing [<client>] [--list] [options]
       falconry rotate passphrase [options]

Exchanges a secret of a service, which goes on meanwhile and uses the new one within seconds, except
for the passphrase. (API keys are exchanged by falconry keys rotate.)

  urls                the secret that signs the urls of task files and results. Urls signed with the
                      old one stay good until they end
      --at-once       end them now: for a secret that others have seen
  signing [<client>]  the signing key of a client, or the one of all clients (see
                      --signing-key-per-client of falconry serve). The old secret key is gone; the
                      old public key is kept, for the signatures that were made with it
      --list          change nothing: list the public key and those before it
  passphrase          the passphrase that encrypts the signing keys: from --keys-passphrase-file to
                      --new-passphrase-file. Stop the services that sign before, and start
                      them with the new one. What was interrupted goes on when it is called again;
                      until then each file is under the one or the other

${settingLines(SETTINGS)}
      --json          answer in JSON
  -q, --quiet         print nothing but lists
  -h, --help          this text

Examples
  falconry rotate urls
  falconry rotate urls --at-once --json

More
  falconry rotate signing
  falconry rotate signing 7 --list
  falconry rotate passphrase --keys-passphrase-file old --new-passphrase-file new

${exitHelp('invalid', 'usage', 'io')}`;

type Names = (typeof SETTINGS)[number];

const WHAT = ['urls', 'signing', 'passphrase'] as const;
type What = (typeof WHAT)[number];

/** The `rotate` command. */
export const command: Command = defineCommand({
  name: 'rotate',
  summary: 'exchange a secret of the service, as operator',
  help,
  verbs: WHAT,
  options: { 'at-once': FLAG, list: FLAG },
  settings: SETTINGS,
  execute,
});

/** The options that only one of them has. */
const OPTIONS: Readonly<Record<string, What>> = { 'at-once': 'urls', list: 'signing' };

async function execute(invocation: Invocation<Names>): Promise<number> {
  const { positionals, flag } = invocation;
  const [what = '', client] = positionals;
  if (what === '') throw new UsageError('expected urls, signing or passphrase');
  if (!WHAT.some((each) => each === what)) {
    throw new UsageError(`there is no "rotate ${what}"${hint(what, WHAT)}`);
  }
  refuseMore(positionals, what === 'signing' ? 2 : 1);
  for (const [name, of] of Object.entries(OPTIONS)) {
    if (flag(name) && of !== what) throw new UsageError(`--${name} is no option of rotate ${what}`);
  }
  if (what === 'urls') return rotateUrls(invocation);
  if (what === 'passphrase') return rotatePassphrase(invocation);
  const clientId = client === undefined ? null : readNumber('the client', CLIENT, client);
  const { values } = await invocation.config();
  const secret = values.keysPassphrase;
  const directory = keysFolder(values);
  const keys = fileKeyStore({ directory, ...(secret !== undefined && { secret }) });
  return flag('list')
    ? listSigning(keys, clientId, invocation)
    : rotateSigning(keys, clientId, invocation);
}

async function rotateSigning(
  keys: FileKeyStore,
  clientId: number | null,
  invocation: Invocation<Names>,
): Promise<number> {
  const publicKey = await keys.rotate(clientId);
  if (publicKey === null) return noKey(clientId, invocation);
  const facts = { rotated: 'signing', client_id: clientId, public_key: encodeWireHex(publicKey) };
  const text = `${whose(clientId)} was exchanged. The old public key is kept (--list).\n`;
  invocation.report({ ok: true, ...facts }, text);
  return EXIT.ok;
}

async function listSigning(
  keys: FileKeyStore,
  clientId: number | null,
  invocation: Invocation<Names>,
): Promise<number> {
  const { io, json } = invocation;
  const all = await keys.publicKeys(clientId);
  if (all.length === 0) return noKey(clientId, invocation);
  const wire = all.map(({ parameterSet, publicKey, createdAt, retiredAt }) => ({
    parameter_set: parameterSet,
    public_key: encodeWireHex(publicKey),
    created_at: createdAt,
    retired_at: retiredAt,
  }));
  const lines = wire.map(({ created_at, retired_at, ...key }) => {
    const until = retired_at === null ? 'in use' : `to ${retired_at.slice(0, 19)}Z`;
    return `${key.parameter_set}  from ${created_at.slice(0, 19)}Z  ${until}  ${key.public_key}\n`;
  });
  io.stdout.write(json ? `${JSON.stringify(wire)}\n` : lines.join(''));
  return EXIT.ok;
}

const whose = (clientId: number | null) =>
  `The signing key of ${clientId === null ? 'all clients' : `client ${clientId}`}`;

const noKey = (clientId: number | null, invocation: Invocation<Names>): number =>
  missing(`${whose(clientId).replace(/^The/, 'the')} does not exist yet`, invocation);

function missing(message: string, { io, json, report }: Invocation<Names>): number {
  if (json) report({ ok: false, code: 'NOT_FOUND', message }, '');
  else io.stderr.write(`falconry rotate: ${message}\n`);
  return EXIT.invalid;
}

async function rotatePassphrase(invocation: Invocation<Names>): Promise<number> {
  const { values } = await invocation.config();
  const { keysPassphrase: secret, newPassphrase: next } = values;
  if (secret === undefined || next === undefined) {
    throw new UsageError(
      'the old and the new passphrase are needed: --keys-passphrase-file and ' +
        '--new-passphrase-file, or their variables',
    );
  }
  if (secret === next) throw new UsageError('the new passphrase is the old one');
  const directory = keysFolder(values);
  const keys = await changeKeysSecret({ directory, secret, next });
  if (keys === null) return missing(`no encrypted signing keys are in ${directory}`, invocation);
  const text = `${keys} signing ${keys === 1 ? 'key is' : 'keys are'} encrypted anew.\n`;
  invocation.report({ ok: true, rotated: 'passphrase', keys }, text);
  return EXIT.ok;
}

function rotateUrls(invocation: Invocation<Names>): Promise<number> {
  const forget = invocation.flag('at-once');
  return withStore(invocation, { mayBeNew: false }, async (store) => {
    await store.rotateSecret(URL_SECRET, { forget });
    const old = forget ? 'Urls signed before are refused' : 'Urls signed before stay good';
    const text = `Urls are signed with a new secret. ${old}${forget ? '' : ' until they end'}.\n`;
    invocation.report({ ok: true, rotated: 'urls', old_urls_valid: !forget }, text);
    return EXIT.ok;
  });
}
