/**
 * `falconry/testing` as a host uses it: a store of the host's own passes, in vitest and in node's
 * runner; and with each planted fault it fails, in the test that is about it.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { blobContract, type TestRunner, taskStoreContract } from '../../src/testing/index.ts';
import { type Outcome, plainRunner } from '../runtimes/ports/plainRunner.ts';
import { type BlobFault, type Files, mapBlobs } from './mapBlobs.ts';
import { mapStore, type StoreFault } from './mapStore.ts';

function overStore(runner: TestRunner, fault?: StoreFault): void {
  taskStoreContract(runner, 'own store', async (nowMs) => {
    const store = mapStore(nowMs, fault);
    return { store, other: store, close: () => store.close() };
  });
}

function overBlobs(runner: TestRunner, fault?: BlobFault): void {
  blobContract(runner, 'own files', async (nowMs) => {
    const files: Files = new Map();
    const [blobs, again] = [mapBlobs(files, nowMs, fault), mapBlobs(files, nowMs, fault)];
    return { blobs, again, close: async () => {} };
  });
}

overStore({ describe, it });
overBlobs({ describe, it });

/** The titles of what failed. */
const titles = ({ failed }: Outcome) =>
  failed.map((text) => /> (.*?): (Assertion|Range|Type|Coded)?Error/.exec(text)?.[1] ?? text);

const STORE_FAULTS: readonly [StoreFault, string, readonly string[]][] = [
  [
    'noFence',
    'lets a worker whose lease has ended finish the task',
    ['puts a task back when its lease ends, and refuses its late worker'],
  ],
  [
    'firstComeFirstServed',
    'serves clients in the order of their tasks',
    ['lets clients take turns, however many tasks one of them has'],
  ],
  [
    'forgetsHold',
    'does not keep the task of a request under its key',
    ['keeps the task of a request under its key'],
  ],
];

describe('a store that', () => {
  for (const [fault, what, expected] of STORE_FAULTS) {
    it(`${what}: fails`, async () => {
      const runner = plainRunner();
      overStore(runner, fault);
      const outcome = await runner.runAll();
      expect(titles(outcome)).toEqual(expect.arrayContaining([...expected]));
      // It is one fault, not a store that does nothing.
      expect(outcome.passed).toBeGreaterThan(20);
    });
  }

  const BLOB_FAULTS: readonly [BlobFault, string, string][] = [
    [
      'keepsHalf',
      'shows half of a file',
      'keeps nothing of a body that fails or is aborted half way',
    ],
    ['anyKey', 'takes any key', 'refuses keys that are not its own'],
  ];
  for (const [fault, what, expected] of BLOB_FAULTS) {
    it(`${what}: fails`, async () => {
      const runner = plainRunner();
      overBlobs(runner, fault);
      expect(titles(await runner.runAll())).toContain(expected);
    });
  }
});

/** Runs the suites in Node's own runner. */
async function inNode(env: NodeJS.ProcessEnv) {
  const entry = fileURLToPath(new URL('./nodeTest.ts', import.meta.url));
  const args = ['--test', '--test-reporter=tap', entry];
  return new Promise<{ code: number; stdout: string }>((resolve) => {
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, stdout) => {
      resolve({ code: Number(error?.code ?? 0), stdout });
    });
  });
}

describe("in node's own runner", () => {
  it('a store of the host passes', async () => {
    const { code, stdout } = await inNode({});
    expect(code, stdout).toBe(0);
    expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(30);
    expect(stdout).toMatch(/^# fail 0$/m);
  });

  it('and a faulty one ends the run with 1', async () => {
    const { code, stdout } = await inNode({ STORE_FAULT: 'noFence' });
    expect(code).toBe(1);
    expect(stdout).toMatch(/not ok \d+ - puts a task back when its lease ends/);
  });
});
