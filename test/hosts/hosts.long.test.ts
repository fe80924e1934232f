/**
 * Every program of docs/hosts.md, as it stands there, really serves: the same walk through every
 * endpoint gives the same answers as `falconry serve`, byte for byte; an accepted task survives
 * kill -9; and an orderly end is one.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect } from 'vitest';
import { verifyAggregate } from '../../src/aggregate/index.ts';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { type TaskItem, toTriple } from '../../src/wire/triple.ts';
import { it as test } from '../middleware/support.ts';
import { fixedItems } from '../runtimes/check.ts';
import { fact } from '../support/facts.ts';
import { installed, packageFolders } from '../support/programs.ts';
import { tellsAddresses } from './addresses.ts';
import { open, send } from './client.ts';
import {
  commandOf,
  type Kitchen,
  layOut,
  programs,
  type Recipe,
  type RunningRecipe,
  withKeys,
} from './recipes.ts';
import { referenceWalk, walk } from './walk.ts';

function versionOf({ heading, source }: Recipe): string {
  const runtime = (name: string) =>
    execFileSync(installed(name), ['--version'], { encoding: 'utf8' })
      .split(/\n| \(/)[0]!
      .trim();
  if (heading === 'Deno') return runtime('deno').replace(/^d/, 'D');
  if (heading === 'Bun') return `Bun ${runtime('bun')}`;
  const name = /from '(express|fastify|hono)'/.exec(source)?.[1];
  const node = `Node ${process.versions.node}`;
  if (name === undefined) return `node:http of ${node}`;
  const manifest = readFileSync(`${packageFolders(name)[0]}/package.json`, 'utf8');
  const { version } = JSON.parse(manifest);
  return `${name[0]!.toUpperCase()}${name.slice(1)} ${version} on ${node}`;
}

/** One of each runtime is killed at work. */
const CRASHED = ['Hono', 'Deno', 'Bun'];

let reference: readonly string[];
const passed = new Set<Recipe>();

beforeAll(async () => {
  reference = await referenceWalk();
}, 300_000);

describe.concurrent('hosts', () => {
  test.for(withKeys.map((recipe, i) => [`${recipe.heading}, program ${i + 1}`, recipe] as const))(
    '%s',
    { timeout: 600_000 },
    async ([, recipe], { defer }) => {
      const kitchen = await layOut(recipe.source, commandOf(recipe));
      defer(kitchen.close);
      const running = await kitchen.start();
      const said = await walk({ ...kitchen, base: running.base });
      expect(said).toEqual(reference);
      await tellsAddresses(running.base);
      await endsInOrder(kitchen, running);
      if (CRASHED.includes(recipe.heading)) await survives(recipe);
      passed.add(recipe);
    },
  );
});

/** SIGTERM while a client follows a task: the stream ends, and so does the process, with code 0. */
async function endsInOrder({ alice }: Kitchen, { base, stop }: RunningRecipe): Promise<void> {
  const headers = { authorization: alice };
  const created = await fetch(`${base}/v1/svc/aggsign/task`, { method: 'POST', headers });
  const { process_id } = (await created.json()) as { process_id: number };
  const url = `${base}/v1/svc/tasks/${process_id}/events`;
  const stream = await open({ method: 'GET', url, headers });
  const drained = (async () => {
    for await (const _ of stream);
  })();
  await stop();
  await drained;
}

/**
 * The same program with three threads, whatever the machine has: killed at work, started again,
 * stopped at work.
 */
async function survives(recipe: Recipe): Promise<void> {
  const source = recipe.source.replace("'.falconry' }", "'.falconry', threads: 3 }");
  expect(source).not.toBe(recipe.source);
  const kitchen = await layOut(source, commandOf(recipe));
  try {
    await stopsWork(kitchen, await takesOver(kitchen));
  } finally {
    await kitchen.close();
  }
}

/**
 * A busy machine may be done with a task before a signal or a request comes: then it is tried with
 * another.
 */
const ROUNDS = 5;

/**
 * By a connection of its own: one that was kept may have ended during the arithmetic since the last
 * request.
 */
async function ask<T>(method: string, url: string, key: string, data?: readonly TaskItem[]) {
  const headers = {
    authorization: key,
    'accept-encoding': 'identity',
    ...(data && { 'content-type': 'application/json' }),
  };
  const body = data && Buffer.from(JSON.stringify({ data: data.map(toTriple) }));
  const answer = await send({ method, url, headers, ...(body && { body }) });
  const text = answer.body.toString();
  return { status: answer.status, json: (text === '' ? null : JSON.parse(text)) as T };
}

