/** The fuzz run: that it sees what is wrong, and says it without secrets. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUND, runCampaign } from '../../scripts/fuzz/campaign.ts';
import { curlOf, reduced } from '../../scripts/fuzz/reproduce.ts';
import type { Target } from '../../scripts/fuzz/server.ts';
import { type HttpServer, openHttpServer } from '../../src/cli/operate/httpServer.ts';
import { type FalconService, falconService } from '../../src/middleware/index.ts';
import { start } from '../middleware/process.ts';
import type { RequestPlan } from '../support/contract/requests.ts';

type Answer = (request: Request) => Response | Promise<Response>;

let folder: string;
let service: FalconService;
let server: HttpServer;
let target: Target;
let plant: (request: Request, honest: Answer) => Response | Promise<Response>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'falconry-fuzz-'));
  const limits = { requestsPerSecond: 1e6, burst: 1e6, refusedPerSecond: 1e6, refusedBurst: 1e6 };
  service = falconService({
    dataDirectory: folder,
    threads: 1,
    signing: true,
    bodyIdleTimeoutMs: 150,
    limits,
  });
  await service.start();
  // With the request as it came: its spelling is judged, too.
  const fetch = (request: Request, env: unknown) =>
    plant(request, (each) => service.app.fetch(each, env));
  server = await openHttpServer({ fetch, port: 0, host: '127.0.0.1' });
  const { key } = await service.apiKeys.create({ name: 'one' });
  const { key: foreignKey } = await service.apiKeys.create({ name: 'two' });
  target = {
    port: server.port,
    keys: { key, foreignKey, revokedKey: 'falconry_revoked' },
    memory: async () => ({ peakBytes: 1, residentBytes: 1, heapBytes: 1 }),
    alive: () => true,
  };
});
afterAll(async () => {
  await Promise.all([server.close(0), service.stop({ graceMs: 0 })]);
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

const isList = ({ method, url }: Request): boolean =>
  method === 'GET' && new URL(url).pathname === '/v1/svc/tasks';

describe('a fault that was planted', () => {
  it.each([
    [
      'a 500',
      async (request: Request, honest: Answer) =>
        request.headers.get('if-none-match') === '*'
          ? new Response('oh', { status: 500 })
          : honest(request),
      /^500: oh$/,
      /-H 'If-None-Match: ''\*'/,
    ],
    [
      'a field that is not there',
      async (request: Request, honest: Answer) => {
        const answer = await honest(request);
        if (!isList(request) || answer.status !== 200 || /limit=1$/.test(request.url)) {
          return answer;
        }
        return new Response('{"tasks":[]}', answer);
      },
      /^200: .*required property 'next'/,
      /-H 'Authorization: '"\$KEY"/,
    ],
    [
      'a status that the document does not have',
      async (request: Request, honest: Answer) =>
        request.method === 'DELETE' && request.headers.has('content-type')
          ? new Response(null, { status: 418 })
          : honest(request),
      /418|no answer/,
      /-X DELETE/,
    ],
  ])('%s', async (_, planted, reason, line) => {
    // What prepares the campaign is let through.
    plant = (request, honest) =>
      request.headers.get('user-agent') === 'node' ? honest(request) : planted(request, honest);
    const { fault } = await runCampaign(target, { requests: 4 * ROUND, seed: 5 });
    expect(fault?.reasons.join('\n')).toMatch(reason);
    expect(fault!.again).toBe(true);
    const text = curlOf(fault!.plan!, target.port);
    expect(text).toMatch(line);
    for (const secret of [...Object.values(target.keys), 'signature=']) {
      expect(text).not.toContain(secret);
    }
    expect(fault!.plan!.headers.length).toBeLessThan(3);
  });
});

describe('the smallest request', () => {
  const plan: RequestPlan = {
    operation: 'sign',
    method: 'POST',
    target: ['/v1/x/', { kind: 'id', turn: 1, edit: { at: 3, to: '9' } }, '?', 'a=', 'b'],
    headers: [
      ['Authorization', { kind: 'key', turn: 0 }],
      ['X-Empty', ''],
      ['X-Quote', "it's"],
    ],
    body: Buffer.from('{"digest":"0x00"}'),
    transport: 'slow',
  };

  it('has nothing that the fault does not need', async () => {
    const small = await reduced(plan, async ({ headers }) =>
      headers.some(([name]) => name === 'X-Quote'),
    );
    expect(small).toEqual({
      ...plan,
      target: plan.target.slice(0, 2),
      headers: [['X-Quote', "it's"]],
      body: null,
      transport: 'plain',
    });
    expect(await reduced(plan, async () => false)).toBe(null);
  });

  it('is a line for sh', () => {
    expect(curlOf(plan, 80).split('\n')).toEqual([
      '# $KEY: an API key',
      '# sent as "slow" of test/support/contract/wire.ts',
      '# $ID_EDITED: the id of a task, character 3 (modulo its length): 9',
      "curl -i --globoff --path-as-is -X POST -H 'Authorization: '\"$KEY\" -H 'X-Empty;' " +
        "-H 'X-Quote: ''it'\\''s' -H 'Content-Length: 17' --data-binary '{\"digest\":\"0x00\"}' " +
        "'http://127.0.0.1:80''/v1/x/'\"$ID_EDITED\"'?''a=''b'",
    ]);
    const bytes = curlOf({ ...plan, body: Buffer.of(0, 255), transport: 'plain' }, 80);
    expect(bytes).toMatch(/^echo [\w+/=]+ \| base64 -d \| gunzip \| curl .* --data-binary @- /m);
  });
});

it.each([[['--requests', '0']], [['--nonsense']]])('refuses %j', async (args) => {
  const { code, stderr } = await start('scripts/fuzz.ts', args).ended;
  expect(code).toBe(2);
  expect(stderr).toContain('Usage: npm run fuzz');
});
