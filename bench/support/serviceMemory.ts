/** The server's memory while many clients send the largest file at once: see ../service.ts. */
import { Agent, request } from 'node:http';
import { DEFAULT_TASK_FILE_LIMITS } from '../../src/wire/taskFile.ts';
import { type FalconryProcess, startFalconry } from './serverProcess.ts';
import { makeTriples } from './serviceTriples.ts';

export interface MemoryFigure {
  readonly clients: number;
  readonly bodyBytes: number;
  readonly before: number;
  readonly uploads: Crowd;
  readonly direct: Crowd;
}

/** What the server may take at most, with all of them at once. */
export const MEMORY_BAR_BYTES = 512e6;

export interface Crowd {
  readonly peakBytes: number;
  readonly accepted: number;
  /** 503 with Retry-After. */
  readonly refused: number;
  readonly seconds: number;
}

const MESSAGE_BYTES = 4096;
const { maxFileBytes } = DEFAULT_TASK_FILE_LIMITS;

/** As long as the service takes it: blanks make up for what signatures leave. */
const filled = (text: string) => Buffer.from(text.padEnd(maxFileBytes, ' '));

export async function measureMemory(
  folder: string,
  quick: boolean,
  serve: readonly string[],
): Promise<MemoryFigure> {
  const clients = quick ? 4 : 100;
  const triples = JSON.stringify(makeTriples(quick ? 100 : 1722, MESSAGE_BYTES));
  const file = filled(triples);
  const body = filled(`{"data":${triples}}`);
  // Without workers: this measures receiving; bench/aggregate.ts measures aggregating.
  const server = await startFalconry(folder, ['--no-workers', ...serve]);
  try {
    const urls: string[] = [];
    for (let i = 0; i < clients; i++) urls.push(await newUrl(server));
    const before = server.memory().nowBytes;
    const uploads = await crowd(server, clients, (i) => send(server, 'PUT', urls[i]!, file));
    const path = `${server.address}/v1/svc/aggsign`;
    const direct = await crowd(server, clients, () => send(server, 'POST', path, body));
    if (uploads.accepted !== clients) throw new Error(`${uploads.accepted} uploads were accepted`);
    return { clients, bodyBytes: file.length, before, uploads, direct };
  } finally {
    await server.stop();
  }
}

export async function newUrl(server: FalconryProcess): Promise<string> {
  const headers = { authorization: server.apiKey };
  const url = `${server.address}/v1/svc/aggsign/task`;
  const answer = await fetch(url, { method: 'POST', headers });
  return ((await answer.json()) as { url: string }).url;
}

export async function crowd(
  server: FalconryProcess,
  clients: number,
  one: (i: number) => Promise<number>,
): Promise<Crowd> {
  server.resetPeak();
  const startMs = performance.now();
  const statuses = await Promise.all(Array.from({ length: clients }, (_, i) => one(i)));
  const accepted = statuses.filter((status) => status < 300).length;
  const refused = statuses.filter((status) => status === 503).length;
  if (accepted + refused !== clients) throw new Error(`answers ${statuses}`);
  const seconds = (performance.now() - startMs) / 1000;
  return { peakBytes: server.memory().peakBytes, accepted, refused, seconds };
}

const agent = new Agent({ maxSockets: Infinity });

/** All clients send the same buffer: this process shares the machine's memory with the server. */
export function send(
  server: FalconryProcess,
  method: string,
  url: string,
  body: Buffer,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: server.apiKey,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const sent = request(url, { method, headers, agent }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode!));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
