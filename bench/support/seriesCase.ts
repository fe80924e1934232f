/**
 * One case of bench/series.ts, in its own process, so that its memory can be measured, which needs
 * --expose-gc:
 *
 *   node bench/support/seriesCase.ts <file> <count> make     writes a series, prints the figures
 *   node bench/support/seriesCase.ts <file> <count> verify   reads it as a stream
 *
 * Items are of a hundred keys, with derived salts, and made as they are needed.
 */

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { aggregateStream, verifyAggregateStream } from '../../src/aggregate/index.ts';
import { takeInstance } from '../../src/aggregate/proof/instances.ts';
import { bestModule } from '../../src/aggregate/wasm.ts';
import { falcon512 } from '../../src/falcon/index.ts';

export interface SeriesFigures {
  readonly bytes: number;
  /** CPU time of the work alone: without signing, or without making statements. */
  readonly cpuMs: number;
  /** The largest resident size of the process, before and in all. */
  readonly beforeMb: number;
  readonly residentMb: number;
  /** The most of the verifier's objects, buffers and modules that are alive. */
  readonly liveMb: number;
  /** The verifier's WebAssembly memory. */
  readonly wasmMb: number;
}

const KEYS = 100;
const MB = 1e6;
/** Statements between two looks at what is alive. */
const LOOK_EVERY = 5000;
const residentMb = () => process.resourceUsage().maxRSS / 1e3;

const [file = '', count = '0', what] = process.argv.slice(2);
const keys = Array.from({ length: KEYS }, (_, i) =>
  falcon512.keygen(new Uint8Array(48).fill(i + 1)),
);
const statement = (i: number) => ({
  publicKey: keys[i % KEYS]!.publicKey,
  message: new TextEncoder().encode(`message ${i}`),
});

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

let elsewhereMs = 0;
function* made<T>(make: (i: number) => T): Generator<T> {
  for (let i = 0; i < Number(count); i++) {
    const start = process.cpuUsage();
    const value = make(i);
    elsewhereMs += cpuMs(start);
    yield value;
  }
}

function aliveMb(): number {
  gc!();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MB;
}

const idleMb = aliveMb();
let liveMb = 0;
let nextLook = LOOK_EVERY;
function look(done: number): void {
  if (done < nextLook) return;
  nextLook += LOOK_EVERY;
  const start = process.cpuUsage();
  liveMb = Math.max(liveMb, aliveMb() - idleMb);
  elsewhereMs += cpuMs(start);
}

const beforeMb = residentMb();
const start = process.cpuUsage();
let bytes = 0;
if (what === 'make') {
  const items = made((i) => {
    const { publicKey, message } = statement(i);
    const { secretKey } = keys[i % KEYS]!;
    const signature = falcon512.sign(message, secretKey, { salt: 'derived' });
    return { publicKey, message, signature };
  });
  const out = createWriteStream(file);
  for await (const piece of aggregateStream(items, { format: 'proof' })) {
    bytes += piece.length;
    out.write(piece);
  }
  out.end();
  await once(out, 'close');
} else {
  async function* counted() {
    for await (const piece of createReadStream(file)) {
      bytes += piece.length;
      yield piece as Uint8Array;
    }
  }
  const onProgress = ({ done }: { readonly done: number }) => look(done);
  const isValid = await verifyAggregateStream(counted(), made(statement), { onProgress });
  if (!isValid) throw new Error('refused');
}
const figures: SeriesFigures = {
  bytes,
  cpuMs: cpuMs(start) - elsewhereMs,
  beforeMb,
  residentMb: residentMb(),
  liveMb,
  wasmMb: takeInstance(bestModule(), 'rest').memoryBytes / MB,
};
console.log(JSON.stringify(figures));
