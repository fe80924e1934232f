/**
 * The log, spans and the metrics port of `falconry serve` and `falconry worker`. The metrics port
 * has `/metrics` for Prometheus, and `/healthz` and `/readyz` as on the public port. It needs no
 * key, so only operators should reach its address.
 */
import { statfs } from 'node:fs/promises';
import { isIP } from 'node:net';
import { answerHealth, CachedProbe } from '../../middleware/http/health.ts';
import type { TracingApi } from '../../middleware/http/tracing.ts';
import type { FalconService, Logger, ServiceEvent } from '../../middleware/index.ts';
import type { Io } from '../lib/command.ts';
import { isMissing } from '../lib/io.ts';
import { hasColour } from '../lib/progress.ts';
import { LOG_LEVELS } from '../lib/settings.ts';
import type { HttpServer, openHttpServer } from './httpServer.ts';
import type { Metrics } from './metrics.ts';

type LogLevel = (typeof LOG_LEVELS)[number];
type Fields = Readonly<Record<string, unknown>>;

const COLOURS: Readonly<Record<string, number>> = { debug: 2, info: 36, warn: 33, error: 31 };

/** @param format default: text on a terminal, else JSON */
export function createLogger(
  io: Pick<Io, 'stderr' | 'env'>,
  level: LogLevel,
  format: 'text' | 'json' = io.stderr.isTTY ? 'text' : 'json',
): Logger {
  const colour = io.stderr.isTTY === true && hasColour(io.env);
  const write = (name: LogLevel) => {
    const isOff = LOG_LEVELS.indexOf(name) < LOG_LEVELS.indexOf(level);
    return (message: string, fields: Fields = {}) => {
      if (isOff) return;
      const time = new Date().toISOString();
      const line =
        format === 'json'
          ? JSON.stringify({ time, level: name, message, ...fields })
          : textLine(time, name, message, fields, colour);
      io.stderr.write(`${line}\n`);
    };
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

function textLine(time: string, level: LogLevel, message: string, fields: Fields, colour: boolean) {
  const name = level.padEnd(5);
  const shown = colour ? `\x1b[${COLOURS[level]}m${name}\x1b[0m` : name;
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${fieldText(value)}`);
  return `${time} ${shown} ${message}${rest.join('')}`;
}

/** On one line; only stacks keep their lines. */
function fieldText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? String(value);
  if (value.includes('\n')) return `\n    ${value.replaceAll('\n', '\n    ')}`;
  return /^[\w./:+-]+$/.test(value) ? value : JSON.stringify(value);
}

interface ObservabilityOptions {
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
  /** Whose disk is measured; null if store and files are elsewhere. */
  readonly dataDirectory: string | null;
  readonly threads: number;
  readonly logger: Logger;
}

/** @throws IoFailure if a metrics port is given and prom-client is not installed */
export async function openObservability(options: ObservabilityOptions) {
  const { metricsPort, metricsHost, dataDirectory, threads, logger } = options;
  const metrics =
    metricsPort === undefined ? null : await (await import('./metrics.ts')).loadMetrics(threads);
  const tracing = await findTracing();
  let server: HttpServer | null = null;
  return {
    /** For the service that is observed. */
    options: {
      onEvent(event: ServiceEvent) {
        metrics?.onEvent(event);
        logRequest(logger, event);
      },
      ...(metrics && { onPortCall: metrics.onPortCall }),
      ...(tracing && { tracing }),
    },
    /** Opens the metrics port, if there is one. @throws IoFailure */
    async open(service: FalconService, openServer: typeof openHttpServer): Promise<void> {
      if (metrics === null || metricsPort === undefined) return;
      const depth = new CachedProbe(() => service.depth(), { keepMs: 1000, patienceMs: 1200 });
      metrics.gauge({
        depth: () => depth.answer(),
        running: () => service.running,
        ready: async () => (await service.health()).ready,
        async freeBytes() {
          // There is no directory before the first start.
          const disk = dataDirectory && (await statfs(dataDirectory).catch(() => null));
          return disk ? disk.bavail * disk.bsize : null;
        },
      });
      const fetch = (request: Request) =>
        isLoopback(metricsHost) && !isLocal(new URL(request.url).hostname)
          ? new Response('This port is for localhost and IP addresses\n', { status: 421 })
          : answer(metrics, service, request);
      server = await openServer({ fetch, port: metricsPort, host: metricsHost });
      logger.info('metrics', { host: metricsHost, port: server.port });
    },
    /** The metrics port; null if there is none. */
    port: () => server?.port ?? null,
    close: async () => server?.close(0),
  };
}

export const isLoopback = (host: string) => /^(127\.|localhost$|\[?::1\]?$)/.test(host);

/** A page could let its own name lead here, and read the metrics in the browser of an operator. */
const isLocal = (hostname: string) =>
  hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;

async function answer({ registry }: Metrics, service: FalconService, request: Request) {
  const health = answerHealth(service, request);
  if (health !== null) return health;
  if (request.method !== 'GET') return new Response(null, { status: 405 });
  if (new URL(request.url).pathname !== '/metrics') {
    return new Response('metrics: /metrics /healthz /readyz\n', { status: 404 });
  }
  const headers = { 'content-type': registry.contentType, 'cache-control': 'no-store' };
  return new Response(await registry.metrics(), { headers });
}

/** The API of OpenTelemetry, if it is installed; without an SDK its spans are empty. */
async function findTracing(): Promise<TracingApi | null> {
  try {
    return await import('@opentelemetry/api');
  } catch (error) {
    if (isMissing(error, '@opentelemetry/api')) return null;
    throw error;
  }
}

/** Logs a request: its route, never its path, query or signed url. */
function logRequest(logger: Logger, event: ServiceEvent): void {
  if (event.type !== 'request') return;
  const { requestId, method, path, status, durationMs, bytes, cut, clientId, remote } = event;
  logger.info('request', {
    id: requestId,
    method,
    route: path,
    status,
    ms: Math.round(10 * durationMs) / 10,
    ...(bytes !== undefined && { bytes }),
    ...(cut && { cut }),
    ...(clientId !== undefined && { client: clientId }),
    ...(remote !== undefined && { remote }),
  });
}
