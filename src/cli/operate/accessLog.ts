/** The access log: one line per request, without anything that a caller keeps to itself. */
import type { Logger, ServiceEvent } from '../../middleware/index.ts';

/** Writes the line of a request: its route, never its path, query or signed url. */
export function logRequest(logger: Logger, event: ServiceEvent): void {
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
