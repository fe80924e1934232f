import {
  type FalconService,
  type FetchHandler,
  falconService,
  toFetchHandler,
} from 'falconry/middleware';

interface Running {
  readonly service: FalconService;
  readonly handler: FetchHandler;
}

// Next loads a module more than once (for each route, and after each change), so the service is
// kept in `globalThis`.
const shared = globalThis as { falconry?: Promise<Running> | undefined };

async function start(): Promise<Running> {
  const service = falconService({ dataDirectory: '.falconry' });
  await service.start();
  // If this is set, Next leaves the signal to the application; otherwise it ends the process.
  if (process.env.NEXT_MANUAL_SIG_HANDLE) {
    process.once('SIGTERM', async () => {
      await service.stop();
      console.log('The service has stopped');
      process.exit(0);
    });
  }
  return { service, handler: toFetchHandler(service, { mountPath: '/falcon' }) };
}

/** Returns the service; it starts with the first request, not during `next build`. */
export function running(): Promise<Running> {
  shared.falconry ??= start().catch((error: unknown) => {
    shared.falconry = undefined; // the next request tries again
    throw error;
  });
  return shared.falconry;
}
