/**
 * The proxies of the guide, with its files, before real services: what a client sees is what it
 * would see without them, and no host that ends costs a request.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { deferred } from '../../src/shared/wait.ts';
import { falconry, type Running } from '../middleware/process.ts';
import { makeTriples } from '../middleware/triples.ts';
import { fact } from '../support/facts.ts';
import { freePort } from '../support/ports.ts';
import { BELOW_A_PATH, caddyFile, haproxyFile, nginxFile, withProgram } from './programs.ts';

/** As in compose.yaml: longer than HAProxy takes to notice. */
const DRAIN_MS = 5000;
const GRACE_MS = 2000;
const MAX_BODY = 32 * 1024 * 1024;
/** An address that a caller only claims to have. */
const CLAIMED = '203.0.113.9';

/** Until something listens there. */
async function listening(port: number): Promise<void> {
  for (const endMs = Date.now() + 20_000; Date.now() < endMs; await sleep(50)) {
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
  }
  throw new Error(`nothing listens on ${port}`);
}

interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

interface Asked {
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, after the path of the site. */
  readonly raw?: string;
  /** Hears of every piece of the answer. */
  readonly onPiece?: (text: string) => void;
}

/** A service behind a proxy. */
class Site {
  readonly #folder = mkdtempSync(join(tmpdir(), 'falconry-proxies-'));
  readonly #ended: (() => Promise<unknown>)[] = [];
  /** The proxy's own output. */
  output = '';
  servers: Running[] = [];
  key = '';
  /** Where clients come to; the name of the guide stands for it in TLS. */
  base = '';
  #ca: Buffer | undefined;

  get path(): string {
    return this.#folder;
  }

