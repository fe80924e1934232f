/**
 * The main job, from nothing to a checked result, on the real service: starts it on its embedded store in a
 * folder of its own, signs messages, sends the batch, watches the work, fetches the result, and checks it with the
 * library alone. Exit code 0 only if everything held.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { AggregateFormatOption } from '../src/aggregate/index.ts';
import { openHttpServer } from '../src/cli/httpServer.ts';
import { falcon512 } from '../src/falcon/index.ts';
import { falconService } from '../src/middleware/index.ts';
import type { ResultFile } from '../src/middleware/resultFile.ts';
import {
  formatTaskFile,
  type TaskItem,
  type Triple,
  toTriple,
} from '../src/middleware/taskFile.ts';
import { decodeWireHex, encodeWireHex } from '../src/middleware/wireHex.ts';
import { checkResult } from './demo/checks.ts';
import { bytes, progress, table, time } from './demo/terminal.ts';

const MAX_COUNT = 1722;

const HELP = `Usage: npm run demo -- [options]

Starts the service, signs messages with many keys, sends them as one batch, and checks the result.

  --count N   signatures, 1 to ${MAX_COUNT} (default ${MAX_COUNT})
  --keys N    keys that sign them (default 200, or as many as there are signatures)
  --direct    send the batch in one request instead of create, upload and notify
  --format F  proof, bundle or auto: the smaller of the two (default auto)
  --help      this text

Examples:
  npm run demo
  npm run demo -- --count 10 --direct
  npm run demo -- --format bundle
`;

interface Plan {
  readonly count: number;
  readonly keys: number;
  readonly direct: boolean;
  readonly format: AggregateFormatOption;
}

const FORMATS: readonly AggregateFormatOption[] = ['auto', 'proof', 'bundle'];

/** Times of the steps, for the table. */
const times: [string, string, string][] = [];
async function timed<T>(name: string, count: number, work: () => T | Promise<T>): Promise<T> {
  const startMs = performance.now();
  const value = await work();
  const ms = performance.now() - startMs;
  times.push([name, time(ms), count > 1 ? `${time(ms / count)} each` : '']);
  return value;
}

async function main({ count, keys, direct, format }: Plan): Promise<boolean> {
  const started = performance.now();
  const directory = await mkdtemp(join(tmpdir(), 'falconry-demo-'));
  const service = falconService({
    dataDirectory: directory,
    threads: availableParallelism(),
    aggregateFormat: format,
  });
  await timed('start of the service', 1, () => service.start());
  const server = await openHttpServer({ fetch: service.app.fetch, port: 0, host: '127.0.0.1' });
  try {
    const { key } = await service.apiKeys.create({ name: 'demo' });
    const base = `http://127.0.0.1:${server.port}`;
    console.log(`\nFalconry on ${base}, embedded store in ${directory}\n`);
    const ask = client(base, key);

    const items = await sign(ask, count, keys);
    const id = direct ? await sendDirectly(ask, items) : await sendInThreeSteps(ask, items);
    const record = await timed(WORK, 1, () => follow(ask, id));
    if (record.status !== 'completed') {
      console.error(
        `\nThe task ended as "${record.status}":`,
        JSON.stringify(record.error, null, 2),
      );
      return false;
    }
    const file = await timed('fetch of the result', 1, () => fetchText(record.result_path));
    console.log(`  ${'fetched'.padEnd(22)} ${new URL(record.result_path).pathname}\n`);

    const { result, verifyMs, checks } = checkResult(file, items, id);
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
    await Promise.all([server.close(1000), service.stop({ graceMs: 1000 })]);
    await rm(directory, { recursive: true, force: true });
  }
}

type Ask = <T>(method: string, path: string, expected: number, body?: unknown) => Promise<T>;

