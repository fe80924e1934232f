/** The service of the demo in this process, on its embedded store in a new folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AggregateFormatOption } from '../../src/aggregate/index.ts';
import { openHttpServer } from '../../src/cli/operate/httpServer.ts';
import type { SignOptions } from '../../src/falcon/index.ts';
import { falconService } from '../../src/middleware/index.ts';

export interface PlaceOptions {
  /** Signatures that a batch must be allowed to have. */
  readonly count: number;
  readonly format: AggregateFormatOption;
  readonly signing: SignOptions;
}

/** A running service, and a key for it. */
export interface Place {
  readonly base: string;
  readonly key: string;
  /** Where its stores are, in words. */
  readonly where: string;
  /** Who has completed a task, in words; null if there is no choice. */
  worker(): Promise<string | null>;
  close(): Promise<void>;
}

export async function openEmbedded({ count, format, signing }: PlaceOptions): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'falconry-demo-'));
  const service = falconService({
    dataDirectory: directory,
    threads: availableParallelism(),
    aggregateFormat: format,
    maxSignatures: count,
    signingSalt: signing.salt ?? 'random',
  });
  await service.start();
  const server = await openHttpServer({ fetch: service.app.fetch, port: 0, host: '127.0.0.1' });
  const { key } = await service.apiKeys.create({ name: 'demo' });
  return {
    base: `http://127.0.0.1:${server.port}`,
    key,
    where: `embedded store in ${directory}`,
    worker: async () => null,
    async close() {
      await Promise.all([server.close(1000), service.stop({ graceMs: 1000 })]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
