/**
 * One check of the client for every runtime: plain ECMAScript and web-standard globals, no test
 * framework. It talks to the real service and to the plain server, both of which the test has
 * started.
 */
import {
  type Client,
  type ClientOptions,
  createClient,
  isClientError,
} from '../../../src/client/index.ts';
import { signedItems } from '../items.ts';

export interface Servers {
  readonly service: ClientOptions;
  readonly plain: ClientOptions;
}

export interface ClientReport {
  checks: number;
  faults: string[];
  /** Progress told strictly between the first and the last byte of a large upload. */
  between: { service: number; plain: number };
  /** Ids that the plain server gave. */
  ids: string[];
}

/** Larger than what sockets and hosts swallow at once. */
const LARGE_BYTES = 24_000_000;

/** Runs everything. Never throws: an exception is a fault of the report. */
export async function checkClient({ service, plain }: Servers): Promise<ClientReport> {
  const report: ClientReport = {
    checks: 0,
    faults: [],
    between: { service: 0, plain: 0 },
    ids: [],
  };
  const expect = (what: string, holds: boolean) => {
    report.checks++;
    if (!holds) report.faults.push(what);
  };
  try {
    report.between.service = await checkService(createClient(service), expect);
    report.between.plain = await checkPlain(createClient(plain), expect, report.ids);
    await checkRefusals(createClient({ ...service, apiKey: 'nobody' }), expect);
  } catch (error) {
    report.faults.push(error instanceof Error ? `${error}\n${error.stack}` : String(error));
  }
  return report;
}

type Expect = (what: string, holds: boolean) => void;

async function checkService(client: Client, expect: Expect): Promise<number> {
  const items = signedItems(6);
  const file = largeFile(items);
  const sent: number[] = [];
  const totals = new Set<number>();
  const { process_id } = await client.submit(file, {
    onProgress: ({ step, done, total }) => {
      if (step !== 'upload') return;
      sent.push(done);
      totals.add(total);
    },
  });
  expect('total', [...totals].join() === String(LARGE_BYTES));
  expect(
    'progress grows',
    sent.every((done, i) => i === 0 || done >= sent[i - 1]!),
  );
  expect('progress ends', sent.at(-1) === LARGE_BYTES);

  const texts: string[] = [];
  const record = await client.waitFor(process_id, {
    onProgress: ({ status }) => texts.push(status),
  });
  expect('completed', record.status === 'completed' && texts.at(-1) === 'completed');
  const result = await client.result(process_id, { statements: items });
  expect('checked', result.checked && result.file?.count === 6);
  expect('verify', await client.verify(result.aggregate!, items));
  const wrong = await codeOf(client.result(process_id, { statements: items.slice(1) }));
  expect(`another list: ${wrong}`, wrong === 'BAD_RESULT');

  const direct = await client.aggregate(items);
  await client.waitFor(direct, { by: 'poll', pollMs: [10, 50] });
  const ids: string[] = [];
  for await (const { id } of client.tasks({ limit: 1 })) ids.push(id);
  expect('list', ids.includes(process_id) && ids.includes(direct.process_id));
  const events: string[] = [];
  for await (const { status } of client.events(process_id)) events.push(status);
  expect('events', events.join() === 'completed');
  const { digest } = await client.sign(Uint8Array.of(0, 255));
  expect('sign', digest === '0x00ff');
  await client.remove(direct.process_id);
  expect('removed', (await codeOf(client.task(direct.process_id))) === 'NOT_FOUND');

  const open = await client.createTask();
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 100);
  const ended = await codeOf(client.waitFor(open, { signal: controller.signal }));
  expect(`aborted: ${ended}`, ended === 'ABORTED');
  const stopped = new AbortController();
  const upload = client.upload(open, file, {
    signal: stopped.signal,
    onProgress: () => stopped.abort(),
  });
  expect('upload aborted', (await codeOf(upload)) === 'ABORTED');
  await client.cancel(open.process_id);
  return sent.filter((done) => done > 0 && done < LARGE_BYTES).length;
}

async function checkPlain(client: Client, expect: Expect, ids: string[]): Promise<number> {
  const items = signedItems(3);
  const sent: number[] = [];
  const accepted = await client.submit(largeFile(items), {
    onProgress: ({ step, done }) => {
      if (step === 'upload') sent.push(done);
    },
  });
  ids.push(accepted.process_id);
  const record = await client.waitFor(accepted, { pollMs: [10, 50] });
  expect('plain: finished', record.finished_at !== undefined);
  const { json, file } = await client.result(accepted.process_id);
  const { task } = json as { task: bigint };
  expect('plain: exact', file === null && task === BigInt(accepted.process_id));
  return sent.filter((done) => done > 0 && done < LARGE_BYTES).length;
}

async function checkRefusals(stranger: Client, expect: Expect): Promise<void> {
  const code = await codeOf(stranger.task(1));
  expect(`stranger: ${code}`, code === 'UNAUTHENTICATED');
  const nowhere = createClient({ baseUrl: 'http://127.0.0.1:9', retries: { times: 1, baseMs: 1 } });
  const lost = await codeOf(nowhere.task(1));
  expect(`nowhere: ${lost}`, lost === 'NETWORK');
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return isClientError(error) ? error.code : String(error);
  }
}

function largeFile(items: ReturnType<typeof signedItems>): Uint8Array {
  const hex = (bytes: Uint8Array) =>
    `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  const triples = items.map(({ message, publicKey, signature }) => ({
    digest: hex(message),
    public_key: hex(publicKey),
    signature: hex(signature),
  }));
  return new TextEncoder().encode(JSON.stringify(triples).padEnd(LARGE_BYTES));
}
