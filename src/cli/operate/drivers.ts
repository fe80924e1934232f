/**
 * The stores whose packages only some users install: they are loaded when a setting asks for them.
 */
import { IoFailure } from '../lib/command.ts';

/** @throws IoFailure if `pg` is not installed */
export const loadPostgres = () =>
  load('pg', 'a database', () => import('../../middleware/stores/postgres/index.ts'));

/** @throws IoFailure if `aws4fetch` is not installed, which the store itself loads when it signs */
export const loadS3 = () =>
  load('aws4fetch', 'a bucket', async () => {
    await import('aws4fetch');
    return import('../../middleware/blobs/s3/index.ts');
  });

async function load<Module>(name: string, what: string, module: () => Promise<Module>) {
  try {
    return await module();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw error;
    throw new IoFailure(`${what} needs the package ${name}: npm install ${name}`, { cause: error });
  }
}

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
