/** A download outlives the file, and one that its client gives up does not leave it open. */
import { readdir, readlink } from 'node:fs/promises';
import { expect } from 'vitest';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import { it } from './support.ts';

/** Files below the folder that this process holds open. */
async function openFiles(path: string): Promise<string[]> {
  const links = await readdir('/proc/self/fd');
  const targets = await Promise.all(
    links.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return targets.filter((target) => target.startsWith(path));
}

it.runIf(process.platform === 'linux').for([
  // Node closes it with the garbage.
  ['left alone', null, 9],
  ['cancelled before the first read', 0, 0],
  ['cancelled while it is read', 1, 0],
  ['cancelled after some chunks', 2, 0],
] as const)('%s', async ([, reads, most], { folder: path }) => {
  const blobs = directoryBlobs({ path });
  const key = 'results/1/1.json';
  await blobs.put(key, new Uint8Array(1_000_000), { maxBytes: 1e9 });
  for (let i = 0; i < 20; i++) {
    const blob = await blobs.get({ key });
    if (reads === null) continue;
    const reader = blob!.body.getReader();
    if (reads === 2) await reader.read();
    const reading = reads > 0 ? reader.read() : null;
    await reader.cancel();
    await reading;
  }
  const count = async () => (await openFiles(path)).length;
  await expect.poll(count, { timeout: 100_000 }).toBeLessThanOrEqual(most);
});

const sizes = [
  ['short', 1000],
  ['long', 1_000_000],
] as const;
it.for(sizes)(
  'removed before it is read: a %s file comes whole, and is then closed',
  async ([, bytes], { folder: path }) => {
    const blobs = directoryBlobs({ path });
    const key = 'results/1/1.json';
    const content = Uint8Array.from({ length: bytes }, (_, i) => i % 251);
    await blobs.put(key, content, { maxBytes: 1e9 });
    const blob = await blobs.get({ key });
    await blobs.delete(key);
    expect(await blobs.get({ key })).toBe(null);
    expect(blob!.bytes).toBe(bytes);
    const read = new Uint8Array(await new Response(blob!.body).arrayBuffer());
    expect(Buffer.compare(read, content)).toBe(0);
    if (process.platform === 'linux') expect(await openFiles(path)).toEqual([]);
  },
);