  /**
   * @param count servers on one data directory
   * @param tls whether the proxy speaks TLS
   * @param below the path at which the service is, to its clients
   */
  async open(
    count: number,
    tls: boolean,
    start: (path: string, ports: Parameters<typeof nginxFile>[1]) => readonly [string, string[]],
    below = '',
  ): Promise<void> {
    const [plain, secure] = [await freePort(), await freePort()];
    const port = tls ? secure : plain;
    this.base = `${tls ? 'https' : 'http'}://127.0.0.1:${port}${below}`;
    const ports: number[] = [];
    for (let i = 0; i < count; i++) {
      const args = ['--data', join(this.path, 'data'), '--port', '0', '--json', '--log', 'json'];
      const own = ['--trust-proxy', '--public-url', this.base, '--no-signing', '--threads', '1'];
      const end = ['--drain-delay', `${count > 1 ? DRAIN_MS : 0}ms`, '--grace', `${GRACE_MS}ms`];
      const server = falconry(['serve', ...args, ...own, ...end]);
      this.servers.push(server);
      this.#ended.push(async () => {
        server.kill('SIGKILL');
        await server.ended;
      });
      const facts = JSON.parse((await server.printed(/^\{"ok":true.*\}$/m))[0]);
      this.key ||= facts.api_key;
      ports.push(facts.port);
    }
    const [program, args] = start(this.path, { http: plain, https: secure, servers: ports });
    const env = { ...process.env, HOME: this.path, XDG_DATA_HOME: this.path };
    const proxy: ChildProcess = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
    for (const stream of [proxy.stdout!, proxy.stderr!]) {
      stream.on('data', (text) => (this.output += text));
    }
    this.#ended.push(async () => {
      const gone = once(proxy, 'close');
      proxy.kill('SIGTERM');
      await gone;
    });
    await listening(port);
    if (tls) this.#ca = readFileSync(join(this.path, 'chain.pem'));
    // HAProxy looks at its servers first.
    for (let i = 0; i < 100 && (await this.ask('GET', '/v1/openapi.json')).status !== 200; i++) {
      await sleep(100);
    }
  }

  /** @param path of the service, or a whole url of it */
  ask(
    method: string,
    path: string,
    { body, headers = {}, raw, onPiece }: Asked = {},
  ): Promise<Answer> {
    const url = new URL(path.startsWith('http') ? path : `${this.base}${path}`);
    const sent = {
      ...(path.startsWith('http') ? {} : { authorization: this.key }),
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      }),
      'x-forwarded-for': CLAIMED,
      ...headers,
    };
    const options = { method, headers: sent, ca: this.#ca, servername: 'falcon.example.com' };
    const target =
      raw === undefined ? {} : { path: new URL(this.base).pathname.replace(/\/$/, '') + raw };
    const { request } = url.protocol === 'https:' ? https : http;
    return new Promise((resolve, reject) => {
      let answered = false;
      const outgoing = request(url, { ...options, ...target }, (incoming) => {
        answered = true;
        let text = '';
        incoming.setEncoding('utf8').on('data', (piece) => {
          text += piece;
          onPiece?.(piece);
        });
        const { statusCode: status = 0, headers } = incoming;
        incoming.on('end', () => resolve({ status, type: headers['content-type'], text }));
        incoming.on('error', reject);
      });
      // After an early answer the rest of a body may find nobody.
      outgoing.on('error', (error) => answered || reject(error));
      outgoing.end(body);
    });
  }

  async close(): Promise<void> {
    for (const end of this.#ended.splice(0).reverse()) await end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const HIDDEN = ['/readyz', '/v1/../readyz', '/v1/%2e%2e/readyz', '/%72eadyz', '//readyz'];

/** What every proxy has to do. */
function behaves(site: Site): void {
  let url = '';
  let id = 0;

  it('passes a task on, from its creation to its result', async () => {
    const created = await site.ask('POST', '/v1/svc/aggsign/task');
    expect(created.status, created.text).toBe(201);
    ({ url, process_id: id } = JSON.parse(created.text));
    expect(url.startsWith(`${site.base}/v1/svc/uploads/${id}?`), url).toBe(true);

    let pieces = '';
    const { promise: heard, resolve: first } = deferred<void>();
    const events = site.ask('GET', `/v1/svc/tasks/${id}/events`, {
      onPiece(text) {
        pieces += text;
        if (pieces.includes('wait for task file upload')) first();
      },
    });
    // It must come while the stream is open, or nothing below would ever happen.
    await heard;
    const file = JSON.stringify(makeTriples(3));
    expect((await site.ask('PUT', url, { body: file })).status).toBe(200);
    expect((await site.ask('POST', `/v1/svc/aggsign/notify/${id}`)).status).toBe(202);
    expect((await events).text).toContain('"completed"');

    const { result_path } = JSON.parse((await site.ask('GET', `/v1/svc/tasks/${id}`)).text);
    const result = await site.ask('GET', result_path);
    expect([result.status, JSON.parse(result.text).count]).toEqual([200, 3]);
  });

  it('lets the service say what is too large', async () => {
    const body = Buffer.alloc(MAX_BODY + 1, 0x20);
    const { status, type, text } = await site.ask('POST', '/v1/svc/aggsign', { body });
    expect([status, type]).toEqual([413, expect.stringContaining('application/problem+json')]);
    expect(JSON.parse(text)).toHaveProperty('code');
  });

  it('hides what is for itself', async () => {
    const ask = async (raw: string) => (await site.ask('GET', '/', { raw })).status;
    expect(await Promise.all(HIDDEN.map(ask))).toEqual(HIDDEN.map(() => 404));
  });

  it('tells the address that it sees, and keeps rights out of its log', async () => {
    const [server] = site.servers;
    const fromMs = Date.now();
    server!.kill('SIGTERM');
    const { stderr } = await server!.ended;
    // Neither a body that was refused nor a connection of the proxy holds it up.
    expect(Date.now() - fromMs).toBeLessThan(DRAIN_MS + GRACE_MS + 5000);
    const lines = stderr.split('\n').filter((line) => line.includes('"route"'));
    const remotes = new Set(lines.map((line) => JSON.parse(line).remote));
    expect([...remotes]).toEqual(['127.0.0.1']);
    const file = join(site.path, 'access.log');
    const log = site.output + (existsSync(file) ? readFileSync(file, 'utf8') : '');
    const signature = new URL(url).searchParams.get('signature')!;
    expect(signature.length).toBeGreaterThan(20);
    expect(log).not.toContain(signature);
    expect(log).not.toContain(site.key);
  });
}

/** Of two hosts one ends. */
function losesNothing(site: Site): void {
  it('loses no request when a host ends', async (context) => {
    const [, second] = site.servers;
    let ended = false;
    let count = 0;
    const bad: string[] = [];
    const load = async () => {
      while (!ended) {
        const outcome = await site.ask('GET', '/v1/svc/tasks').then(
          ({ status }) => String(status),
          (error) => String(error),
        );
        count++;
        if (outcome !== '200') bad.push(outcome);
        await sleep(5);
      }
    };
    const loads = [load(), load(), load(), load()];
    await sleep(500);
    second!.kill('SIGTERM');
    const { stderr } = await second!.ended;
    await sleep(500);
    ended = true;
    await Promise.all(loads);
    expect(bad).toEqual([]);
    // Both had their share.
    const share = stderr.split('\n').filter((line) => line.includes('"route"')).length;
    expect(share).toBeGreaterThan(20);
    expect(count - share).toBeGreaterThan(20);
    fact(context, 'operating', `HAProxy: ${count} requests, a host ends among them, 0 lost`);
  });
}

type Ports = Parameters<typeof nginxFile>[1];

interface Proxied {
  readonly tls: boolean;
  /** Servers behind it, where it is the whole of an address. */
  readonly count?: number;
  /** Its arguments; `text` is that of its file, if it is not as it stands. */
  readonly args: (path: string, ports: Ports, text?: string) => string[];
  readonly more?: (site: Site) => void;
}

/** A proxy as the guide has it; and with its service below a path, in every address. */
function proxied(name: keyof typeof BELOW_A_PATH, { tls, count = 1, args, more }: Proxied): void {
  withProgram(name, name, (program) => {
    describe.each([
      ['alone at its address', count, '', undefined],
      ['below a path', 1, '/crypto', BELOW_A_PATH[name]()],
    ])('%s', (_, servers, below, text) => {
      const site = new Site();
      afterAll(() => site.close());
      const start = (path: string, ports: Ports) => [program, args(path, ports, text)] as const;
      it('starts', () => site.open(servers, tls, start, below));
      if (below === '') more?.(site);
      behaves(site);
    });
  });
}

proxied('nginx', {
  tls: true,
  args: (path, ports, text) => ['-e', 'stderr', '-c', nginxFile(path, ports, text)],
});
proxied('caddy', {
  tls: false,
  args: (path, ports, text) => {
    return ['run', '--adapter', 'caddyfile', '--config', caddyFile(path, ports, text)];
  },
});
proxied('haproxy', {
  tls: true,
  count: 2,
  args: (path, ports, text) => ['-f', haproxyFile(path, ports, text)],
  more: losesNothing,
});
