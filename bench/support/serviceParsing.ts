/** How long others wait while large batches are parsed: see ../service.ts. */
import { percentiles } from './load.ts';
import { startProbe } from './probe.ts';
import { startFalconry, startPlainHono } from './serverProcess.ts';
import { client, completed } from './serviceClient.ts';
import { makeTriples } from './serviceTriples.ts';

export interface WaitFigure {
  readonly name: string;
  /** Batches that were parsed meanwhile. */
  readonly batches: number;
  readonly task: Wait;
  /** The plain server's at the same time: what the busy machine alone costs. */
  readonly plain: Wait;
}

export interface Wait {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly requests: number;
}

/** What 99 of 100 reads of a task may take while ordinary batches are parsed. */
export const WAIT_BAR_MS = 25;

const EVERY_MS = 5;

export async function measureParsing(
  folder: string,
  quick: boolean,
  serve: readonly string[],
): Promise<readonly WaitFigure[]> {
  const seconds = quick ? 0.3 : 10;
  const count = quick ? 100 : 1722;
  const server = await startFalconry(folder, serve);
  const plain = await startPlainHono();
  try {
    const api = client(server);
    const { ask } = api;
    const bodyOf = (messageBytes: number) => JSON.stringify(makeTriples(count, messageBytes));
    const ordinary = bodyOf(32);
    const largest = bodyOf(4096);
    const { process_id: id } = await ask('POST', '/v1/svc/aggsign', `{"data":${bodyOf(1)}}`);
    await completed(api, id);
    const questions = [
      { url: `${server.address}/v1/svc/tasks/${id}`, headers: api.headers },
      { url: plain.address, headers: {} },
    ];
    /** One after the other, each task removed at once: what it costs is to be parsed. */
    const direct = (data: string) => async () => {
      const made = await ask('POST', '/v1/svc/aggsign', `{"data":${data}}`);
      await ask('DELETE', `/v1/svc/tasks/${made.process_id}`);
    };
    const uploaded = async () => {
      const { process_id, url } = await ask('POST', '/v1/svc/aggsign/task');
      await ask('PUT', url!, ordinary);
      await ask('POST', `/v1/svc/aggsign/notify/${process_id}`);
      await completed(api, process_id);
    };
    const works: Record<string, () => Promise<void>> = {
      'nothing else': () => new Promise((resolve) => setTimeout(resolve, 100)),
      'uploaded files, by the worker': uploaded,
      'direct requests': direct(ordinary),
      'direct requests, 4 kB messages': direct(largest),
    };
    const figures: WaitFigure[] = [];
    for (const [name, work] of Object.entries(works)) {
      await work();
      const probe = await startProbe({ questions, everyMs: EVERY_MS });
      const endMs = performance.now() + 1000 * seconds;
      let batches = 0;
      for (; performance.now() < endMs; batches++) await work();
      const [task, ofPlain] = (await probe.stop()).map(waitOf);
      figures.push({ name, batches, task: task!, plain: ofPlain! });
    }
    return figures;
  } finally {
    await Promise.all([server.stop(), plain.stop()]);
  }
}

const waitOf = (times: readonly number[]): Wait => ({
  ...percentiles(times),
  requests: times.length,
});
