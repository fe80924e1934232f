/**
 * The module's one instance: bytes in and out of its regions, one call at a time, nothing left
 * behind.
 *
 * Calls are synchronous from copy-in to copy-out and never overlap. A call that ends with an
 * exception, whatever it is, throws the instance away: its memory may be in any state, so it is
 * filled with zeros, and the next call makes a fresh one.
 */
import type { InputBytes } from '../arguments.ts';
import { CodedError } from '../errors.ts';
import { apply, fill, set, slice, subarray } from '../intrinsics.ts';
import { bestModule, type ModuleName, moduleLoader } from '../wasmLoader.ts';
import { MODULE as RELAXED_MODULE } from './falcon.relaxed.wasm.gen.ts';
import { type FalconExports, MODULE as PLAIN_MODULE } from './falcon.wasm.gen.ts';

/** Bytes of the regions, see assembly/falcon/layout.ts. */
const SIZES = {
  PK: 1793,
  SIG: 1577,
  PREPARED: 4096,
  SK: 2305,
  SEED: 88,
  EXPANDED: 110_592,
} as const;
const PREPARED_KEY_BYTES = 4096;
const SALT = 40;

/**
 * The memory of an instance. Each region is a view of its own, so that what is put into one cannot
 * reach another.
 */
export class Machine {
  readonly exports: FalconExports;
  readonly memory: Uint8Array<ArrayBuffer>;
  /** A chunk of the message. */
  readonly input: Uint8Array<ArrayBuffer>;
  readonly inputSize: number;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
  readonly prepared: Uint8Array<ArrayBuffer>;
  readonly secretKey: Uint8Array<ArrayBuffer>;
  readonly seed: Uint8Array<ArrayBuffer>;
  readonly expanded: Uint8Array<ArrayBuffer>;
  readonly batchData: Uint8Array<ArrayBuffer>;
  readonly batchKeys: Uint8Array<ArrayBuffer>;
  /** Randomness on its way from the host to `seed`. */
  readonly randomness = new Uint8Array(SIZES.SEED);
  /**
   * The arguments of a call that holds secrets: this machine, and some kilobytes of the stack that
   * nobody reads. What runs below them leaves room for the wiping that follows it, also when it ends
   * because the stack is full.
   */
  readonly padded: readonly [Machine, ...undefined[]] = [this, ...new Array(512).fill(undefined)];
  /** While a call is in the module. */
  isEntered = false;
  /** Once a call has ended with an exception. */
  isLost = false;

  constructor(instance: WebAssembly.Instance) {
    const exports = instance.exports as unknown as FalconExports;
    const buffer = exports.memory.buffer as ArrayBuffer; // never grows, so views stay good
    const region = (at: WebAssembly.Global, length: number) =>
      new Uint8Array(buffer, at.value, length);
    this.exports = exports;
    this.memory = new Uint8Array(buffer);
    this.inputSize = exports.IN_SIZE.value;
    this.input = region(exports.IN, this.inputSize);
    this.publicKey = region(exports.PK, SIZES.PK);
    this.signature = region(exports.SIG, SIZES.SIG);
    this.prepared = region(exports.PREPARED, SIZES.PREPARED);
    this.secretKey = region(exports.SK, SIZES.SK);
    this.seed = region(exports.SEED, SIZES.SEED);
    this.expanded = region(exports.EXPANDED, SIZES.EXPANDED);
    this.batchData = region(exports.BATCH_DATA, exports.BATCH_DATA_SIZE.value);
    this.batchKeys = region(exports.BATCH_PREPARED, exports.BATCH_KEYS.value * PREPARED_KEY_BYTES);
  }

  /**
   * Puts a message where the module looks for it: all of it in IN, or, if it is longer, hashed piece
   * by piece after its salt.
   *
   * @param saltAt address of the salt
   * @returns the `messageLen` argument of the module's functions
   */
  takeMessage(message: InputBytes, saltAt: number): number {
    if (message.length <= this.inputSize) {
      message.copyTo(this.input);
      return message.length;
    }
    this.exports.hashInit();
    this.exports.hashUpdate(saltAt, SALT);
    this.hashPieces(message);
    return -1;
  }

  /** Hashes bytes of any length, by way of IN. */
  hashPieces(bytes: InputBytes): void {
    const { exports, input, inputSize } = this;
    const view = bytes.view();
    for (let from = 0; from < bytes.length; from += inputSize) {
      const to = Math.min(bytes.length, from + inputSize);
      set(input, subarray(view, from, to));
      exports.hashUpdate(exports.IN.value, to - from);
    }
  }
}

/** A copy of the first bytes of a region. */
export const read = (region: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> =>
  slice(region, 0, length);

const loader = /* @__PURE__ */ moduleLoader({
  plain: PLAIN_MODULE,
  relaxed: RELAXED_MODULE,
  file: 'falconry/falcon.wasm',
  setter: 'useFalconModule',
  landmark: 'hashInit',
});

const machines: { [N in ModuleName]: Machine | undefined } = {
  plain: undefined,
  relaxed: undefined,
};

/**
 * The module's instance; made (in half a millisecond) at the first call.
 *
 * @throws CodedError `NO_WEBASSEMBLY`, `OUT_OF_MEMORY`
 */
export function machine(name: ModuleName): Machine {
  const made = machines[name];
  if (made !== undefined && !made.isLost) return made;
  if (made !== undefined) discard(name, made);
  const started = new Machine(loader.instantiate(name));
  machines[name] = started;
  return started;
}

export { bestModule, checkModule, type ModuleName } from '../wasmLoader.ts';

/** As `useFalconModule` of index.ts. */
export function useModule(module: WebAssembly.Module): void {
  loader.use(module);
  machines[bestModule()] = undefined;
}

/** Compiles the best build without blocking. */
export const compileAsync = (name: ModuleName): Promise<void> => loader.compileAsync(name);

/**
 * Runs `body` on the module's instance.
 *
 * @param holdsSecrets wipes the module's memory afterwards, whatever happens
 * @throws CodedError `REENTERED` if a call is in the module already, `INTERNAL` if the module
 *   trapped; what `body` throws, which costs the instance
 */
export function run<T>(name: ModuleName, holdsSecrets: boolean, body: (machine: Machine) => T): T {
  const running = machine(name);
  if (running.isEntered) throw reentered(name, running);
  running.isEntered = true;
  try {
    if (!holdsSecrets) {
      const result = body(running);
      running.isEntered = false;
      return result;
    }
    const result = apply(body, undefined, running.padded);
    running.exports.wipe();
    fill(running.randomness, 0);
    running.isEntered = false;
    return result;
  } catch (error) {
    // First by a mere assignment: should there be no stack left for the rest, the next call does it.
    running.isLost = true;
    discard(name, running);
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    throw new CodedError('INTERNAL', { cause: error });
  }
}

/** Zeroes an instance and forgets it. */
function discard(name: ModuleName, lost: Machine): void {
  fill(lost.memory, 0);
  fill(lost.randomness, 0);
  if (machines[name] === lost) machines[name] = undefined;
}

/**
 * The refusal of a call within a call. A host that broke a call off (the time limit of a `vm`) left
 * the instance entered as well: that is certain as soon as other work runs, and is cleaned up then.
 */
function reentered(name: ModuleName, running: Machine): CodedError {
  void Promise.resolve().then(() => {
    if (running.isEntered) discard(name, running);
  });
  return new CodedError('REENTERED');
}