/** A client in ten lines: JSON in, JSON out, and any other status than the expected one is an error. */
function client(base: string, key: string): Ask {
  return async (method, path, expected, body) => {
    const own = path.startsWith('/');
    const response = await fetch(own ? base + path : path, {
      method,
      headers: {
        ...(own && { authorization: key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== expected) {
      throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    }
    return JSON.parse(text);
  };
}

/** All by the library, but for the first, which the signing endpoint makes. */
async function sign(ask: Ask, count: number, keys: number): Promise<TaskItem[]> {
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
        signature: falcon512.sign(message, secrets[index % keys]!),
      });
      signing.update(index + 1, count);
      if (index % 64 === 0) await sleep(0);
    }
    for (const secret of secrets) secret.destroy();
  });
  signing.done(`${count} messages signed by the library`);

  const digest = encodeWireHex(items[0]!.message);
  const signed = await ask<Triple>('POST', '/v1/falcon/sign', 200, { digest });
  const fromWire = (hex: string) => decodeWireHex(hex, 4096) as Uint8Array;
  if (signed.digest !== digest) throw new Error('the signing endpoint signed another message');
  items[0] = {
    message: items[0]!.message,
    publicKey: fromWire(signed.public_key),
    signature: fromWire(signed.signature),
  };
  const good = falcon512.verify(items[0].signature, items[0].message, items[0].publicKey);
  if (!good) throw new Error('the signature of the signing endpoint is not valid');
  progress('POST …/falcon/sign').done('200, one of them signed by the service');
  return items;
}

async function sendInThreeSteps(ask: Ask, items: readonly TaskItem[]): Promise<number> {
  const file = formatTaskFile(items);
  return timed('create, upload, notify', 1, async () => {
    const create = '/v1/svc/aggsign/task';
    const { process_id, url } = await ask<{ process_id: number; url: string }>('POST', create, 201);
    progress('POST …/aggsign/task').done(`201, process_id ${process_id}`);
    await ask('PUT', url, 200, file);
    progress('PUT <url>').done(`200, ${bytes(Buffer.byteLength(file))}`);
    await ask('POST', `/v1/svc/aggsign/notify/${process_id}`, 202);
    progress('POST …/aggsign/notify').done('202, accepted');
    return process_id;
  });
}

async function sendDirectly(ask: Ask, items: readonly TaskItem[]): Promise<number> {
  return timed('direct request', 1, async () => {
    const body = { data: items.map(toTriple) };
    const { process_id } = await ask<{ process_id: number }>('POST', '/v1/svc/aggsign', 202, body);
    progress('POST …/aggsign').done(`202, accepted, process_id ${process_id}`);
    return process_id;
  });
}

interface ProgressRecord {
  readonly status: string;
  readonly progress: { phase: string; done: number; total: number } | null;
  readonly error?: unknown;
  readonly result_path: string;
}

const ENDED = ['completed', 'failed', 'cancelled', 'expired'];
const POLL_MS = 20;

async function follow(ask: Ask, id: number): Promise<ProgressRecord> {
  const bar = progress('GET …/tasks/:id');
  let polls = 0;
  for (;;) {
    const record = await ask<ProgressRecord>('GET', `/v1/svc/tasks/${id}`, 200);
    polls++;
    const { done, total } = record.progress ?? { done: 0, total: 0 };
    if (ENDED.includes(record.status)) {
      bar.done(`${record.status}, seen at poll ${polls}`);
      return record;
    }
    bar.update(done, total, record.status);
    await sleep(POLL_MS);
  }
}

/** By the signed url alone: no API key. */
async function fetchText(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the result answered ${response.status}`);
  return response.text();
}

const WORK = 'work of the service';

/** What the service says of its own time. */
const PHASES: Readonly<Record<string, string>> = {
  read_ms: 'of it: reading the file',
  verify_ms: 'of it: every signature',
  aggregate_ms: 'of it: the aggregate',
};

function byteRows(items: readonly TaskItem[], keys: number, result: ResultFile, file: number) {
  const signatures = items.reduce((sum, { signature }) => sum + signature.length, 0);
  const aggregate = result.aggregate.length;
  const salts = items.length * falcon512.lengths.salt;
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
      count: { type: 'string', default: String(MAX_COUNT) },
      keys: { type: 'string' },
      direct: { type: 'boolean', default: false },
      format: { type: 'string', default: 'auto' },
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
  return { count, keys, direct: values.direct, format };
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
