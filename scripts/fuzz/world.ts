/**
 * What only a running service has: ids of tasks in all states, signed urls, cursors. Made anew
 * from time to time, since the requests remove tasks as well.
 */
import { falcon512 } from '../../src/falcon/index.ts';
import { toTriple } from '../../src/wire/triple.ts';
import type { Real, RealKind, Samples } from '../../test/support/contract/requests.ts';
import { testRandom } from '../../test/support/random.ts';
import type { Target } from './server.ts';

/** Of each kind; older ones are forgotten. */
const KEPT = 32;
const PATIENCE_MS = 60_000;

const random = testRandom('fuzz');
const { publicKey, secretKey } = falcon512.keygen(random.bytes(48));
const TRIPLES = Array.from({ length: 12 }, (_, i) => {
  const message = random.bytes(i);
  return toTriple({ publicKey, message, signature: falcon512.sign(message, secretKey) });
});
secretKey.fill(0);

const unsigned = TRIPLES.map(({ digest, public_key }) => ({ digest, public_key }));

/** Bodies with signatures that are valid, partly valid, and too many. */
export const SAMPLES: Samples = {
  aggregate: [
    { data: TRIPLES.slice(0, 1) },
    { data: TRIPLES.slice(0, 3) },
    { data: [TRIPLES[0], TRIPLES[0]], note: 'twice' },
    { data: [{ ...TRIPLES[1], digest: '0xff' }, TRIPLES[2]] },
    { data: TRIPLES },
  ],
  uploadTaskFile: [TRIPLES.slice(0, 2), [{ ...TRIPLES[1], digest: '0xff' }], TRIPLES],
  verifyAggregate: [{ aggregate: '0x464c5259', statements: unsigned.slice(0, 2) }],
};

// biome-ignore lint/suspicious/noExplicitAny: answers of the service, read by path
type Json = any;

export class World {
  readonly #target: Target;
  readonly #pools = new Map<RealKind, string[]>();

  constructor(target: Target) {
    this.#target = target;
    const { key, foreignKey, revokedKey } = target.keys;
    this.#keep('key', key);
    this.#keep('foreignKey', foreignKey);
    this.#keep('revokedKey', revokedKey);
  }

  /** The value that a plan asks for; as long as there is none of its kind, nothing. */
  valueOf({ kind, turn }: Real): string {
    const pool = this.#pools.get(kind) ?? [];
    return pool[turn % pool.length] ?? '';
  }

  /** Tasks in all states for both clients. @throws Error if the service does not do what it must */
  async refresh(): Promise<void> {
    for (let i = 0; i < 12; i++) {
      const { process_id, url } = await this.#ask('POST', '/v1/svc/aggsign/task');
      this.#keepUrl('upload', url);
      if (i % 3 > 0) await this.#ask('PUT', url, TRIPLES.slice(0, 1 + (i % 4)));
      if (i % 3 > 1) await this.#ask('POST', `/v1/svc/aggsign/notify/${process_id}`);
      if (i > 0) this.#keep('id', String(process_id));
      else {
        // Cancelled, then removed.
        for (let turn = 0; turn < 2; turn++)
          await this.#ask('DELETE', `/v1/svc/tasks/${process_id}`);
        this.#keep('removedId', String(process_id));
      }
    }
    for (let i = 0; i < 6; i++) {
      const { process_id } = await this.#ask('POST', '/v1/svc/aggsign/task', { parts: true });
      const { url } = await this.#ask('POST', `/v1/svc/aggsign/task/${process_id}/part`);
      this.#keepUrl('upload', url);
      this.#keep('id', String(process_id));
    }
    this.#keep('cursor', (await this.#ask('GET', '/v1/svc/tasks?limit=1')).next);
    const { foreignKey } = this.#target.keys;
    const { id, record } = await this.finishTask();
    this.#keep('id', id);
    this.#keepUrl('download', record.result_path);
    const foreign = await this.finishTask(foreignKey);
    this.#keep('foreignId', foreign.id);
    this.#keepUrl('foreignDownload', foreign.record.result_path);
    const page = await this.#ask('GET', '/v1/svc/tasks?limit=1', undefined, foreignKey);
    this.#keep('foreignCursor', page.next);
  }

  /** Has two signatures aggregated, and the aggregate verified. */
  async finishTask(key?: string): Promise<{ id: string; record: Json }> {
    const data = TRIPLES.slice(0, 2);
    const { process_id: id } = await this.#ask('POST', '/v1/svc/aggsign', { data }, key);
    const endMs = performance.now() + PATIENCE_MS;
    let record: Json;
    do {
      if (performance.now() > endMs) throw new Error(`task ${id} is ${record.status} for too long`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      record = await this.#ask('GET', `/v1/svc/tasks/${id}`, undefined, key);
    } while (/^(wait|falcon)/.test(record.status));
    if (record.status !== 'completed') throw new Error(`task ${id} has ${record.status}`);
    const { aggregate } = await this.#ask('GET', record.result_path);
    const body = { aggregate, statements: unsigned.slice(0, 2) };
    const { valid } = await this.#ask('POST', '/v1/svc/aggsign/verify', body, key);
    if (valid !== true) throw new Error(`the aggregate of task ${id} is not valid`);
    return { id: String(id), record };
  }

  #keep(kind: RealKind, value: string): void {
    const pool = this.#pools.get(kind) ?? [];
    pool.push(value);
    this.#pools.set(kind, pool.slice(-KEPT));
  }

  #keepUrl(kind: 'upload' | 'download' | 'foreignDownload', url: string): void {
    const { pathname, search, searchParams } = new URL(url);
    this.#keep(kind, pathname + search);
    this.#keep('expires', searchParams.get('expires')!);
    this.#keep('signature', searchParams.get('signature')!);
  }

  async #ask(method: string, path: string, body?: unknown, key?: string): Promise<Json> {
    const { port, keys } = this.#target;
    const url = path.startsWith('http') ? path : `http://127.0.0.1:${port}${path}`;
    const headers = { authorization: key ?? keys.key, 'content-type': 'application/json' };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${new URL(url).pathname}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }
}
