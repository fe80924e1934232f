/** The access log, metrics and spans of `falconry serve` and `falconry worker`. */

import type { TracingApi } from '../../middleware/http/tracing.ts';
import type {
  FalconService,
  Logger,
  ServiceEvent,
  ServiceOptions,
} from '../../middleware/index.ts';
import type { HttpServer, openHttpServer } from './httpServer.ts';

interface ObservabilityOptions {
  readonly accessLog: 'on' | 'off';
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
  /** Whose disk is measured; null if store and files are elsewhere. */
  readonly dataDirectory: string | null;
  readonly threads: number;
  readonly logger: Logger;
}

export interface Observability {
  /** For the service that is watched. */
  readonly options: Pick<ServiceOptions, 'onEvent' | 'onPortCall' | 'tracing'>;
  /** Opens the metrics port, if there is to be one. @throws IoFailure if that cannot be done */
  open(service: FalconService, openServer: typeof openHttpServer): Promise<void>;
  /** The metrics port; null if there is none. */
  readonly port: number | null;
  close(): Promise<void>;
}

/** @throws IoFailure if metrics are wanted and prom-client is not installed */
export async function openObservability(options: ObservabilityOptions): Promise<Observability> {
  const { accessLog, metricsPort, metricsHost, dataDirectory, threads, logger } = options;
  const metrics =
    metricsPort === undefined ? null : await (await import('./metrics.ts')).loadMetrics(threads);
  const tracing = await findTracing();
  let server: HttpServer | null = null;
  return {
    options: {
      onEvent(event) {
        metrics?.onEvent(event);
        if (accessLog === 'on') logRequest(logger, event);
      },
      ...(metrics && { onPortCall: metrics.onPortCall }),
      ...(tracing && { tracing }),
    },
    async open(service, openServer) {
      if (metrics === null || metricsPort === undefined) return;
      const { openMetricsServer } = await import('./metricsServer.ts');
      const where = { port: metricsPort, host: metricsHost, dataDirectory, open: openServer };
      server = await openMetricsServer(metrics, service, where);
      logger.info('metrics', { host: metricsHost, port: server.port });
    },
    get port() {
      return server?.port ?? null;
    },
    close: async () => server?.close(0),
  };
}

/** The API of OpenTelemetry, if it is installed; without an SDK its spans are empty. */
async function findTracing(): Promise<TracingApi | null> {
  try {
    return await import('@opentelemetry/api');
  } catch (error) {
    if (/'@opentelemetry\/api'/.test((error as Error).message)) return null;
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
