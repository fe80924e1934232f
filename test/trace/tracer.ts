/** Runs calls of an instrumented module and tells at which places of its code they differ. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileDebug, compileEntry } from '../support/assembly.ts';
import { type Hook, instrument, type Place } from './instrument.ts';
import type { Position } from './wasmCode.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export type Exports = Record<string, (...args: number[]) => number> & {
  memory: WebAssembly.Memory;
};

/** A record: for each place, a hash over all that happened there. */
export type Trace = BigUint64Array;

export interface Tracer {
  /** The module before it was instrumented. */
  readonly code: Uint8Array;
  readonly exports: Exports;
  /** The address of an exported region. */
  at(region: string): number;
  bytes(region: string, length: number): Uint8Array;
  readonly places: readonly Place[];
  /** @returns what `call` did */
  trace(call: () => void): Trace;
  /** Replaces the sampler's decisions, or with none leaves them to it. */
  force(decisions: readonly number[]): void;
  /** `file function: kind: line of the sources`; places of one line are one. */
  nameOf(place: number): string;
}

/**
 * @param target of asconfig.json
 * @param patch changes a source before it is compiled
 */
export async function tracer(
  target: 'falcon' | 'falcon.relaxed' | 'falcon.integer',
  hooks: readonly Hook[] = [],
  patch?: (path: string, source: string) => string,
): Promise<Tracer> {
  const { bytes: code, map } = await compileDebug('assembly/falcon/index.ts', target, patch);
  const lines = new Map<string, string[]>();
  const lineAt = ({ file, line }: Position): string => {
    if (!existsSync(ROOT + file)) return file; // the compiler's own
    let all = lines.get(file);
    if (all === undefined) {
      const source = readFileSync(ROOT + file, 'utf8');
      lines.set(file, (all = (patch?.(file, source) ?? source).split('\n')));
    }
    return all[line - 1]!.trim();
  };
  const { bytes, places } = instrument(code, map, lineAt, hooks);
  const recorder = await compileEntry('trace', 'plain');
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    trace: recorder.exports,
  });
  const exports = instance.exports as unknown as Exports;
  const at = (region: string) => (instance.exports[region] as WebAssembly.Global).value as number;
  const { buffer } = recorder.exports.memory;
  const record = new BigUint64Array(buffer, recorder.at('HASHES'), places.length);
  if (places.length > recorder.at('PLACES')) throw new Error(`${places.length} places`);
  return {
    code,
    exports,
    at,
    places,
    bytes: (region, length) => new Uint8Array(exports.memory.buffer, at(region), length),
    trace(call) {
      recorder.exports.restart!();
      call();
      return record.slice();
    },
    force(decisions) {
      const { length } = decisions;
      new Uint32Array(recorder.exports.memory.buffer, recorder.at('FORCED'), length).set(decisions);
      recorder.exports.force!(length);
    },
    nameOf(place) {
      const { kind, function: name, line } = places[place]!;
      return `${name}: ${kind}: ${line}`;
    },
  };
}

/** @returns the names of the places at which some trace is not the first one, sorted */
export function differing(tracer: Tracer, traces: readonly Trace[]): string[] {
  const [first, ...others] = traces;
  const names = new Set<string>();
  for (let place = 0; place < first!.length; place++) {
    if (others.some((trace) => trace[place] !== first![place])) names.add(tracer.nameOf(place));
  }
  return [...names].sort();
}
