/** Many large uploads at once through the service into a bucket: see ../store.ts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasRgw, startRgw } from '../../test/support/rgw.ts';
import { endRgw, newRgwFolder } from '../../test/support/rgwFolder.ts';
import type { Bar } from './bars.ts';
import { startBucketService } from './serverProcess.ts';
import { crowd, newUrl, send } from './serviceMemory.ts';

/** @throws Error if there is no gateway of Ceph */
export async function measureUploads(clients: number, bytes: number): Promise<Bar[]> {
  if (!hasRgw()) throw new Error('no bucket: apt-get install radosgw ceph-mon ceph-osd');
  const folder = newRgwFolder();
  const data = await mkdtemp(join(tmpdir(), 'falconry-bench-'));
  try {
    const { endpoint, bucket, credentials } = await startRgw(folder);
    const server = await startBucketService(data, clients, { endpoint, bucket, credentials });
    try {
      const each = server.apiKeys.map((apiKey) => ({ ...server, apiKey }));
      const urls: string[] = [];
      for (const client of each) urls.push(await newUrl(client));
      const file = Buffer.alloc(bytes, ' ');
      file.write('[');
      file.write(']', bytes - 1);
      const { accepted, peakBytes } = await crowd(each[0]!, clients, (i) =>
        send(each[i]!, 'PUT', urls[i]!, file),
      );
      if (accepted !== clients) throw new Error(`${accepted} uploads were accepted`);
      const name = `resident with ${clients} uploads of ${bytes >> 20} MiB at once`;
      return [{ name, unit: 'MB', value: peakBytes / 1e6, atMost: 512 }];
    } finally {
      await server.stop();
    }
  } finally {
    endRgw(folder);
    await rm(data, { recursive: true });
  }
}
