/**
 * Shows the main use from start to end, on the real service: starts it on its embedded store in a
 * new folder, or as several processes on PostgreSQL and S3, signs messages, sends the batch with
 * the client, follows the work, fetches the result, and checks it with the library alone. Exits
 * with 0 only if every check passes.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type AggregateFormatOption,
  inspectAggregate,
  MAX_MERGED_PARTS,
  MAX_PROOF_ITEMS,
} from '../src/aggregate/index.ts';
import { type Client, createClient, isClientError, type TaskRecord } from '../src/client/index.ts';
import { falcon512, type SignOptions } from '../src/falcon/index.ts';
import { decodeWireHex, encodeWireHex } from '../src/wire/hex.ts';
import type { ResultFile } from '../src/wire/resultFile.ts';
import { formatTaskFile, type TaskItem } from '../src/wire/triple.ts';
import { checkResult } from './demo/checks.ts';
import { openEmbedded } from './demo/embedded.ts';
import { openHosts } from './demo/hosts.ts';
import { bytes, progress, table, time } from './demo/terminal.ts';

/** As many as the service takes unless it is told otherwise. */
const USUAL_COUNT = 1722;
/** Longer lists are sent in parts. */
const MAX_BATCH = MAX_PROOF_ITEMS.falcon512;
/** As many as one merged proof covers. */
const MAX_COUNT = MAX_MERGED_PARTS * MAX_BATCH;

const HELP = `Usage: npm run demo -- [options]

Starts the service, signs messages with many keys, sends them as one batch, and checks the result.

  --count N   signatures, 1 to ${MAX_COUNT} (default ${USUAL_COUNT}); in parts from ${MAX_BATCH + 1}
  --keys N    keys that sign them (default 200, or as many as there are signatures)
  --direct    send the batch in one request instead of create, upload and notify
  --format F  proof, bundle or auto: the smaller of the two (default auto)
  --derived-salts
              salts that follow from key and message: the aggregate contains none
  --postgres --s3
              on a database and a bucket: starts PostgreSQL and an S3 server on this machine, a
              process that serves, and three that work
  --keep DIR  leave task.json and result.json in this folder, for another verifier
  --help      this text

Examples:
  npm run demo
  npm run demo -- --count 10 --direct
  npm run demo -- --format bundle
  npm run demo -- --derived-salts
  npm run demo -- --postgres --s3
  npm run demo -- --keep out && python3 verifiers/python/verify.py out/result.json out/task.json
`;

interface Plan {
  readonly count: number;
  readonly keys: number;
  readonly direct: boolean;
  readonly format: AggregateFormatOption;
  readonly keep: string | undefined;
  readonly signing: SignOptions;
  /** On several processes that share a database and a bucket. */
  readonly scaled: boolean;
}

const FORMATS: readonly AggregateFormatOption[] = ['auto', 'proof', 'bundle'];

/** The times of the steps, for the table. */
const times: [string, string, string][] = [];
async function timed<T>(name: string, count: number, work: () => T | Promise<T>): Promise<T> {
  const startMs = performance.now();
  const value = await work();
  const ms = performance.now() - startMs;
  times.push([name, time(ms), count > 1 ? `${time(ms / count)} each` : '']);
  return value;
}

async function main({
  count,
  keys,
  direct,
  format,
  keep,
  signing,
  scaled,
}: Plan): Promise<boolean> {
  const started = performance.now();
  if (keep !== undefined) await mkdir(keep, { recursive: true });
  const open = scaled ? openHosts : openEmbedded;
  const place = await timed('start of the service', 1, () =>
    open({ count: Math.min(count, MAX_BATCH), format, signing }),
  );
  try {
    const { base, key, where } = place;
    console.log(`\nFalconry on ${base}, ${where}\n`);
    const client = createClient({ baseUrl: base, apiKey: key });

    const items = await sign(client, count, keys, signing);
    const send = direct ? sendDirectly : count > MAX_BATCH ? sendInParts : sendInThreeSteps;
    const id = await send(client, items);
    const completed = await timed(WORK, 1, () => follow(client, id));
    if (!completed) return false;
    const worker = await place.worker();
    if (worker !== null) progress('worked on by').done(worker);
    const fetched = await timed('fetch of the result', 1, () => client.result(id));
    const file = fetched.text;
    console.log(`  ${'fetched'.padEnd(22)} ${new URL(fetched.url).pathname}\n`);
    if (keep !== undefined) await keepFiles(keep, items, file);

    const { result, verifyMs, checks } = checkResult(file, items, Number(id));
    for (const { name, held } of checks) console.log(`  ${held ? '✓' : '✗'} ${name}`);
    const phases = Object.entries(result.timings).map(([name, ms]): [string, string, string] => {
      return [`  ${PHASES[name] ?? name}`, time(ms), ''];
    });
    times.splice(times.findIndex(([name]) => name === WORK) + 1, 0, ...phases);
    times.push([`check of the ${result.format}`, time(verifyMs), `${time(verifyMs / count)} each`]);
    times.push(['all together', time(performance.now() - started), '']);
    console.log(`\n${table('Times', times)}`);
    console.log(table('Bytes', byteRows(items, keys, result, file.length)));
    const held = checks.every((check) => check.held);
    console.log(
      held
        ? `  All ${checks.length} checks held for ${count} signatures of ${keys} keys.\n`
        : '  SOME CHECKS FAILED.\n',
    );
    return held;
  } finally {
    await place.close();
  }
}

