/** `falconry worker`: works on the tasks of a service whose stores several hosts share. */
import type { ServiceOptions } from '../../middleware/index.ts';
import type { Command } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { EXIT, exitHelp } from '../lib/exitCodes.ts';
import { loadFramework } from './framework.ts';
import { openEyes } from './observability.ts';
import {
  resolveService,
  settingsHelp,
  WORKER_SETTINGS,
  type WorkerSetting,
  workerOptions,
} from './serveConfig.ts';
import { type Opened, withShared } from './sharedStores.ts';
import { stopSignal } from './stopSignal.ts';

const help = `Usage: falconry worker --database <url> --blobs <s3://bucket/prefix> [options]

Works on the tasks of a service with a database and a bucket (falconry serve --database --blobs),
on any number of hosts. It takes tasks as it has room for them, answers no requests, and opens no
port but that of its metrics and its health. If it dies, the others take its tasks over after
--lease; the services end tasks and delete files whose time is over.

      --config <file>   configuration file (FALCONRY_CONFIG) [falconry.json, if there is one]
      --json            print one line of JSON when it works
  -q, --quiet           print nothing on standard output
  -h, --help            this text

Each option below can also be set in the environment and in the configuration file, as for falconry
serve. Give workers and services the same limits: what a worker finds too large fails. Credentials
of the bucket are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the files that
these names with _FILE name, which are read again every 5 minutes.

${settingsHelp(WORKER_SETTINGS)}
SIGTERM and SIGINT shut it down: it takes no new task, lets those in work finish for --grace, and
gives the rest back to the others at once. A second signal ends it. The metrics port has /healthz,
/readyz and /metrics; it needs the package prom-client.

Examples
  falconry worker
  falconry worker --threads 1 --tasks 1 --metrics-port 0

More
  falconry worker --database postgres://falconry@db/falconry --blobs s3://falconry/one/

${exitHelp('usage', 'io')}`;

/** The `worker` command. */
export const command: Command = defineCommand({
  name: 'worker',
  summary: 'work on the tasks of services that share a database',
  help,
  mostArguments: 0,
  settings: WORKER_SETTINGS,
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
  const eyes = await openEyes({
    ...values,
    accessLog: 'off',
    dataDirectory: null,
    threads,
    logger,
  });
  const service = falconService({ ...options, ...shared.options, ...eyes.options, logger });
  await eyes.open(service, openHttpServer);
  await service.start().catch(async (error) => {
    await eyes.close();
    throw error;
  });
  const stopped = stopSignal();
  const { database, blobs } = shared.shown;
  report(
    { ok: true, metrics_port: eyes.port, database, blobs, threads, tasks },
    `Falconry works on the tasks of ${database}\n  files    ${blobs}\n  threads  ${threads}\n`,
  );
  const signal = await stopped;
  if (!json) report({}, `\n${signal}: finishing running work; a second signal ends it at once\n`);
  service.drain();
  await service.stop({ graceMs: values.grace });
  await eyes.close();
  if (!json) report({}, 'Stopped.\n');
  return EXIT.ok;
}
