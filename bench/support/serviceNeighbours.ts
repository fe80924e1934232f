/** What clients notice of each other, and what clients cost that do nothing: see ../service.ts. */
import { execFile } from 'node:child_process';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import autocannon from '../../test/support/autocannon.ts';
import { percentiles } from './load.ts';
import { type Question, startProbe } from './probe.ts';
import { COMMON_LIMITS, type FalconryProcess, MAIN, startFalconry } from './serverProcess.ts';
import type { Wait } from './serviceParsing.ts';

export interface NeighbourFigures {
  /** Reads of polite clients, alone and beside a greedy one. */
  readonly alone: Wait;
  readonly beside: Wait;
  /** Answers of the greedy client, and refusals among them, per second. */
  readonly greedy: { readonly perSecond: number; readonly refusedPerSecond: number };
  /** Resident bytes before and with idle streams and connections. */
  readonly idle: {
    readonly streams: number;
    readonly connections: number;
    readonly beforeBytes: number;
    readonly withBytes: number;
  };
}

const IDLE_STREAMS = 1000;
const IDLE_CONNECTIONS = 5000;
export const IDLE_BAR_BYTES = 400e6;
export const GREEDY_BAR = 2;

const POLITE = 5;
const GREEDY_CONNECTIONS = 64;
/** Every polite client reads forty times a second. */
const EVERY_MS = 25;

export async function measureNeighbours(folder: string, quick: boolean): Promise<NeighbourFigures> {
  const seconds = quick ? 0.5 : 8;
  const server = await startFalconry(join(folder, 'greedy'), [], COMMON_LIMITS);
  try {
    const keys = await Promise.all(
      Array.from({ length: POLITE + 1 }, (_, i) => createKey(join(folder, 'greedy'), `c${i}`)),
    );
    const questions: Question[] = [];
    for (const authorization of keys) questions.push(await ownTask(server, { authorization }));
    const polite = async (): Promise<Wait> => {
      const probe = await startProbe({ questions: questions.slice(1), everyMs: EVERY_MS });
      await sleep(1000 * seconds);
      const times = (await probe.stop()).flat();
      return { ...percentiles(times), requests: times.length };
    };
    await polite();
    const alone = await polite();
    const { url, headers } = questions[0]!;
    const attack = new Promise<autocannon.Result>((resolve, reject) => {
      const duration = seconds + 2;
      autocannon({ url, headers, connections: GREEDY_CONNECTIONS, duration }, (error, result) =>
        error ? reject(error) : resolve(result),
      );
    });
    await sleep(1000);
    const beside = await polite();
    const { requests, non2xx, duration } = await attack;
    const greedy = {
      perSecond: requests.total / duration,
      refusedPerSecond: non2xx / duration,
    };
    return { alone, beside, greedy, idle: await measureIdle(join(folder, 'idle'), quick) };
  } finally {
    await server.stop();
  }
}

async function createKey(data: string, name: string): Promise<string> {
  const args = [MAIN, 'keys', 'create', '--name', name, '--data', data, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout).key;
}

/** A read of a task that the client creates. */
async function ownTask(
  { address }: FalconryProcess,
  headers: { readonly authorization: string },
): Promise<Question> {
  const made = await fetch(`${address}/v1/svc/aggsign/task`, { method: 'POST', headers });
  const { process_id } = (await made.json()) as { process_id: number };
  return { url: `${address}/v1/svc/tasks/${process_id}`, headers };
}

async function measureIdle(folder: string, quick: boolean): Promise<NeighbourFigures['idle']> {
  const share = quick ? 0.02 : 1;
  const [streams, connections] = [share * IDLE_STREAMS, share * IDLE_CONNECTIONS];
  const server = await startFalconry(folder);
  const sockets: Socket[] = [];
  try {
    const headers = { authorization: server.apiKey };
    const { url } = await ownTask(server, headers);
    const beforeBytes = server.memory().nowBytes;
    const opened: Promise<unknown>[] = [];
    for (let i = 0; i < streams; i++) {
      const stream = new Promise<void>((resolve, reject) => {
        const asked = get(`${url}/events`, { headers, agent: false }, (answer) => {
          answer.once('data', () => resolve()).on('error', () => {});
          sockets.push(answer.socket);
        });
        asked.on('error', reject);
      });
      opened.push(stream);
    }
    await Promise.all(opened);
    const { port, hostname } = new URL(server.address);
    for (let i = 0; i < connections; i++) {
      await new Promise<void>((resolve, reject) => {
        const socket = connect(Number(port), hostname, resolve).on('error', reject);
        sockets.push(socket);
      });
    }
    await sleep(2000);
    return { streams, connections, beforeBytes, withBytes: server.memory().nowBytes };
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }
}
