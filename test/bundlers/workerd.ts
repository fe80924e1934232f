/**
 * Cloudflare's workerd: bundled as docs/hosts.md says, with the modules that the package exports.
 */
import { copyFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installed } from '../support/programs.ts';
import { startProgram } from '../support/startProgram.ts';
import { beside, command, project } from './project.ts';
import type { JobReport } from './report.ts';

/** The program itself: the script of its name does not pass signals on. */
const { default: program } = createRequire(import.meta.url)('workerd') as { default: string };

const WORKER = `import { useFalconModule, useLabradorModule } from 'falconry';
import falconModule from 'falconry/falcon.relaxed.wasm';
import labradorModule from 'falconry/labrador.relaxed.wasm';
import { job } from './job.js';

useFalconModule(falconModule);
useLabradorModule(labradorModule);
export default { fetch: async () => Response.json(await job()) };
`;
const MODULES = ['falcon.relaxed.wasm', 'labrador.relaxed.wasm'];
const CONFIG = `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    ${MODULES.map((file) => `(name = "falconry/${file}", wasm = embed "${file}"),`).join('\n    ')}
  ],
);
`;

/** Bundles the job with rolldown, serves it, and asks it once. */
export async function inWorkerd(): Promise<JobReport> {
  const folder = await project('workerd', { 'main.js': WORKER, 'config.capnp': CONFIG });
  const external = MODULES.flatMap((file) => ['--external', `falconry/${file}`]);
  await command(folder, installed('rolldown'), ['main.js', '--file', 'worker.js', ...external]);
  for (const file of MODULES) {
    await copyFile(beside(`falconry/dist/${file}`), join(folder, file));
  }
  const server = await startWorkerd(folder);
  try {
    return (await (await fetch(server.url)).json()) as JobReport;
  } finally {
    await server.close();
  }
}

/** Serves `config.capnp` of a folder, whose socket has the name `http`, on a free port. */
export async function startWorkerd(folder: string, env: Readonly<Record<string, string>> = {}) {
  const args = ['serve', 'config.capnp', '--socket-addr=http=127.0.0.1:0', '--control-fd=1'];
  const { found, end } = await startProgram(program, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    ready: /"event":"listen".*"port":(\d+)/,
  });
  return { url: `http://127.0.0.1:${found[1]}/`, close: () => end('SIGTERM') };
}
