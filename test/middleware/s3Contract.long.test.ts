/** The contract of blob stores, over a real S3 server, with and without urls of its own. */
import { describe, it } from 'vitest';
import { s3Blobs } from '../../src/middleware/blobs/s3/index.ts';
import { blobContract } from '../../src/middleware/testing/index.ts';
import { hasRgw, newPrefix, openRgw } from '../support/rgw.ts';

describe.skipIf(!hasRgw())('a bucket', () => {
  for (const way of ['direct', 'through'] as const) {
    blobContract({ describe, it }, `S3, ${way}`, async (nowMs) => {
      const { endpoint, bucket, credentials } = await openRgw();
      const prefix = newPrefix();
      const make = () =>
        s3Blobs({ endpoint, bucket, credentials, prefix, uploads: way, results: way, nowMs });
      return { blobs: make(), again: make(), async close() {} };
    });
  }
});
