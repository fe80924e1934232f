/**
 * Load on one endpoint: autocannon's connections, but our own percentiles (its are whole
 * milliseconds).
 */
import autocannon from 'autocannon';
import { median } from './interleave.ts';

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path, or a function that gives one for each request. */
  readonly path: string | ((turn: number) => string);
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** The statuses of good answers. */
  readonly expect: readonly number[];
}

export interface LoadFigure {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
}

/** @throws Error if an answer has another status: refusals are not worth measuring */
export async function load(
  address: string,
  call: Call,
  connections: number,
  seconds: number,
): Promise<LoadFigure> {
  const { method = 'GET', path, headers = {}, body, expect } = call;
  const times: number[] = [];
  const wrong = new Map<number, number>();
  let turn = 0;
  let endMs = 0;
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
      else wrong.set(status, (wrong.get(status) ?? 0) + 1);
    });
  });
  if (wrong.size > 0 || result.errors > 0 || times.length === 0) {
    const statuses = JSON.stringify(Object.fromEntries(wrong));
    const name = typeof path === 'string' ? path : path(0);
    throw new Error(
      `${method} ${name}: answers ${statuses}, ${result.errors} errors, ${times.length} good`,
    );
  }
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(part * times.length))]!;
  return {
    perSecond: (1000 * times.length) / (endMs - startMs),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    requests: times.length,
  };
}

/** The run of median speed. */
export function middle(figures: readonly LoadFigure[]): LoadFigure {
  const value = median(figures.map(({ perSecond }) => perSecond));
  const near = (figure: LoadFigure) => Math.abs(figure.perSecond - value);
  return figures.toSorted((a, b) => near(a) - near(b))[0]!;
}
