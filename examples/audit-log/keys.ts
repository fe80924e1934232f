/** The programs' keys, in files readable by their owner only. A vault would be better. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { falcon512 } from 'falconry';
import { exportSecretKey, importSecretKey } from 'falconry/keys';
import type { Writer } from './log.ts';

/** Returns the key with this name; the first call creates it. */
export async function writerNamed(folder: string, name: string): Promise<Writer> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.pem`);
  const pem = await readFile(path, 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    const made = exportSecretKey(falcon512.keygen().secretKey, { form: 'pem' });
    await writeFile(path, made, { mode: 0o600, flag: 'wx' });
    return made;
  });
  const { key } = importSecretKey(pem, { parameterSet: 'falcon512' });
  return { publicKey: falcon512.getPublicKey(key), signer: falcon512.expandSecretKey(key) };
}
