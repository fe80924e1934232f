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
