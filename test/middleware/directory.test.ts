import { mkdir, mkdtemp, readdir, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import { newInputKey, resultKey } from '../../src/middleware/blobs/port/blobStore.ts';
import { blobContract } from '../../src/middleware/testing/index.ts';
import { it } from './support.ts';

blobContract({ describe, it }, 'directory', async (nowMs) => {
  const path = await mkdtemp(join(tmpdir(), 'falconry-blobs-'));
  return {
    blobs: directoryBlobs({ path: join(path, 'files'), nowMs }),
    again: directoryBlobs({ path: join(path, 'files'), nowMs }),
    close: () => rm(path, { recursive: true }),
  };
});

describe('the directory', () => {
  const limit = { maxBytes: 100 };

  it('keeps files for its owner only, and nothing else in the folder', async ({ folder: path }) => {
    const root = join(path, 'files');
    const blobs = directoryBlobs({ path: root });
    const key = resultKey(9, 4);
    await blobs.put(key, new Uint8Array(3), limit);
    expect((await stat(join(root, key))).mode & 0o777).toBe(0o600);
    expect((await stat(root)).mode & 0o777).toBe(0o700);
    const files = await readdir(root, { recursive: true });
    expect(files.sort()).toEqual(['results', 'results/4', 'results/4/9.json', 'tmp']);
  });

  it('clears away unfinished files of a crash once they are old, and leaves files of others', async ({
    folder: path,
  }) => {
    const blobs = directoryBlobs({ path });
    await mkdir(join(path, 'tmp'));
    await mkdir(join(path, 'inputs'));
    const old = new Date(Date.now() - 7_200_000);
    for (const name of ['tmp/old', 'tmp/young', 'inputs/readme.txt']) {
      await writeFile(join(path, name), 'x');
      if (name !== 'tmp/young') await utimes(join(path, name), old, old);
    }
    const options = { olderThanMs: 3_600_000, referenced: async () => new Set<string>() };
    expect(await blobs.clean(options)).toBe(1);
    expect(await readdir(join(path, 'tmp'))).toEqual(['young']);
    expect(await readdir(join(path, 'inputs'))).toEqual(['readme.txt']);
  });

  it('takes no task file below the low-water mark, but results down to half of it', async ({
    folder: path,
  }) => {
    const { bavail, bsize } = await statfs(path);
    const free = bavail * bsize;
    const low = directoryBlobs({ path, minFreeBytes: Math.round(1.5 * free) });
    const full = { code: 'STORAGE_FULL' };
    await expect(low.put(newInputKey(), new Uint8Array(3), limit)).rejects.toMatchObject(full);
    await expect(low.ping()).rejects.toMatchObject(full);
    const key = resultKey(1, 1);
    expect(await low.put(key, new Uint8Array(3), limit)).toMatchObject({ bytes: 3 });
    const lower = directoryBlobs({ path, minFreeBytes: 3 * free });
    await expect(lower.put(resultKey(2, 1), new Uint8Array(3), limit)).rejects.toMatchObject(full);
    expect(await readdir(join(path, 'tmp'))).toEqual([]);
    await directoryBlobs({ path, minFreeBytes: Math.round(free / 2) }).ping();
  });

  it('stops at the mark while a file streams in, and keeps nothing of it', async ({
    folder: path,
  }) => {
    const { bavail, bsize } = await statfs(path);
    const MIB = 1024 * 1024;
    const blobs = directoryBlobs({ path, minFreeBytes: bavail * bsize - 8 * MIB });
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield new Uint8Array(MIB);
    }
    const put = blobs.put(newInputKey(), endless(), { maxBytes: 1024 * MIB });
    await expect(put).rejects.toMatchObject({ code: 'STORAGE_FULL', status: 507 });
    expect(await readdir(join(path, 'tmp'))).toEqual([]);
  });
});
