/** `falconry worker`: works on the tasks of a service whose stores several hosts share. */
import type { Command } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { runService } from './running.ts';
import { WORKER_SETTINGS, type WorkerSetting, workerOptions } from './serveConfig.ts';

export const command: Command = defineCommand({
  name: 'worker',
  summary: 'work on the tasks of services that share a database',
  usage: ['--database <url> --blobs <url> [options]'],
  about: [
    'Works on the tasks of a service with a database and a bucket (falconry serve --database ' +
      '--blobs), on any number of hosts. It claims tasks when it has room for them, answers no ' +
      'requests, and opens only the port for metrics and health checks. If it dies, others ' +
      'take over its tasks after --lease; the services remove expired tasks and files.',
    'SIGTERM and SIGINT shut it down: it claims no new task, gives running tasks --grace to ' +
      'finish, and returns the rest to the queue. A second signal ends it at once.',
    'Give workers and services the same limits: a worker fails what it finds too large. The ' +
      'packages, the credentials of the bucket and the metrics port are those of falconry serve.',
  ],
  settings: WORKER_SETTINGS,
  examples: ['falconry worker', 'falconry worker --threads 1 --tasks 1 --metrics-port 0'],
  more: ['falconry worker --database postgres://falconry@db/falconry --blobs s3://falconry/one/'],
  exits: ['usage', 'io'],
  execute,
});

/** Enough for its tasks, their heartbeats and its health. */
const CONNECTIONS = 4;

async function execute(invocation: Invocation<WorkerSetting>): Promise<void> {
  const config = await invocation.config();
  return runService(invocation, config, workerOptions(config), {
    connections: CONNECTIONS,
    drainDelayMs: 0,
    async start({ service }) {
      await service.start();
      return null;
    },
    async announce({ settings, shared }, { metrics_port }) {
      const { database, blobs } = shared.shown;
      const { threads, parallelTasks: tasks } = settings;
      return [
        { ok: true, metrics_port, database, blobs, threads, tasks },
        `Falconry works on the tasks of ${database}\n  files    ${blobs}\n  threads  ${threads}\n`,
      ];
    },
  });
}
