/** The verifier in Python, written from the documents alone: all vectors, a service's files. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, type TestContext, test } from 'vitest';
import { formatResultFile, makeResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile } from '../../src/wire/triple.ts';
import { frozenCases, frozenMerged, frozenSeries, VECTORS } from '../reference/frozenCases.ts';
import { fact } from '../support/facts.ts';

const LONG = { timeout: 1_800_000 };
const SCRIPTS = fileURLToPath(new URL('../../verifiers/python/', import.meta.url));
const NEW_ENOUGH = 'import sys; sys.exit(sys.version_info < (3, 9))';
const noPython = spawnSync('python3', ['-c', NEW_ENOUGH]).status !== 0;
const SKIPPED = 'no Python 3.9 or later on this machine';

const folder = mkdtempSync(join(tmpdir(), 'falconry-python-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const verify = (context: TestContext, ...args: readonly string[]): Promise<Ended> =>
  run(context, 'verify.py', ...args);

/** Ends with the test, however that ends. */
function run(context: TestContext, script: string, ...args: readonly string[]): Promise<Ended> {
  const child = spawn('python3', ['-B', join(SCRIPTS, script), ...args], {
    signal: context.signal,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

const { good, bad } = frozenCases();

describe('verify.py --vectors', () => {
  test('finds the verdict and the reason of every vector', LONG, async (context) => {
    if (noPython) return context.skip(SKIPPED);
    const { code, stdout, stderr } = await verify(context, '--vectors', fileURLToPath(VECTORS));
    const lines = stdout.trim().split('\n');
    expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('ok ')).length).toBe(
      good.length + bad.length + frozenSeries().length,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    fact(context, 'verifiers', `verify.py: ${good.length} good and ${bad.length} bad vectors`);
  });

  test('merged.py gives the verdicts and reasons of merged proofs', LONG, async (context) => {
    if (noPython) return context.skip(SKIPPED);
    const own = join(folder, 'merged');
    cpSync(VECTORS, own, { recursive: true });
    for (const name of ['good', 'bad', 'series']) writeFileSync(join(own, `${name}.json`), '[]');
    const { code, stdout, stderr } = await run(context, 'merged.py', '--vectors', own);
    const lines = stdout.trim().split('\n');
    expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
    expect(lines.length).toBe(frozenMerged().length);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('says which verdict is wrong', LONG, async (context) => {
    if (noPython) return context.skip(SKIPPED);
    const own = join(folder, 'vectors');
    cpSync(VECTORS, own, { recursive: true });
    const stored = (name: string) => JSON.parse(readFileSync(join(own, name), 'utf8'));
    const bundle = good.findIndex(({ name }) => name === 'bundle: falcon512, 1 items');
    const right = stored('good.json')[bundle];
    const cut = { of: right.name, at: 3, remove: 1, put: '' };
    const broken = { name: 'broken', items: right.items, edit: cut, reason: 'magic' };
    const list = [
      { ...broken, reason: 'header' },
      { ...right, name: 'not bad' },
    ];
    writeFileSync(join(own, 'good.json'), JSON.stringify([right, { ...broken, name: 'not good' }]));
    writeFileSync(join(own, 'bad.json'), JSON.stringify([...list, { ...broken, name: 'bad' }]));
    writeFileSync(join(own, 'series.json'), '[]');
    const { code, stdout } = await verify(context, '--vectors', own);
    expect(code).toBe(1);
    expect(stdout.match(/^\w+/gm)).toEqual(['ok', 'WRONG', 'WRONG', 'WRONG', 'ok']);
  });
});

describe('verify.py result.json task.json', () => {
  const { items, aggregate } = good.find(({ name }) => name === 'falcon512, 2 items')!;
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const result = (bytes: Uint8Array): string => {
    const made = makeResultFile({ processId: 7, aggregate, items, timings: {} });
    return formatResultFile({ ...made, aggregate: bytes });
  };
  const task = () => file('task.json', formatTaskFile(items));

  test('exits with 0 for a proof of the list', LONG, async (context) => {
    if (noPython) return context.skip(SKIPPED);
    const ended = await verify(context, file('result.json', result(aggregate)), task());
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^valid proof; 2 of Falcon-512, .* salts: 2 explicit/);
  });

  test.for([
    ['the first byte', 0, /^refused: magic/],
    ['a byte in the middle', aggregate.length >> 1, /^refused: (bytes|proof)/],
    ['the last byte', aggregate.length - 1, /^refused: (bytes|proof)/],
  ] as const)('exits with 1 for a copy with %s damaged', LONG, async ([, at, why], context) => {
    if (noPython) return context.skip(SKIPPED);
    const damaged = aggregate.with(at, aggregate[at]! ^ 16);
    const ended = await verify(context, file('damaged.json', result(damaged)), task());
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(why);
  });

  test('merged.py verifies the same, and knows one format more', LONG, async (context) => {
    if (noPython) return context.skip(SKIPPED);
    const merged = file('merged.json', result(aggregate.with(4, 4).with(5, 1)));
    const good = await run(context, 'merged.py', file('result.json', result(aggregate)), task());
    expect(good).toMatchObject({ code: 0, stderr: '' });
    for (const [script, why] of [
      ['verify.py', 'format: unknown'],
      ['merged.py', 'table: made with another row of parameters'],
    ] as const) {
      const ended = await run(context, script, merged, task());
      expect(ended).toMatchObject({ code: 1, stderr: `refused: ${why}\n` });
    }
  });

  test('exits with 1 for another list', LONG, async (context) => {
    if (noPython) return context.skip(SKIPPED);
    const other = file('other.json', formatTaskFile(items.toReversed()));
    const ended = await verify(context, file('result.json', result(aggregate)), other);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/^refused: list/) });
  });

  test('exits with 2 for what it cannot read', LONG, async (context) => {
    if (noPython) return context.skip(SKIPPED);
    const good = file('result.json', result(aggregate));
    for (const args of [
      [],
      [good],
      [good, join(folder, 'absent.json')],
      [file('text.json', 'text'), task()],
      [file('empty.json', '{}'), task()],
      [good, file('task-without-keys.json', '[{"digest":"0x00"}]')],
      [file('odd.json', '{"aggregate":"0x0"}'), task()],
      ['--vectors', folder],
    ]) {
      const ended = await verify(context, ...args);
      expect(ended, args.join(' ')).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).not.toContain('Traceback');
    }
  });
});
