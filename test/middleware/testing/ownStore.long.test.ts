/**
 * `falconry/testing` as a host uses it: the stores of `examples/own-store` pass; and with each
 * planted fault they fail, in the test that is about it. `test/examples` has them in Node's own
 * runner.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { BlobStore } from '../../../src/middleware/blobs/port/blobStore.ts';
import type { TaskStore } from '../../../src/middleware/stores/port/taskStore.ts';
import {
  blobContract,
  type TestRunner,
  taskStoreContract,
} from '../../../src/middleware/testing/index.ts';
import { type Outcome, plainRunner } from '../../runtimes/ports/plainRunner.ts';
import { localised } from '../../support/documentBlocks.ts';

type Fault = readonly [written: string, instead: string];
type MapStore = (nowMs: () => number) => TaskStore;
type MapBlobs = (files: Map<string, never>, nowMs: () => number) => BlobStore;

const folder = await mkdtemp(join(tmpdir(), 'falconry-own-store-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
let loaded = 0;

/** A file of the example over the sources of the library, with a fault if one is given. */
async function load<T>(file: string, fault?: Fault): Promise<T> {
  let text = await readFile(
    new URL(`../../../examples/own-store/${file}`, import.meta.url),
    'utf8',
  );
  if (fault !== undefined) {
    expect(text.split(fault[0]), `${file} has once: ${fault[0]}`).toHaveLength(2);
    text = text.replace(...fault);
  }
  const place = join(folder, `${++loaded}-${file}`);
  await writeFile(place, localised(text));
  return import(/* @vite-ignore */ pathToFileURL(place).href) as Promise<T>;
}

async function overStore(runner: TestRunner, fault?: Fault): Promise<void> {
  const { mapStore } = await load<{ mapStore: MapStore }>('store.ts', fault);
  taskStoreContract(runner, 'own store', async (nowMs) => {
    const store = { tasks: mapStore(nowMs) };
    return { store, other: store, close: () => store.tasks.close() };
  });
}

async function overBlobs(runner: TestRunner, fault?: Fault): Promise<void> {
  const { mapBlobs } = await load<{ mapBlobs: MapBlobs }>('files.ts', fault);
  blobContract(runner, 'own files', async (nowMs) => {
    const files = new Map<string, never>();
    const [blobs, again] = [mapBlobs(files, nowMs), mapBlobs(files, nowMs)];
    return { blobs, again, close: async () => {} };
  });
}

await overStore({ describe, it });
await overBlobs({ describe, it });

/** The titles of what failed. */
const titles = ({ failed }: Outcome) =>
  failed.map((text) => /> (.*?): (Assertion|Range|Type|Coded)?Error/.exec(text)?.[1] ?? text);

const FAULTS: readonly [what: string, over: typeof overStore, fault: Fault, expected: string][] = [
  [
    'lets a worker whose lease has ended finish the task',
    overStore,
    ['return row.attempt === attempt ? row : undefined;', 'return row;'],
    'puts a task back when its lease ends, and refuses its late worker',
  ],
  [
    'serves clients in the order of their tasks',
    overStore,
    ['    lastTurns.set(clientId, next);\n    return next;', '    return 0 * next;'],
    'lets clients take turns, however many tasks one of them has',
  ],
  [
    'does not keep the task of a request under its key',
    overStore,
    ['if (answer) answer.taskId = row.id;', ''],
    'keeps the task of a request under its key',
  ],
  [
    'shows half of a file',
    overBlobs,
    ['chunks.push(chunk);', 'chunks.push(chunk);\n        await keep();'],
    'keeps nothing of a body that fails or is aborted half way',
  ],
  [
    'takes any key',
    overBlobs,
    ["if (!KEY.test(key)) throw new RangeError('the key is not one of ours');", ''],
    'refuses keys that are not its own',
  ],
];

describe('a store that', () => {
  it.each(FAULTS)('%s: fails', async (_, over, fault, expected) => {
    const runner = plainRunner();
    await over(runner, fault);
    const outcome = await runner.runAll();
    expect(titles(outcome)).toContain(expected);
    // It is one fault, not a store that does nothing.
    expect(outcome.passed).toBeGreaterThan(over === overStore ? 20 : 0);
  });
});
