/** The lock: the proofs that were found, with the hashes of all that they depend on. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, hashOfFiles, ROOT } from '../generated.ts';
import type { Module } from './decode.ts';
import { type Job, keyOf, nameOf, type Outcome } from './prove.ts';

export const LOCK = 'scripts/prove/proofs.lock.json';

/** Files of the prover on which its results don't depend. */
const OTHERS = new RegExp(
  '/(main|modules|worker|report|validate|mutants|ruleClaims|elsewhere|' +
    'bitvectors|inequalities|reals)\\.ts$|\\.json$',
);

type Entry = Pick<Outcome, 'checks' | 'seconds' | 'functions' | 'ranges' | 'covered'> & {
  readonly key: string;
};

export class Lock {
  readonly entries: Map<string, Entry>;
  readonly prover = hashOfFiles(filesBelow('scripts/prove').filter((path) => !OTHERS.test(path)));

  constructor(isFresh = false) {
    const isThere = !isFresh && existsSync(join(ROOT, LOCK));
    const text = isThere ? readFileSync(join(ROOT, LOCK), 'utf8') : '{}';
    this.entries = new Map(Object.entries(JSON.parse(text)));
  }

  /** The proof found earlier, if nothing that it depends on has changed. */
  find(job: Job, module: Module): Outcome | undefined {
    const entry = this.entries.get(nameOf(job));
    if (entry === undefined) return undefined;
    if (entry.key !== keyOf(job, module, this.prover, entry)) return undefined;
    return { ...entry, failure: '', isSkipped: false };
  }

  add(job: Job, module: Module, outcome: Outcome): void {
    const { checks, seconds, functions, ranges, covered } = outcome;
    const key = keyOf(job, module, this.prover, outcome);
    this.entries.set(nameOf(job), { key, checks, seconds, functions, ranges, covered });
  }

  remove(job: Job): void {
    this.entries.delete(nameOf(job));
  }

  /** Writes the entries of these jobs, one a line. */
  write(jobs: readonly Job[]): void {
    const lines = jobs.map(nameOf).flatMap((name) => {
      const entry = this.entries.get(name);
      return entry ? [` ${JSON.stringify(name)}: ${JSON.stringify(entry)}`] : [];
    });
    writeFileSync(join(ROOT, LOCK), `{\n${lines.join(',\n')}\n}\n`);
  }
}
