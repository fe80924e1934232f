/**
 * The single instance of the module: copies bytes into and out of its regions, one call at a time,
 * and leaves no data behind.
 *
 * Calls are synchronous from copy-in to copy-out and never overlap. After any exception the
 * instance is discarded: its memory may be in any state, so it is zeroed, and the next call creates
 * a new instance.
 */

import type { InputBytes } from '../shared/arguments.ts';
import { CodedError } from '../shared/errors.ts';
import type { WasmInstance, WasmModule } from '../shared/hostTypes.ts';
import { apply, fill, set, slice, subarray } from '../shared/intrinsics.ts';
import {
  bestModule,
  type ModuleLoader,
  type ModuleName,
  type ModuleSource,
  moduleLoader,
} from '../shared/wasmLoader.ts';
import { EDITS } from './falcon.relaxed.wasm.gen.ts';
import { type FalconExports, MODULE } from './falcon.wasm.gen.ts';
import { SALT_BYTES } from './params.ts';

/** Sizes of the regions in bytes, see assembly/falcon/layout.ts. */
const SIZES = {
  PK: 1793,
  SIG: 1577,
  PREPARED: 4096,
  SHAKE: 208,
  SK: 2305,
  SEED: 128,
  EXPANDED: 111_616,
} as const;
const PREPARED_KEY_BYTES = 4096;

/**
 * The memory of an instance. Each region is a separate view, so that a write to one cannot reach
 * another.
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
  /** The state of the streamed hash. */
  readonly sponge: Uint8Array<ArrayBuffer>;
  readonly secretKey: Uint8Array<ArrayBuffer>;
  readonly seed: Uint8Array<ArrayBuffer>;
  readonly expanded: Uint8Array<ArrayBuffer>;
  readonly batchData: Uint8Array<ArrayBuffer>;
  readonly batchKeys: Uint8Array<ArrayBuffer>;
  /**
   * The arguments of a call that holds secrets: this machine, and a few kilobytes of unused
   * padding. The padding occupies stack during the call and so reserves room for the wiping
   * afterwards, even if the call ended with a stack overflow.
   */
  readonly padded: readonly [Machine, ...undefined[]] = [this, ...new Array(512).fill(undefined)];
  /** Degrees (logn) whose known answers the instance has reproduced: coins.ts. */
  readonly reproduces = new Set<number>();
  /** True while a call is inside the module. */
  isEntered = false;
  /** True once a call has ended with an exception. */
  isLost = false;

  constructor(instance: WasmInstance) {
    const exports = instance.exports as unknown as FalconExports;
    const buffer = exports.memory.buffer; // never grows, so views stay valid
    // The verification module has no regions for secrets.
    const region = (at: { readonly value: number } | undefined, length: number) =>
      at === undefined ? new Uint8Array(0) : new Uint8Array(buffer, at.value, length);
    this.exports = exports;
    this.memory = new Uint8Array(buffer);
    this.inputSize = exports.IN_SIZE.value;
    this.input = region(exports.IN, this.inputSize);
    this.publicKey = region(exports.PK, SIZES.PK);
    this.signature = region(exports.SIG, SIZES.SIG);
    this.prepared = region(exports.PREPARED, SIZES.PREPARED);
    this.sponge = region(exports.SHAKE, SIZES.SHAKE);
    this.secretKey = region(exports.SK, SIZES.SK);
    this.seed = region(exports.SEED, SIZES.SEED);
    this.expanded = region(exports.EXPANDED, SIZES.EXPANDED);
    this.batchData = region(exports.BATCH_DATA, exports.BATCH_DATA_SIZE.value);
    this.batchKeys = region(exports.BATCH_PREPARED, exports.BATCH_KEYS.value * PREPARED_KEY_BYTES);
  }

  /**
   * Passes a message to the module: as a whole in IN, or, if it is too long, hashed piece by piece
   * after its salt.
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
    this.exports.hashUpdate(saltAt, SALT_BYTES);
    this.hashPieces(message);
    return -1;
  }

  /** Hashes bytes of any length through IN. */
  hashPieces(bytes: InputBytes): void {
    const { exports } = this;
    this.eachPiece(bytes, (length) => exports.hashUpdate(exports.IN.value, length));
  }

  /** Copies bytes of any length into IN, piece by piece. */
  eachPiece(bytes: InputBytes, take: (length: number) => void): void {
    const { input, inputSize } = this;
    const view = bytes.view();
    for (let from = 0; from < bytes.length; from += inputSize) {
      const to = Math.min(bytes.length, from + inputSize);
      set(input, subarray(view, from, to));
      take(to - from);
    }
  }
}

