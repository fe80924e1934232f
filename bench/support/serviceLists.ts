/** The first and last pages of very many tasks: see ../service.ts. */
import { type LoadFigure, load, middle } from './load.ts';
import { cursorBeforeLast, FAILED_EVERY, makeManyTasks } from './manyTasks.ts';
import { startFalconry } from './serverProcess.ts';

export interface ListFigure {
  readonly count: number;
  readonly buildSeconds: number;
  readonly figures: readonly (LoadFigure & { readonly name: string })[];
  /** The median time of a page relative to the first page of its kind. */
  readonly ratios: readonly { readonly name: string; readonly ratio: number }[];
}

const PAGE = 100;
/** All pages in rotation, so that noise affects all of them alike. */
const ROUNDS = 3;

/** Only of the embedded store: its file is written here, row by row. */
export async function measureLists(folder: string, quick: boolean): Promise<ListFigure> {
  const count = quick ? 20_000 : 1_000_000;
  const seconds = quick ? 0.05 : 1;
  const startMs = performance.now();
  await makeManyTasks(folder, count);
  const buildSeconds = (performance.now() - startMs) / 1000;
  const server = await startFalconry(folder, ['--no-workers']);
  try {
    const last = await cursorBeforeLast(folder, count, PAGE);
    const lastFailed = await cursorBeforeLast(
      folder,
      count,
      Math.min(FAILED_EVERY * PAGE, count - 1),
    );
    const pages: Record<string, string> = {
      'first page': '',
      'middle page': `cursor=${await cursorBeforeLast(folder, count, count >> 1)}`,
      'last page': `cursor=${last}`,
      'newest first': 'order=desc',
      'first page of completed': 'status=completed',
      'last page of completed': `status=completed&cursor=${last}`,
      'first page of failed': 'status=failed',
      'last page of failed': `status=failed&cursor=${lastFailed}`,
      'page of a status that none has': 'status=expired',
    };
    const headers = { authorization: server.apiKey };
    const runs = new Map<string, LoadFigure[]>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, query] of Object.entries(pages)) {
        const call = { path: `/v1/svc/tasks?${query}`, headers, expect: [200] };
        const figure = await load(server.address, call, 1, seconds);
        runs.set(name, [...(runs.get(name) ?? []), figure]);
      }
    }
    const figures = Array.from(runs, ([name, list]) => ({ name, ...middle(list) }));
    const p50 = (name: string) => figures.find((figure) => figure.name === name)!.p50Ms;
    const ratios = [
      { name: 'last page', ratio: p50('last page') / p50('first page') },
      {
        name: 'last page of completed',
        ratio: p50('last page of completed') / p50('first page of completed'),
      },
      {
        name: 'last page of failed',
        ratio: p50('last page of failed') / p50('first page of failed'),
      },
    ];
    return { count, buildSeconds, figures, ratios };
  } finally {
    await server.stop();
  }
}
