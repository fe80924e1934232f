/** The machine on which figures were measured. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';

export interface Machine {
  cpu: string;
  cores: number;
  node: string;
  v8: string;
  /**
   * The load of the machine when the run began: above the number of cores, figures are worth
   * little.
   */
  load: number;
}

export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    node: process.versions.node,
    v8: process.versions.v8,
    load: Number(loadavg()[0]!.toFixed(2)),
  };
}

/** Version and compiler of this package's own modules. */
export function ownVersions(): { falconry: string; assemblyscript: string } {
  const read = (path: string): { version: string } =>
    JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));
  return {
    falconry: read('package.json').version,
    assemblyscript: read('node_modules/assemblyscript/package.json').version,
  };
}
