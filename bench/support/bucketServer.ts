/**
 * The service over a bucket, which clients reach through it, without workers; an API key for each.
 * `BENCH_BUCKET` holds the options of the bucket as JSON: they are no arguments, which other
 * processes could read.
 *
 *   node bench/support/bucketServer.ts <data directory> <number of clients>
 */
import { openHttpServer } from '../../src/cli/operate/httpServer.ts';
import { s3Blobs } from '../../src/middleware/blobs/s3/index.ts';
import { falconService } from '../../src/middleware/index.ts';

const [dataDirectory = '', clients = '1'] = process.argv.slice(2);
const bucket = JSON.parse(process.env.BENCH_BUCKET!);
const blobs = s3Blobs({ ...bucket, uploads: 'through', results: 'through' });
const service = falconService({
  dataDirectory,
  blobs,
  signing: false,
  workers: false,
});
await service.start();
const apiKeys: string[] = [];
for (let i = 0; i < Number(clients); i++) {
  apiKeys.push((await service.apiKeys.create({ name: `client ${i}` })).key);
}
const { fetch } = service.app;
const { port } = await openHttpServer({ fetch, port: 0, host: '127.0.0.1' });
console.log(JSON.stringify({ address: `http://127.0.0.1:${port}`, apiKeys }));
