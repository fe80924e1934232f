/** What a service does while another process holds the lock of writers. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ServiceOptions } from '../../src/middleware/index.ts';
import { STORE_FILE } from '../../src/middleware/options/options.ts';
import { expectProblem, newSigner, recordedLog, startService } from './support.ts';

/** Takes the lock in a process of its own. @returns a function that lets it go */
export async function lockFile(path: string): Promise<() => Promise<void>> {
  const holder = new URL('./fixtures/lockHolder.ts', import.meta.url);
  const child = fork(holder, [path], { execArgv: [] });
  await once(child, 'message');
  return async () => {
    const ended = once(child, 'exit');
    child.send('free');
    await ended;
  };
}

export interface LockedRun {
  /** The time in which a write was refused. */
  readonly refusedMs: number;
  /** The times of all other requests, in ascending order. */
  readonly othersMs: readonly number[];
  readonly warnings: readonly unknown[];
}

/**
 * Holds the lock for so long, and meanwhile asks the service for everything else.
 *
 * @param options more options, given the path of the store's file
 */
export async function whileLocked(
  lockedMs: number,
  options: (warn: (message: string) => void) => ServiceOptions = () => ({}),
  file?: string,
): Promise<LockedRun> {
  const { entries, logger } = recordedLog();
  const more = options(logger.warn);
  const onDisk = more.store === undefined;
  const http = await startService({ onDisk, threads: 1, logger, signer: newSigner(), ...more });
  try {
    const create = () => http.ask('POST', '/v1/svc/aggsign/task');
    const { process_id: id } = (await create()).json;
    const free = await lockFile(file ?? join(http.directory, STORE_FILE));
    const startMs = performance.now();
    let refusedMs = Number.POSITIVE_INFINITY;
    const write = create().then((answer) => {
      refusedMs = performance.now() - startMs;
      expectProblem(answer, 503, 'STORE_UNAVAILABLE');
    });
    const othersMs: number[] = [];
    for (let i = 0; performance.now() - startMs < lockedMs; i++) {
      const askedMs = performance.now();
      const answer =
        i % 3 === 0
          ? await http.ask('POST', '/v1/falcon/sign', { digest: '0x00' })
          : await http.ask('GET', ['/v1/openapi.json', `/v1/svc/tasks/${id}`][(i % 3) - 1]!);
      expect(answer.status, answer.text).toBe(200);
      othersMs.push(performance.now() - askedMs);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await write;
    await free();
    expect((await create()).status).toBe(201);
    const warnings = entries.filter(({ level }) => level === 'warn');
    return {
      refusedMs,
      othersMs: othersMs.sort((a, b) => a - b),
      warnings: warnings.map(({ message }) => message),
    };
  } finally {
    await http.close();
  }
}