/** Leaves the task file, as it was sent, and the result file, as it was fetched. */
async function keepFiles(keep: string, items: readonly TaskItem[], result: string): Promise<void> {
  await writeFile(join(keep, 'task.json'), formatTaskFile(items));
  await writeFile(join(keep, 'result.json'), result);
  console.log(`  ${'kept'.padEnd(22)} task.json and result.json in ${keep}\n`);
}

/** All items are signed by the library, except the first, which the signing endpoint signs. */
async function sign(
  client: Client,
  count: number,
  keys: number,
  options: SignOptions,
): Promise<TaskItem[]> {
  const makingKeys = progress('keys');
  const pairs = await timed(`${keys} key pairs`, keys, async () => {
    const made: ReturnType<typeof falcon512.keygen>[] = [];
    while (made.length < keys) {
      made.push(falcon512.keygen());
      makingKeys.update(made.length, keys);
      if (made.length % 16 === 0) await sleep(0);
    }
    return made;
  });
  makingKeys.done(`${keys} Falcon-512 key pairs`);

  const signing = progress('signatures');
  const items: TaskItem[] = [];
  await timed(`${count} signatures`, count, async () => {
    const secrets = pairs.map(({ secretKey }) => falcon512.expandSecretKey(secretKey));
    for (let index = 0; index < count; index++) {
      const message = new TextEncoder().encode(`Falconry demo, message ${index + 1} of ${count}`);
      const { publicKey } = pairs[index % keys]!;
      items.push({
        publicKey,
        message,
        signature: falcon512.sign(message, secrets[index % keys]!, options),
      });
      signing.update(index + 1, count);
      if (index % 64 === 0) await sleep(0);
    }
    for (const secret of secrets) secret.destroy();
  });
  signing.done(`${count} messages signed by the library`);

  const { message } = items[0]!;
  const signed = await client.sign(message);
  const fromWire = (hex: string) => decodeWireHex(hex, 4096) as Uint8Array;
  if (signed.digest !== encodeWireHex(message))
    throw new Error('the signing endpoint signed another message');
  items[0] = {
    message,
    publicKey: fromWire(signed.public_key),
    signature: fromWire(signed.signature),
  };
  const good = falcon512.verify(items[0].signature, items[0].message, items[0].publicKey);
  if (!good) throw new Error('the signature of the signing endpoint is not valid');
  progress('POST …/falcon/sign').done('200, one of them signed by the service');
  return items;
}

async function sendInThreeSteps(client: Client, items: readonly TaskItem[]): Promise<string> {
  return timed('create, upload, notify', 1, async () => {
    const ticket = await client.createTask();
    const { process_id } = ticket;
    progress('POST …/aggsign/task').done(`201, process_id ${process_id}`);
    const sending = progress('PUT <url>');
    let sent = 0;
    await client.upload(ticket, items, {
      onProgress: ({ done, total }) => sending.update((sent = done), total),
    });
    sending.done(`200, ${bytes(sent)}`);
    await client.notify(process_id);
    progress('POST …/aggsign/notify').done('202, accepted');
    return process_id;
  });
}

async function sendInParts(client: Client, items: readonly TaskItem[]): Promise<string> {
  return timed('create, upload in parts, notify', 1, async () => {
    const sending = progress('PUT <url> of each part');
    let parts = 0;
    const { process_id } = await client.submit(items, {
      onProgress({ step, done, total }) {
        if (step === 'parts') sending.update((parts = done), total);
      },
    });
    sending.done(`${parts} parts, process_id ${process_id}`);
    return process_id;
  });
}

