/**
 * The check that every host must pass: a client that walks through every endpoint of a service by
 * its address alone, judges what must hold anywhere, and gives back the transcript, by which hosts
 * are compared.
 */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { verifyAggregate } from '../../src/aggregate/index.ts';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { type TaskItem, toTriple } from '../../src/wire/triple.ts';
import { startService } from '../middleware/support.ts';
import { fixedItems } from '../runtimes/check.ts';
import type { Contract } from '../support/contract/contract.ts';
import { contractAt, noteAnswer } from '../support/contract/watch.ts';
import { events, open, pieces, type Received, type Sent, send } from './client.ts';
import { Transcript } from './transcript.ts';

export interface Target {
  /** Address of the mount point, without a slash at its end. */
  readonly base: string;
  /** API keys of two clients. */
  readonly alice: string;
  readonly bob: string;
  readonly serviceName?: string;
  /** Content types of answers that the host gives itself, which no document of ours describes. */
  readonly ownAnswers?: RegExp;
}

interface Options {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the answer that depend on how far a worker is. */
  readonly vague?: readonly string[];
  readonly raw?: Sent['body'];
}

/** Members of a record that change while a worker is at it. */
const MOVING = [
  'status',
  'progress',
  'finished_at',
  'result_path',
  'format',
  'result_bytes',
  'result_expires_at',
];
const JSON_TYPE = { 'content-type': 'application/json' };
const MIB = 1024 * 1024;

// biome-ignore lint/suspicious/noExplicitAny: a check looks into answers as it likes
type Json = any;

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');

let prepared: { file: TaskItem[]; mixed: TaskItem[]; large: Buffer } | undefined;

/** The batches that are sent, the same for every host. */
function batches() {
  if (prepared) return prepared;
  const file = fixedItems(falcon512, 110);
  const mixed = fixedItems(falcon512, 6).flatMap((item, i) => {
    return i % 2 === 0 ? [item] : [item, ...fixedItems(falcon1024, 1)];
  });
  const { public_key, signature } = toTriple(file[0]!);
  const digest = `0x${'5a'.repeat(4096)}`;
  const data = Array.from({ length: 1722 }, () => ({ digest, public_key, signature }));
  prepared = { file, mixed, large: bytesOf({ data }) };
  return prepared;
}

/** The transcript of a service as `falconry serve` runs it. */
export async function referenceWalk(): Promise<readonly string[]> {
  const service = await startService({ onDisk: true });
  return walk({ ...service, base: service.address }).finally(service.close);
}

/** Walks, and gives the transcript. */
export async function walk(target: Target): Promise<readonly string[]> {
  const walker = new Walker(target, await contractAt(target.base));
  await walker.pages();
  await walker.refusals();
  await walker.signing();
  await walker.upload();
  await walker.direct();
  await walker.large();
  await walker.lists();
  return walker.transcript.steps;
}

class Walker {
  readonly transcript: Transcript;
  readonly #target: Target;
  /** The OpenAPI document that the service gives itself. */
  readonly #contract: Contract;
  readonly #svc: string;

  constructor(target: Target, contract: Contract) {
    this.#target = target;
    this.#contract = contract;
    const { base, serviceName = 'svc' } = target;
    this.#svc = `/v1/${serviceName}`;
    this.transcript = new Transcript(base, serviceName);
  }