/**
 * kill -9 while a worker is at a task; the next start takes it over and finishes it. @returns the
 * second start
 */
async function takesOver(kitchen: Kitchen, round = 1): Promise<RunningRecipe> {
  const items = fixedItems(falcon512, 1722);
  const { alice } = kitchen;
  const first = await kitchen.start();
  const aggregate = `${first.base}/v1/svc/aggsign`;
  const accepted = await ask<{ process_id: number }>('POST', aggregate, alice, items);
  expect(accepted.status).toBe(202);
  const { process_id } = accepted.json;
  const recordFrom = async (base: string) => {
    const url = `${base}/v1/svc/tasks/${process_id}`;
    return (await ask<{ status: string; result_path: string }>('GET', url, alice)).json;
  };
  while ((await recordFrom(first.base)).status.startsWith('wait')) await pause(10);
  await first.end('SIGKILL');

  const second = await kitchen.start();
  let record = await recordFrom(second.base);
  for (; record.status !== 'completed'; record = await recordFrom(second.base)) {
    expect(record.status).not.toBe('failed');
    await pause(100);
  }
  if (round < ROUNDS && record.result_path.includes(`/results/1/${process_id}.json`)) {
    await second.end('SIGKILL');
    return takesOver(kitchen, round + 1);
  }
  // Its second attempt: the first belonged to the process that is gone.
  expect(record.result_path).toContain(`/results/2/${process_id}.json`);
  const result = (await (await fetch(record.result_path)).json()) as { aggregate: string };
  expect(verifyAggregate(Buffer.from(result.aggregate.slice(2), 'hex'), items)).toBe(true);
  return second;
}

/**
 * A process is at rest that uses the processor for so little in so long: one that works gets more
 * on any machine.
 */
const REST = { ms: 2000, seconds: 0.1 };

/** A task that is cancelled while it is proved lets all threads go, and the next task gets them. */
async function stopsWork({ alice }: Kitchen, { base, cpuSeconds }: RunningRecipe): Promise<void> {
  const submit = async (count: number) => {
    const items = fixedItems(falcon1024, count);
    const url = `${base}/v1/svc/aggsign`;
    const { json } = await ask<{ process_id: number }>('POST', url, alice, items);
    return `${base}/v1/svc/tasks/${json.process_id}`;
  };
  const statusOf = async (task: string) =>
    (await ask<{ status: string }>('GET', task, alice)).json.status;
  const reach = async (task: string, wanted: RegExp) => {
    let status = await statusOf(task);
    for (; !wanted.test(status); status = await statusOf(task)) await pause(10);
    return status;
  };
  /** Processor time from now until the process is at rest. */
  const spent = async () => {
    const start = await cpuSeconds();
    for (let before = start; ; ) {
      await pause(REST.ms);
      const after = await cpuSeconds();
      if (start === null || before === null || after === null) return null;
      if (after - before < REST.seconds) return after - start;
      before = after;
    }
  };

  const idle = await cpuSeconds();
  expect(await reach(await submit(1722), /^(completed|failed)$/)).toBe('completed');
  const done = await cpuSeconds();

  let large: string;
  for (let round = 1; ; round++) {
    large = await submit(1722);
    if ((await reach(large, /aggregation$|^(completed|failed)$/)).endsWith('aggregation')) {
      if ((await ask('DELETE', large, alice)).status === 200) break;
    }
    expect(round).toBeLessThan(ROUNDS);
  }
  // Seconds of the processor, not of the clock: on a busy machine they come late. Deno does not
  // interrupt a busy thread; it ends when the prover pauses next.
  const seconds = await spent();
  if (idle !== null && done !== null && seconds !== null) {
    expect(seconds).toBeLessThan((done - idle) / 2);
  }
  const small = await submit(3);
  expect(await reach(small, /^(completed|failed|cancelled)$/)).toBe('completed');
  expect(await statusOf(large)).toBe('cancelled');
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('all of them, alike', ({ task }) => {
  const others = programs.filter((recipe) => !withKeys.includes(recipe));
  expect(others.filter(({ source }) => !/\bauthenticate\(/.test(source))).toEqual([]);
  expect(withKeys.length).toBeGreaterThanOrEqual(6);
  for (const recipe of withKeys) {
    expect(passed).toContain(recipe);
    const crashed = CRASHED.includes(recipe.heading) ? ', survives kill -9' : '';
    fact(
      { task },
      'hosts really started',
      `${versionOf(recipe)}: ${reference.length} answers, alike byte for byte${crashed}`,
    );
  }
});