async function sendDirectly(client: Client, items: readonly TaskItem[]): Promise<string> {
  return timed('direct request', 1, async () => {
    const { process_id } = await client.aggregate(items);
    progress('POST …/aggsign').done(`202, accepted, process_id ${process_id}`);
    return process_id;
  });
}

/**
 * Shows every record that arrives.
 *
 * @returns whether the task was completed
 */
async function follow(client: Client, id: string): Promise<boolean> {
  const bar = progress('GET …/tasks/:id/events');
  let seen = 0;
  const show = ({ status, progress: now }: TaskRecord) => {
    seen++;
    bar.update(now?.done ?? 0, now?.total ?? 0, status);
  };
  try {
    const { status } = await client.waitFor(id, { onProgress: show });
    bar.done(`${status}, after ${seen} records`);
    return true;
  } catch (error) {
    if (!isClientError(error) || error.kind !== 'task') throw error;
    bar.done(error.record!.status);
    console.error(`\n${error.message}`, JSON.stringify(error.problem, null, 2));
    return false;
  }
}

const WORK = 'work of the service';

/** The times that the service reports. */
const PHASES: Readonly<Record<string, string>> = {
  read_ms: 'of it: reading the file',
  verify_ms: 'of it: every signature',
  aggregate_ms: 'of it: the aggregate',
  merge_ms: 'of it: merging the parts',
};

function byteRows(items: readonly TaskItem[], keys: number, result: ResultFile, file: number) {
  const signatures = items.reduce((sum, { signature }) => sum + signature.length, 0);
  const aggregate = result.aggregate.length;
  const { salts } = inspectAggregate(result.aggregate).sizes;
  const drawn = items.length * falcon512.lengths.salt;
  const perItem = (size: number) => `${(size / items.length).toFixed(1)} each`;
  return [
    [
      'public keys',
      bytes(keys * falcon512.lengths.publicKey),
      `${falcon512.lengths.publicKey} each`,
    ],
    ['signatures, as signed', bytes(signatures), perItem(signatures)],
    [`aggregate (${result.format})`, bytes(aggregate), perItem(aggregate)],
    ['  of it salts', bytes(salts), perItem(salts)],
    ...(salts < drawn ? [['  with drawn salts', bytes(aggregate + drawn - salts), '']] : []),
    [
      'saved',
      bytes(signatures - aggregate),
      `${((1 - aggregate / signatures) * 100).toFixed(2)} %`,
    ],
    ['task file', bytes(Buffer.byteLength(formatTaskFile(items))), ''],
    ['result file', bytes(file), ''],
  ];
}

function readPlan(): Plan | null {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: String(USUAL_COUNT) },
      keys: { type: 'string' },
      direct: { type: 'boolean', default: false },
      format: { type: 'string', default: 'auto' },
      keep: { type: 'string' },
      'derived-salts': { type: 'boolean', default: false },
      postgres: { type: 'boolean', default: false },
      s3: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const integer = (name: string, text: string, max: number) => {
    const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > max) throw new RangeError(`--${name} must be from 1 to ${max}`);
    return value;
  };
  const count = integer('count', values.count, MAX_COUNT);
  const keys = integer('keys', values.keys ?? String(Math.min(200, count)), count);
  const format = FORMATS.find((name) => name === values.format);
  if (format === undefined) throw new RangeError(`--format must be one of ${FORMATS.join(', ')}`);
  if (values.keep === '') throw new RangeError('--keep needs a folder');
  const { direct, keep, postgres: scaled, s3 } = values;
  if (direct && count > MAX_BATCH) throw new RangeError(`--direct takes at most ${MAX_BATCH}`);
  if (scaled !== s3) throw new RangeError('--postgres and --s3 go together');
  const signing: SignOptions = values['derived-salts'] ? { salt: 'derived' } : {};
  return { count, keys, direct, format, keep, signing, scaled };
}

let plan: Plan | null = null;
try {
  plan = readPlan();
} catch (error) {
  console.error(`${(error as Error).message}\n\n${HELP}`);
  process.exit(2);
}
if (plan === null) {
  console.log(HELP);
} else {
  try {
    process.exitCode = (await main(plan)) ? 0 : 1;
  } catch (error) {
    console.error(`\nThe demo failed: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