  /** One request; its answer goes into the transcript. */
  async ask(name: string, request: string, body?: unknown, options: Options = {}): Promise<Json> {
    const { key = this.#target.alice, headers = {}, vague, raw } = options;
    const [method = '', path = ''] = request.split(' ');
    const url = path.startsWith('http') ? path : this.#target.base + path;
    const content = raw ?? (body === undefined ? undefined : bytesOf(body));
    const received = await send({
      method,
      url,
      headers: {
        ...(key !== null && { authorization: key }),
        ...(content !== undefined && JSON_TYPE),
        ...headers,
      },
      ...(content !== undefined && { body: content }),
    }).catch((cause: unknown) => {
      throw new Error(`${name}: ${request}`, { cause });
    });
    this.#holdToDocument(method, url, received);
    this.transcript.add(name, request, received, vague);
    const json = /json$/.test(received.headers['content-type'] ?? '') && received.body.length > 0;
    return {
      ...(json ? JSON.parse(received.body.toString('utf8')) : {}),
      answered: received.status,
      received,
    };
  }

  #holdToDocument(method: string, url: string, { status, headers, body }: Received): void {
    if (this.#target.ownAnswers?.test(headers['content-type'] ?? '')) return;
    const path = new URL(url).pathname.slice(
      new URL(this.#target.base).pathname.replace(/\/$/, '').length,
    );
    const text = body.toString('utf8');
    noteAnswer(this.#contract, { method, path, status, headers: new Headers(headers), body: text });
  }

  async pages(): Promise<void> {
    for (const page of ['openapi.json', 'ui']) {
      await this.ask('a page without a key', `GET /v1/${page}`, undefined, {
        key: null,
        headers: { 'accept-encoding': 'identity' },
      });
    }
    await this.ask('compressed', 'GET /v1/openapi.json', undefined, { key: null });
  }

  async refusals(): Promise<void> {
    const svc = this.#svc;
    await this.ask('no key', `GET ${svc}/tasks`, undefined, { key: null });
    await this.ask('a wrong key', `GET ${svc}/tasks`, undefined, { key: 'falconry_nobody' });
    await this.ask('a wrong key, and a body', `POST ${svc}/aggsign`, { data: [] }, { key: 'x' });
    await this.ask('nothing there', 'GET /v1/falcon/fly');
    await this.ask('nothing there, either', `DELETE ${svc}/nothing`);
    for (const [method, path] of [
      ['GET', '/v1/falcon/sign'],
      ['PUT', `${svc}/tasks`],
      ['PATCH', `${svc}/tasks/1`],
      ['GET', `${svc}/aggsign`],
      ['GET', `${svc}/aggsign/task`],
      ['OPTIONS', `${svc}/aggsign/notify/1`],
      ['DELETE', `${svc}/uploads/1`],
    ]) {
      await this.ask('a wrong method', `${method} ${path}`);
    }
    for (const id of ['1', '0', 'abc', '12345678901234567890', '%31', '-1']) {
      await this.ask('no such task', `GET ${svc}/tasks/${id}`);
    }
    await this.ask('no such task', `POST ${svc}/aggsign/notify/77`);
    await this.ask('no such task', `DELETE ${svc}/tasks/77`);
    await this.ask('HEAD without a key', `HEAD ${svc}/tasks`, undefined, { key: null });
    await this.ask('HEAD', `HEAD ${svc}/tasks`);
  }

  async signing(): Promise<void> {
    const sign = 'POST /v1/falcon/sign';
    const { digest, signature, public_key } = await this.ask('sign', sign, { digest: '0xAbCd' });
    const [sig, key] = [signature, public_key].map((hex: string) =>
      Buffer.from(hex.slice(2), 'hex'),
    );
    expect(falcon512.verify(sig!, Buffer.from('abcd', 'hex'), key!)).toBe(true);
    expect(digest).toBe('0xabcd');
    await this.ask('the empty message', sign, { digest: '0x' });
    await this.ask('the longest message', sign, { digest: `0x${'00'.repeat(4096)}` });
    for (const digest of [undefined, 7, null, '00', '0x0', '0xzz', `0x${'00'.repeat(4097)}`]) {
      await this.ask('a bad digest', sign, { digest });
    }
    await this.ask('an array', sign, [1, 2]);
    for (const text of ['{', '', '{"digest":"0x00","digest":"0x01"}', 'null', '"\xff"', '[[[[']) {
      await this.ask('a bad body', sign, undefined, { raw: Buffer.from(text, 'latin1') });
    }
    const raw = bytesOf({ digest: '0x00' });
    await this.ask('in pieces', sign, undefined, { raw: pieces(raw, 3, 20) });
    for (const type of ['text/plain', 'application/json; charset=latin1', 'nonsense', '']) {
      await this.ask('a wrong type', sign, undefined, { raw, headers: { 'content-type': type } });
    }
    const headers = { 'content-encoding': 'gzip' };
    await this.ask('a compressed body', sign, undefined, { raw, headers });
    await this.ask('too large', sign, undefined, { raw: Buffer.alloc(3 * MIB, 0x20) });
    const endless = pieces(Buffer.alloc(3 * MIB, 0x20), 64 * 1024);
    await this.ask('too large, in pieces', sign, undefined, { raw: endless });
  }

  async upload(): Promise<void> {
    const svc = this.#svc;
    const { file } = batches();
    const triples = file.map(toTriple);
    const create = `POST ${svc}/aggsign/task`;
    const ticket = await this.ask('create', create);
    expect(ticket.url.startsWith(`${this.#target.base}${svc}/uploads/`)).toBe(true);
    const id: number = ticket.process_id;
    await this.ask('too early', `POST ${svc}/aggsign/notify/${id}`);
    const { url } = await this.ask('a new url', `POST ${svc}/aggsign/task/${id}/url`);
    const put = `PUT ${url}`;
    const open = { key: null };
    await this.ask('a forged url', `${put.slice(0, -3)}AAA`, triples, open);
    await this.ask('a url without its right', put.replace(/\?.*/, ''), triples, open);
    const headers = { 'content-type': 'text/csv' };
    await this.ask('a wrong type', put, triples, { ...open, headers });
    await this.ask('an empty file', put, undefined, { ...open, raw: Buffer.alloc(0) });
    await this.ask('no body', put, undefined, { ...open, headers: JSON_TYPE });
    const large = Buffer.alloc(33 * MIB, 0x20);
    await this.ask('too large', put, undefined, { ...open, raw: pieces(large, 65_536) });
    await this.ask('a large file', put, undefined, { ...open, raw: large.subarray(0, 25 * MIB) });
    const bytes = bytesOf(triples);
    const slow = pieces(bytes, Math.ceil(bytes.length / 12), 50);
    await this.ask('another file, slowly', put, undefined, { ...open, raw: slow });
    await this.ask('not yet', `GET ${svc}/tasks/${id}/result`);
    await this.ask('to be notified', `GET ${svc}/tasks/${id}`);
    await this.#follow(id);

    const record = await this.ask('done', `GET ${svc}/tasks/${id}`);
    await this.ask('too late', put, triples, open);
    await this.ask('no more urls', `POST ${svc}/aggsign/task/${id}/url`);
    await this.ask('notified again', `POST ${svc}/aggsign/notify/${id}`);
    await this.ask("another client's", `GET ${svc}/tasks/${id}`, undefined, {
      key: this.#target.bob,
    });
    await this.#judge(id, record, file);
  }

  /** Opens the stream of events while the task waits, notifies, and reads the stream to its end. */
  async #follow(id: number): Promise<void> {
    const url = `${this.#target.base}${this.#svc}/tasks/${id}/events`;
    const headers = { authorization: this.#target.alice };
    const stream = await open({ method: 'GET', url, headers });
    expect(stream.statusCode).toBe(200);
    expect(stream.headers['content-type']).toBe('text/event-stream');
    const seen: string[] = [];
    for await (const record of events(stream)) {
      // The first comes while nothing has happened yet, so the answer is not held back.
      if (seen.length === 0) {
        await this.ask('notify', `POST ${this.#svc}/aggsign/notify/${id}`, undefined, {
          vague: MOVING,
        });
      }
      seen.push(String(record.status));
    }
    expect(seen.length).toBeGreaterThan(2);
    this.transcript.note(`events from "${seen[0]}" to "${seen.at(-1)}"`);
    await this.ask('HEAD of events', `HEAD ${this.#svc}/tasks/${id}/events`);
  }

  /** Fetches a result and verifies it, here and there. */
  async #judge(id: number, record: Json, items: readonly TaskItem[]): Promise<void> {
    const svc = this.#svc;
    expect(record.result_path).toMatch(new RegExp(`/${id}\\.json\\?`));
    const redirect = await this.ask('where it is', `GET ${svc}/tasks/${id}/result`);
    const { location } = redirect.received.headers;
    await this.ask('HEAD of the result', `HEAD ${location}`, undefined, { key: null });
    const response = await fetch(record.result_path);
    expect(response.status).toBe(200);
    const result = (await response.json()) as Json;
    const bytes = Buffer.from(result.aggregate.slice(2), 'hex');
    expect(verifyAggregate(bytes, items)).toBe(true);
    expect(verifyAggregate(bytes, items.toReversed())).toBe(false);
    this.transcript.note(`${result.format} of ${result.count}: ${sha256(bytes)}`);

    const statements = items
      .map(toTriple)
      .map(({ digest, public_key }) => ({ digest, public_key }));
    const { aggregate } = result;
    const verify = `POST ${svc}/aggsign/verify`;
    await this.ask('verify', verify, { aggregate, statements });
    await this.ask('verify others', verify, { aggregate, statements: statements.toReversed() });
    await this.ask('verify nothing', verify, { aggregate });
    await this.ask('a forged result', `GET ${record.result_path.slice(0, -2)}`, undefined, {
      key: null,
    });
  }

  async direct(): Promise<void> {
    const svc = this.#svc;
    const { mixed } = batches();
    const data = mixed.map(toTriple);
    const aggregate = `POST ${svc}/aggsign`;
    const headers = { 'idempotency-key': 'walk-1' };
    const vague = MOVING;
    const first = await this.ask('aggregate', aggregate, { data }, { headers });
    const again = await this.ask('the same', aggregate, { data }, { headers });
    expect(again.process_id).toBe(first.process_id);
    await this.ask('another', aggregate, { data: data.slice(1) }, { headers });
    const record = await this.#finished(first.process_id);
    await this.ask('done', `GET ${svc}/tasks/${first.process_id}`);
    await this.#judge(first.process_id, record, mixed);

    const create = `POST ${svc}/aggsign/task`;
    const once = { headers: { 'idempotency-key': 'walk-2' } };
    const task = await this.ask('create once', create, undefined, once);
    const same = await this.ask('create once', create, undefined, once);
    expect([same.process_id, same.url]).toEqual([task.process_id, task.url]);
    await this.ask('a bad key', create, undefined, { headers: { 'idempotency-key': 'a b' } });

    const wrong = data.map((triple, i) =>
      i === 1 || i === 4 ? { ...triple, digest: '0x00' } : triple,
    );
    const bad = await this.ask('two are not valid', aggregate, { data: wrong }, { vague });
    await this.#finished(bad.process_id);
    await this.ask('failed', `GET ${svc}/tasks/${bad.process_id}`, undefined, {
      vague: ['progress'],
    });
    for (const body of [
      {},
      [],
      { data: [] },
      { data: {} },
      { data: [{}] },
      { data: [{ ...data[0], public_key: '0x09' }] },
    ]) {
      await this.ask('a bad batch', aggregate, body);
    }
    await this.ask('too many', aggregate, { data: Array(1723).fill({}) });
  }

  async #finished(id: number): Promise<Json> {
    for (;;) {
      const response = await fetch(`${this.#target.base}${this.#svc}/tasks/${id}`, {
        headers: { authorization: this.#target.alice },
      });
      const record = (await response.json()) as Json;
      if (/^(completed|failed|cancelled)$/.test(record.status)) return record;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /**
   * The largest batch that is allowed, twice: at once, and in pieces; and a sender who goes away.
   */
  async large(): Promise<void> {
    const svc = this.#svc;
    const { large } = batches();
    const vague = MOVING;
    const aggregate = `POST ${svc}/aggsign`;
    const ids: number[] = [];
    for (const raw of [large, pieces(large, 256 * 1024)]) {
      const { process_id } = await this.ask('the largest', aggregate, undefined, { raw, vague });
      ids.push(process_id);
    }
    for (const id of ids) {
      await this.#finished(id);
      const { error } = await this.ask('all invalid', `GET ${svc}/tasks/${id}`, undefined, {
        vague: ['progress'],
      });
      expect(error.invalid.length).toBe(1722);
      await this.ask('remove', `DELETE ${svc}/tasks/${id}`);
      await this.ask('gone', `GET ${svc}/tasks/${id}`);
    }
    const { process_id } = await this.ask('create', `POST ${svc}/aggsign/task`);
    await this.ask('cancel', `DELETE ${svc}/tasks/${process_id}`);
    await this.ask('cancelled', `GET ${svc}/tasks/${process_id}`);
    await this.#cut(large);
    const over = Buffer.alloc(33 * MIB, 0x20);
    await this.ask('no key', aggregate, undefined, { raw: over.subarray(0, 8 * MIB), key: null });
    const headers = { 'content-length': String(over.length) };
    await this.ask('too large', aggregate, undefined, { raw: pieces(over, MIB), headers });
    const slow = pieces(over.subarray(0, MIB), MIB / 16, 100);
    await this.ask('slowly, no key', aggregate, undefined, { raw: slow, key: null });
    await this.ask('still there', `GET ${svc}/tasks?limit=1&status=expired`);
  }

  async #cut(bytes: Buffer): Promise<void> {
    const going = send({
      method: 'POST',
      url: `${this.#target.base}${this.#svc}/aggsign`,
      headers: {
        authorization: this.#target.alice,
        ...JSON_TYPE,
        'content-length': `${bytes.length}`,
      },
      body: (async function* () {
        yield bytes.subarray(0, 100_000);
        await new Promise((resolve) => setTimeout(resolve, 100));
        throw new Error('the sender went away');
      })(),
    });
    await expect(going).rejects.toThrow('went away');
  }

  async lists(): Promise<void> {
    const tasks = `${this.#svc}/tasks`;
    let cursor = '';
    let pages = 0;
    do {
      const page = await this.ask('a page', `GET ${tasks}?limit=2${cursor}`);
      cursor = page.next === '' ? '' : `&cursor=${page.next}`;
      pages++;
    } while (cursor !== '');
    expect(pages).toBe(4);
    await this.ask('newest first', `GET ${tasks}?order=desc`);
    await this.ask('completed', `GET ${tasks}?status=completed`);
    await this.ask('by the other text', `GET ${tasks}?status=wait%20for%20task%20file%20upload`);
    await this.ask('from the beginning', `GET ${tasks}?cursor=`);
    await this.ask('of another client', `GET ${tasks}`, undefined, { key: this.#target.bob });
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=x',
      'cursor=x',
      'status=lost',
      'limit=1&limit=2',
    ]) {
      await this.ask('a bad query', `GET ${tasks}?${query}`);
    }
  }
}
