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

// Next loads a module more than once (by route, and after each change): the process has the one
// service.
const shared = globalThis as { falconry?: Promise<Running> | undefined };

async function start(): Promise<Running> {
  const service = falconService({ dataDirectory: '.falconry' });
  await service.start();
  // Set, it leaves the signal to us; otherwise Next ends the process by itself.
  if (process.env.NEXT_MANUAL_SIG_HANDLE) {
    process.once('SIGTERM', async () => {
      await service.stop();
      console.log('The service has stopped');
      process.exit(0);
    });
  }
  return { service, handler: toFetchHandler(service, { mountPath: '/falcon' }) };
}

/** The service; it starts with the first request, not while Next builds. */
export function running(): Promise<Running> {
  shared.falconry ??= start().catch((error: unknown) => {
    shared.falconry = undefined; // the next request tries again
    throw error;
  });
  return shared.falconry;
}
