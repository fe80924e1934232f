/** A thread that proves one job after another, or tries its mutants. */
import { parentPort } from 'node:worker_threads';
import { readContracts } from './contracts.ts';
import type { Module } from './decode.ts';
import { readModule } from './modules.ts';
import { tryMutants } from './mutants.ts';
import { jobsOf, nameOf, prove } from './prove.ts';

export interface Order {
  readonly module: string;
  readonly job: string;
  /** How many mutants are tried instead, at most. */
  readonly mutants?: number | undefined;
}

const contracts = readContracts();
const modules = new Map<string, Module>();

parentPort!.on('message', ({ module: name, job: wanted, mutants }: Order) => {
  const module = modules.get(name) ?? readModule(name)!;
  modules.set(name, module);
  const jobs = jobsOf(name, module, contracts);
  const job = jobs.find((one) => nameOf(one) === wanted)!;
  const answer =
    mutants === undefined ? prove(job, module) : tryMutants(job, module, jobs, mutants);
  parentPort!.postMessage(answer);
});
