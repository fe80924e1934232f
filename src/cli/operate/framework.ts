/**
 * The parts of `serve` that need Hono. They are loaded when a service starts, so that help texts,
 * checks and all other commands work without it.
 */
import { IoFailure } from '../lib/command.ts';

type Framework = Pick<typeof import('../../middleware/index.ts'), 'falconService'> &
  Pick<typeof import('./httpServer.ts'), 'openHttpServer'>;

/** @throws IoFailure if Hono is not installed, or is too old for `@hono/node-server` */
export async function loadFramework(): Promise<Framework> {
  try {
    const { falconService } = await import('../../middleware/index.ts');
    const { openHttpServer } = await import('./httpServer.ts');
    return { falconService, openHttpServer };
  } catch (error) {
    const { message } = error as Error;
    if (!/'hono[/']|[\\/]hono[\\/]package\.json/.test(message)) throw error;
    throw new IoFailure('the service needs the package hono, 4.7 or newer: npm install hono@4', {
      cause: error,
    });
  }
}
