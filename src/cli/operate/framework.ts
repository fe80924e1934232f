/**
 * The parts of `serve` that need Hono. They are loaded when a service starts, so that help texts,
 * checks and all other commands work without it.
 */
import { IoFailure } from '../lib/command.ts';

type Framework = Pick<typeof import('../../middleware/index.ts'), 'falconService'> &
  Pick<typeof import('./httpServer.ts'), 'openHttpServer'>;

const NEEDED =
  'the service needs the packages hono (4.7 or newer) and @hono/node-server: ' +
  'npm install hono @hono/node-server';

/** @throws IoFailure if one of the two is not installed, or Hono is too old for the other */
export async function loadFramework(): Promise<Framework> {
  try {
    const { falconService } = await import('../../middleware/index.ts');
    const { openHttpServer } = await import('./httpServer.ts');
    return { falconService, openHttpServer };
  } catch (error) {
    const { message } = error as Error;
    if (!/'(hono|@hono\/node-server)[/']|[\\/]hono[\\/]package\.json/.test(message)) throw error;
    throw new IoFailure(NEEDED, { cause: error });
  }
}
