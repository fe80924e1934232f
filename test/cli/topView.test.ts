/** What `falconry top` makes of two looks at a server. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerStatus } from '../../src/cli/serverStatus.ts';
import { linesOf, readStatus, viewOf } from '../../src/cli/topView.ts';
import { falconryHere } from './cli.ts';

const none = { le: [], counts: [] };
const totals = {
  requests: 0,
  errors: 0,
  completed: 0,
  failed: 0,
  retried: 0,
  lost: 0,
  stale: 0,
  trouble: 0,
  signatures: 0,
};
const EARLY: ServerStatus = {
  time: '2026-11-23T09:00:00.000Z',
  uptime_s: 100,
  ready: true,
  state: 'running',
  checks: { store: 'ok', blobs: 'ok' },
  tasks: { created: 0, uploaded: 0, waiting: 0, verifying: 0, aggregating: 0, quarantined: 0 },
  oldest_waiting_s: 0,
  in_work: 0,
  threads: 3,
  totals: { ...totals, requests: 1000 },
  seconds: {
    requests: { le: [0.01, 0.1, 1], counts: [900, 1000, 1000, 1000] },
    store: none,
    blobs: none,
    phases: { read: none, verify: none, aggregate: none, store: none },
  },
  memory: { rss: 120e6, heap: 30e6 },
  event_loop_ms: { p50: 0, p99: 1.5 },
};
const LATE: ServerStatus = {
  ...EARLY,
  time: '2026-11-23T09:00:04.000Z',
  uptime_s: 104,
  ready: false,
  checks: { store: 'STORE_UNAVAILABLE', blobs: 'ok' },
  tasks: { ...EARLY.tasks, waiting: 12, quarantined: 1 },
  oldest_waiting_s: 75,
  in_work: 2,
  totals: { ...totals, requests: 1200, errors: 4, completed: 8, signatures: 13_776 },
  seconds: {
    ...EARLY.seconds,
    requests: { le: [0.01, 0.1, 1], counts: [1000, 1180, 1200, 1200] },
    phases: {
      ...EARLY.seconds.phases,
      aggregate: { le: [1, 2], counts: [0, 0, 8] },
    },
  },
};

describe('the view', () => {
  it('has the rates between two looks, or since the start', () => {
    expect(viewOf(EARLY, null).rates).toMatchObject({ requests: 10, completed: 0 });
    expect(viewOf(LATE, EARLY).rates).toMatchObject({ requests: 50, errors: 1, signatures: 3444 });
  });

  it('starts anew after a restart', () => {
    const restarted = { ...LATE, uptime_s: 2, totals: { ...totals, requests: 6 } };
    expect(viewOf(restarted, EARLY).rates).toMatchObject({ requests: 3 });
  });

  it('has the latencies of what happened in between, none if nothing did', () => {
    const { latencies } = viewOf(LATE, EARLY);
    // 200 requests: 100 up to 10 ms, 80 up to 100 ms, 20 up to 1 s.
    expect(latencies.requests).toEqual({ p50_ms: 10, p99_ms: 910 });
    // Beyond the last bound, the bound is all that is known.
    expect(latencies.phase_aggregate).toEqual({ p50_ms: 2000, p99_ms: 2000 });
    expect(latencies.store).toBeNull();
    expect(viewOf(EARLY, null).latencies.requests).toEqual({ p50_ms: 5.56, p99_ms: 91 });
  });

  it('says what there is to see', () => {
    const text = linesOf(viewOf(LATE, EARLY), false).join('\n');
    for (const part of [
      'not ready (running, store: STORE_UNAVAILABLE)',
      'up 1 min 44 s',
      'waiting 12',
      'quarantined 1',
      'oldest      1 min 15 s',
      '2 tasks on 3 threads',
      '50.0/s  errors 1.0/s',
      'signatures 3444/s',
      'requests 10 ms / 910 ms  store -',
      'aggregate 2.0 s / 2.0 s',
      'memory 114.4 MiB, heap 28.6 MiB',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain('\x1b');
    expect(linesOf(viewOf(LATE, EARLY), true).join('\n')).toContain('\x1b[31mnot ready');
    const blind = { ...LATE, tasks: null, oldest_waiting_s: null };
    expect(linesOf(viewOf(blind, EARLY), false).join('\n')).toMatch(/queue +unknown\noldest +-/);
  });
});

describe('a status', () => {
  it('is read without control characters', () => {
    const sly = { ...LATE, checks: { store: '\x1b[2Jgone' } };
    const read = readStatus(JSON.stringify(sly));
    expect(linesOf(viewOf(read, null), false).join('')).not.toContain('\x1b');
    expect(readStatus(JSON.stringify(LATE))).toEqual(LATE);
  });

  it.each(['', 'null', '[]', '{"ok":true}', '"text"', JSON.stringify({ ...LATE, seconds: {} })])(
    '%s is none',
    (text) => {
      expect(() => readStatus(text)).toThrow();
    },
  );
});

describe('falconry top', () => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/status') response.end(JSON.stringify(EARLY));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  it('--once prints one look, --json as one line', async () => {
    const text = await falconryHere(['top', '--once', '--metrics-url', url]);
    expect([text.code, text.err]).toEqual([0, '']);
    expect(text.out).toMatch(/^server +ready/);
    const { code, out } = await falconryHere(['top', '--once', '--json'], {
      FALCONRY_METRICS_URL: url,
    });
    expect(code).toBe(0);
    expect(out.match(/\n/g)).toHaveLength(1);
    expect(JSON.parse(out)).toMatchObject({ ok: true, ready: true, rates: { requests: 10 } });
  });

  it.each([
    ['a port where nobody listens', 'http://127.0.0.1:1', /has no metrics to show/],
    ['another server', '/elsewhere', /it answered 404/],
  ])('says that it finds nothing at %s', async (_, address, words) => {
    const place = address.startsWith('/') ? url + address : address;
    const { code, out, err } = await falconryHere(['top', '--once', '--metrics-url', place]);
    expect([code, out]).toEqual([4, '']);
    expect(err).toMatch(words);
    const { out: line } = await falconryHere(['top', '--json', '--metrics-url', place]);
    expect(JSON.parse(line)).toMatchObject({ ok: false, code: 'UNREACHABLE' });
  });

  it.each([['more'], ['--interval', '1ms'], ['--metrics-url', 'here']])(
    'refuses %s',
    async (...args) => {
      expect((await falconryHere(['top', ...args])).code).toBe(2);
    },
  );
});
