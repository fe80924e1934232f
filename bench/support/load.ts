/**
 * Load on one endpoint: autocannon's connections, but our own percentiles (its are whole
 * milliseconds).
 */
import autocannon from '../../test/support/autocannon.ts';
import { median } from './interleave.ts';

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path, or a function that gives one for each request. */
  readonly path: string | ((turn: number) => string);
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** The statuses of good answers. */
  readonly expect: readonly number[];
  /** The status of refusals that belong to the design; only good answers are measured. */
  readonly refusal?: number;
}

export interface LoadFigure {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly requests: number;
  /** Answers with the status of a refusal. */
  readonly refused: number;
}

/**
 * Slow calls on many connections may need longer than they are given for their first answers.
 *
 * @throws Error if an answer has another status: refusals are not worth measuring
 */
export async function load(
  address: string,
  call: Call,
  connections: number,
  seconds: number,
): Promise<LoadFigure> {
  for (; ; seconds *= 4) {
    const figure = await loadOnce(address, call, connections, seconds);
    if (figure !== null) return figure;
    if (seconds > LONGEST) throw new Error(`no answers within ${seconds} s`);
  }
}

const LONGEST = 60;

/** @returns null if there was no answer in time */
async function loadOnce(
  address: string,
  call: Call,
  connections: number,
  seconds: number,
): Promise<LoadFigure | null> {
  const { method = 'GET', path, headers = {}, body, expect, refusal } = call;
  const times: number[] = [];
  const wrong = new Map<number, number>();
  let turn = 0;
  let endMs = 0;
  let refused = 0;
  const nextPath = () => (typeof path === 'string' ? path : path(turn++));
  // The first request is not measured: it may start a thread or read a file.
  const init = { method, headers, ...(body && { body: Buffer.from(body) }) };
  await (await fetch(address + nextPath(), init)).arrayBuffer();

  const startMs = performance.now();
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url: address,
        connections,
        duration: seconds,
        // It looks only so often whether it is time to end.
        sampleInt: Math.min(1000, 1000 * seconds),
        timeout: 60,
        requests: [
          {
            method,
            headers,
            ...(body !== undefined && { body }),
            setupRequest: (request) => ({ ...request, path: nextPath() }),
          },
        ],
      },
      (error, ended) => (error ? reject(error) : resolve(ended)),
    );
    instance.on('response', (_client, status, _bytes, ms) => {
      endMs = performance.now();
      if (expect.includes(status)) times.push(ms);
      else if (status === refusal) refused++;
      else wrong.set(status, (wrong.get(status) ?? 0) + 1);
    });
  });
  if (wrong.size > 0 || result.errors > 0) {
    const statuses = JSON.stringify(Object.fromEntries(wrong));
    const name = typeof path === 'string' ? path : path(0);
    throw new Error(
      `${method} ${name}: answers ${statuses}, ${result.errors} errors, ${times.length} good`,
    );
  }
  if (times.length === 0) return null;
  const perSecond = (1000 * times.length) / (endMs - startMs);
  return { perSecond, ...percentiles(times), requests: times.length, refused };
}

/** The percentiles of at least one time. */
export function percentiles(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!;
  return { p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999) };
}

/** The run of median speed. */
export function middle(figures: readonly LoadFigure[]): LoadFigure {
  const value = median(figures.map(({ perSecond }) => perSecond));
  const near = (figure: LoadFigure) => Math.abs(figure.perSecond - value);
  return figures.toSorted((a, b) => near(a) - near(b))[0]!;
}
