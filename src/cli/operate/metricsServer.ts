/**
 * The metrics port of `falconry serve` and `falconry worker`: `/metrics` for Prometheus, and
 * `/healthz` and `/readyz` as on the public port. It needs no key: it belongs on an address that
 * only operators reach.
 */
import { statfs } from 'node:fs/promises';
import { answerHealth, CachedProbe } from '../../middleware/http/health.ts';
import type { FalconService } from '../../middleware/index.ts';
import type { HttpServer, openHttpServer } from './httpServer.ts';
import { cannotListen } from './listening.ts';
import type { Metrics } from './metrics.ts';

const KEEP_MS = 1000;
const PATIENCE_MS = 1200;

interface MetricsServerOptions {
  readonly port: number;
  readonly host: string;
  /** Of the embedded store or its files; null if there are none. */
  readonly dataDirectory: string | null;
  readonly open: typeof openHttpServer;
}

/** Free bytes for the user of this process; null before the directory is there. */
async function freeBytesAt(directory: string | null): Promise<number | null> {
  const disk = directory === null ? null : await statfs(directory).catch(() => null);
  return disk && disk.bavail * disk.bsize;
}

/** Opens the port. @throws IoFailure if that cannot be done */
export async function openMetricsServer(
  metrics: Metrics,
  service: FalconService,
  { port, host, dataDirectory, open }: MetricsServerOptions,
): Promise<HttpServer> {
  const depth = new CachedProbe(() => service.depth(), {
    keepMs: KEEP_MS,
    patienceMs: PATIENCE_MS,
  });
  metrics.gauge({
    depth: () => depth.answer(),
    running: () => service.running,
    ready: async () => (await service.health()).ready,
    freeBytes: () => freeBytesAt(dataDirectory),
  });

  const answer = async (request: Request): Promise<Response> => {
    const health = answerHealth(service, request);
    if (health !== null) return health;
    if (request.method !== 'GET') return new Response(null, { status: 405 });
    if (new URL(request.url).pathname !== '/metrics') {
      return new Response('metrics: /metrics /healthz /readyz\n', { status: 404 });
    }
    const { registry } = metrics;
    const headers = { 'content-type': registry.contentType, 'cache-control': 'no-store' };
    return new Response(await registry.metrics(), { headers });
  };
  try {
    return await open({ fetch: answer, port, host });
  } catch (error) {
    throw cannotListen(host, port, error);
  }
}
