/** Hosts of one service as processes, on a database of the server and a prefix of the bucket. */
import { expect } from 'vitest';
import { type Ended, falconry, type Running } from '../middleware/process.ts';
import { type Answer, toAnswer } from '../middleware/support.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { bucketEnv, newPrefix, type Rgw } from '../support/rgw.ts';

/** A process that serves, or works, and its metrics port. */
export interface Host {
  readonly process: Running;
  /** Where it serves; undefined for a worker. */
  readonly base: string;
  readonly metrics: string;
}

export class Hosts {
  readonly env: NodeJS.ProcessEnv;
  readonly #started: Running[] = [];

  constructor(server: PostgresServer, database: string, rgw: Rgw) {
    this.env = {
      FALCONRY_DATABASE: server.url.replace('/postgres?', `/${database}?`),
      ...bucketEnv(rgw, newPrefix()),
    };
  }

  /** Runs a command to its end. */
  try(...args: string[]): Promise<Ended> {
    return falconry([...args, '--json'], this.env).ended;
  }

  /** Runs a command that succeeds. @returns what it says */
  async run(...args: string[]) {
    const ended = await this.try(...args);
    expect([ended.code, ended.stderr], ended.stdout).toEqual([0, '']);
    return JSON.parse(ended.stdout);
  }

  async start(...args: string[]): Promise<Host> {
    const more = ['--json', '--metrics-port', '0', '--log', 'json'];
    const process = falconry([...args, ...more], this.env);
    this.#started.push(process);
    const facts = JSON.parse((await process.printed(/^\{.*\}$/m))[0]);
    expect(facts).toMatchObject({ ok: true, blobs: this.env.FALCONRY_BLOBS });
    const metrics = `http://127.0.0.1:${facts.metrics_port}`;
    return { process, base: facts.address, metrics };
  }

  /** Kills those that are left. */
  async end(): Promise<void> {
    for (const process of this.#started) process.kill('SIGKILL');
    await Promise.all(this.#started.map((process) => process.ended));
  }
}

/** A request of a client to a host; redirections are not followed. */
export async function ask(
  key: string,
  { base }: Host,
  method: string,
  path: string,
  body?: unknown,
  more: Record<string, string> = {},
): Promise<Answer> {
  const headers = { authorization: key, 'content-type': 'application/json', ...more };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const init = { method, headers, redirect: 'manual', ...sent } as const;
  return toAnswer(await fetch(base + path, init));
}

/** Follows a task by its events, and expects that it is completed. */
export async function completed(key: string, host: Host, id: number) {
  const events = await ask(key, host, 'GET', `/v1/svc/tasks/${id}/events`);
  expect(events.status).toBe(200);
  const { json } = await ask(key, host, 'GET', `/v1/svc/tasks/${id}`);
  expect(json, JSON.stringify(json)).toMatchObject({ status: 'completed' });
  return json;
}
