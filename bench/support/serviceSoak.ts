/** The server's memory under an even load over time: see ../service.ts. */
import { median } from './interleave.ts';
import { startFalconry } from './serverProcess.ts';
import { type Api, client, completed } from './serviceClient.ts';
import { makeTriples } from './serviceTriples.ts';

export interface SoakFigure {
  readonly seconds: number;
  readonly requests: number;
  readonly tasks: number;
  /** Resident: the medians of the four quarters, and the peak. */
  readonly quarters: readonly number[];
  readonly peakBytes: number;
  /** The last quarter relative to the second: in the first one, memory is still settling. */
  readonly growth: number;
}

const CLIENTS = 16;

export async function measureSoak(
  folder: string,
  soakMs: number,
  serve: readonly string[],
): Promise<SoakFigure> {
  const server = await startFalconry(folder, serve);
  try {
    const api = client(server);
    let requests = 0;
    let tasks = 0;
    const ask: typeof api.ask = (...all) => {
      requests++;
      return api.ask(...all);
    };
    const life = lives({ ...api, ask }, () => tasks++);
    await life(0);
    server.resetPeak();
    const startMs = performance.now();
    const samples: number[] = [];
    const look = () => samples.push(server.memory().nowBytes);
    const timer = setInterval(look, Math.max(20, soakMs / 1000));
    const one = async (which: number): Promise<void> => {
      for (let turn = which; performance.now() < startMs + soakMs; turn += CLIENTS) {
        await life(turn);
      }
    };
    try {
      await Promise.all(Array.from({ length: CLIENTS }, (_, i) => one(i)));
    } finally {
      clearInterval(timer);
    }
    for (let left = 4 - samples.length; left > 0; left--) look();
    const quarter = (i: number) =>
      samples.slice(
        Math.floor((i * samples.length) / 4),
        Math.floor(((i + 1) * samples.length) / 4),
      );
    const quarters = [0, 1, 2, 3].map((i) => median(quarter(i)));
    return {
      seconds: (performance.now() - startMs) / 1000,
      requests,
      tasks,
      quarters,
      peakBytes: server.memory().peakBytes,
      growth: quarters[3]! / quarters[1]!,
    };
  } finally {
    await server.stop();
  }
}

/** Everything that a client does with a task, until nothing is left of it. */
function lives(api: Api, onEnd: () => void): (turn: number) => Promise<void> {
  const { ask } = api;
  const triples = makeTriples(20, 32);
  const statements = triples.map(({ digest, public_key }) => ({ digest, public_key }));
  const file = JSON.stringify(triples);
  return async (turn) => {
    await ask('POST', '/v1/falcon/sign', `{"digest":"0x${turn.toString(16).padStart(8, '0')}"}`);
    const { process_id: id, url } = await ask('POST', '/v1/svc/aggsign/task');
    await ask('PUT', url!, file);
    await ask('POST', `/v1/svc/aggsign/notify/${id}`);
    const { result_path } = await completed(api, id);
    const { aggregate } = await ask('GET', result_path!);
    const body = JSON.stringify({ aggregate, statements });
    const { valid } = await ask('POST', '/v1/svc/aggsign/verify', body);
    if (valid !== true) throw new Error(`the aggregate of task ${id} is not valid`);
    await ask('GET', '/v1/svc/tasks?limit=100');
    await ask('DELETE', `/v1/svc/tasks/${id}`);
    onEnd();
  };
}
