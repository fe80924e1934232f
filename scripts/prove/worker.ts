/** A thread that proves one job after another. */
import { parentPort } from 'node:worker_threads';
import { readContracts } from './contracts.ts';
import type { Module } from './decode.ts';
import { readModule } from './modules.ts';
import { jobsOf, nameOf, prove } from './prove.ts';

const contracts = readContracts();
const modules = new Map<string, Module>();

parentPort!.on('message', ({ module: name, job: wanted }: { module: string; job: string }) => {
  const module = modules.get(name) ?? readModule(name)!;
  modules.set(name, module);
  const job = jobsOf(name, module, contracts).find((one) => nameOf(one) === wanted)!;
  parentPort!.postMessage(prove(job, module));
});