/** Copies the first bytes of a region. */
export const read = (region: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> =>
  slice(region, 0, length);

/** Only the build without floating point exports this. */
const ON_INTEGERS = 'ON_INTEGERS';

const loader = /* @__PURE__ */ moduleLoader({
  plain: MODULE,
  relaxed: EDITS,
  file: 'falconry/falcon.wasm',
  setter: 'useFalconModule',
  landmark: 'hashInit',
  foreign: ON_INTEGERS,
});

let integerLoader: ModuleLoader | undefined;

/** Supplies the build without floating point, which only `falconry/integer` contains. */
export function provideInteger(module: ModuleSource['plain']): ModuleName {
  integerLoader ??= moduleLoader({
    plain: module,
    relaxed: undefined,
    file: 'falconry/falcon.integer.wasm',
    setter: 'useFalconModule',
    landmark: ON_INTEGERS,
  });
  return 'integer';
}

const loaderOf = (name: ModuleName): ModuleLoader => (name === 'integer' ? integerLoader! : loader);

const machines: { [N in ModuleName]?: Machine | undefined } = {};

/**
 * Returns the module's instance; the first call creates it, in half a millisecond.
 *
 * @throws CodedError `NO_WEBASSEMBLY`, `OUT_OF_MEMORY`
 */
export function machine(name: ModuleName): Machine {
  const made = machines[name];
  if (made !== undefined && !made.isLost) return made;
  const started = new Machine(loaderOf(name).instantiate(name));
  machines[name] = started;
  return started;
}

export { bestModule, checkModule, type ModuleName } from '../shared/wasmLoader.ts';

/** See `useFalconModule` in index.ts. */
export function useModule(module: WasmModule, name: ModuleName = bestModule()): void {
  loaderOf(name).use(module, name);
  machines[name] = undefined;
}

/** Compiles the best build without blocking. */
export const compileAsync = (name: ModuleName): Promise<void> => loaderOf(name).compileAsync(name);

/** A local name: some bundlers compile imports to getters, which need stack. */
const zero = fill;

/**
 * Runs `body` on the module's instance.
 *
 * @param holdsSecrets wipe the module's memory afterwards, also after an exception
 * @throws CodedError `REENTERED` if a call is already inside the module, `INTERNAL` if the module
 *   trapped; any error of `body`; the instance is discarded after an error
 */
export function run<T>(name: ModuleName, holdsSecrets: boolean, body: (machine: Machine) => T): T {
  const running = machine(name);
  if (running.isEntered) throw reentered(running);
  running.isEntered = true;
  try {
    if (!holdsSecrets) {
      const result = body(running);
      running.isEntered = false;
      return result;
    }
    const result = apply(body, undefined, running.padded);
    running.exports.wipe();
    running.isEntered = false;
    return result;
  } catch (error) {
    // No function calls here: a function that is not compiled yet may not find enough stack.
    running.isLost = true;
    zero(running.memory, 0);
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    throw new CodedError('INTERNAL', { cause: error });
  }
}

/**
 * Creates the error for a nested call. If the host interrupted a call (the time limit of a `vm`),
 * the instance still counts as entered. Once other work runs, the call has certainly ended, and the
 * instance is cleaned up.
 */
function reentered(running: Machine): CodedError {
  void Promise.resolve().then(() => {
    if (!running.isEntered) return;
    running.isLost = true;
    zero(running.memory, 0);
  });
  return new CodedError('REENTERED');
}
