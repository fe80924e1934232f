/** `falconry worker`: works on the tasks of a service whose stores several hosts share. */
import type { ServiceOptions } from '../../middleware/index.ts';
import { type Command, EXIT } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { loadFramework } from './drivers.ts';
import { stopSignal } from './listening.ts';
import { openObservability } from './observability.ts';
import {
  resolveService,
  WORKER_SETTINGS,
  type WorkerSetting,
  workerOptions,
} from './serveConfig.ts';
import { type Opened, withShared } from './sharedStores.ts';

/** The `worker` command. */
export const command: Command = defineCommand({
  name: 'worker',
  summary: 'work on the tasks of services that share a database',
  usage: ['--database <url> --blobs <url> [options]'],
  about: [
    'Works on the tasks of a service with a database and a bucket (falconry serve --database ' +
      '--blobs), on any number of hosts. It takes tasks as it has room for them, answers no ' +
      'requests, and opens only the port for metrics and health checks. If it dies, others ' +
      'take over its tasks after --lease; the services remove expired tasks and files.',
    'SIGTERM and SIGINT shut it down: it takes no new task, gives running tasks --grace to ' +
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

async function execute(invocation: Invocation<WorkerSetting>): Promise<number> {
  const config = await invocation.config();
  const options = workerOptions(config);
  resolveService(options);
  const use = (opened: Opened) => work(invocation, config, { options, ...opened });
  return withShared(config, invocation.io, use, CONNECTIONS);
}

async function work(
  { json, report }: Invocation<WorkerSetting>,
  { values }: Config<WorkerSetting>,
  { options, shared, logger }: Opened & { readonly options: ServiceOptions },
): Promise<number> {
  const { threads, parallelTasks: tasks } = resolveService(options);
  const { falconService, openHttpServer } = await loadFramework();
  const observability = await openObservability({
    ...values,
    accessLog: 'off',
    dataDirectory: null,
    threads,
    logger,
  });
  const service = falconService({
    ...options,
    ...shared.options,
    ...observability.options,
    logger,
  });
  await observability.open(service, openHttpServer);
  await service.start().catch(async (error) => {
    await observability.close();
    throw error;
  });
  const stopped = stopSignal();
  const { database, blobs } = shared.shown;
  report(
    { ok: true, metrics_port: observability.port, database, blobs, threads, tasks },
    `Falconry works on the tasks of ${database}\n  files    ${blobs}\n  threads  ${threads}\n`,
  );
  const signal = await stopped;
  if (!json) report({}, `\n${signal}: finishing running work; a second signal ends it at once\n`);
  service.drain();
  await service.stop({ graceMs: values.grace });
  await observability.close();
  if (!json) report({}, 'Stopped.\n');
  return EXIT.ok;
}
