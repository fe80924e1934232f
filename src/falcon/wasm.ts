/**
 * The only file that sees `WebAssembly`: picks a module, makes its one instance, and gives bytes in and out of its regions.
 *
 * Calls are synchronous from copy-in to copy-out and never overlap. A call that traps throws the instance away: its memory
 * may be in any state, and the next call makes a fresh one.
 */
import { CodedError } from '../errors.ts';
import { moduleBytes } from '../moduleEdits.ts';
import { EDITS } from './falcon.relaxed.wasm.gen.ts';
import { type FalconExports, MODULE } from './falcon.wasm.gen.ts';

/** `relaxed` uses relaxed SIMD instructions, on inputs for which they are exact; the results are the same. */
export type ModuleName = 'plain' | 'relaxed';

/** The memory of an instance and where its regions are. */
export class Machine {
  readonly exports: FalconExports;
  readonly memory: Uint8Array;
  readonly IN: number;
  readonly PK: number;
  readonly SIG: number;
  readonly PREPARED: number;
  readonly inSize: number;

  constructor(instance: WebAssembly.Instance) {
    const exports = instance.exports as unknown as FalconExports;
    this.exports = exports;
    this.memory = new Uint8Array(exports.memory.buffer); // never grows, so views stay good
    this.IN = exports.IN.value;
    this.PK = exports.PK.value;
    this.SIG = exports.SIG.value;
    this.PREPARED = exports.PREPARED.value;
    this.inSize = exports.IN_SIZE.value;
  }

  /**
   * Puts a message where the module looks for it: all of it in IN, or, if it is longer, hashed piece by piece after its salt.
   *
   * @returns the `messageLen` argument of the module's functions
   */
  takeMessage(message: Uint8Array, saltAt: number): number {
    const { exports, memory, IN, inSize } = this;
    if (message.length <= inSize) {
      memory.set(message, IN);
      return message.length;
    }
    exports.hashInit();
    exports.hashUpdate(saltAt, 40);
    for (let from = 0; from < message.length; from += inSize) {
      const piece = message.subarray(from, from + inSize);
      memory.set(piece, IN);
      exports.hashUpdate(IN, piece.length);
    }
    return -1;
  }

  /** A copy of `length` bytes of memory. */
  read(at: number, length: number): Uint8Array {
    return this.memory.slice(at, at + length);
  }
}

/**
 * A module of one function that uses one instruction of relaxed SIMD, which only engines with relaxed SIMD accept:
 *
 *   magic, version | type () -> v128 | function 0 | code: i32.const 0, i16x8.splat, the same, i16x8.relaxed_q15mulr_s
 */
const RELAXED_PROBE = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x0f, 0x01, 0x0d, 0x00],
  ...[0x41, 0x00, 0xfd, 0x10, 0x41, 0x00, 0xfd, 0x10],
  ...[0xfd, 0x91, 0x02, 0x0b],
);

let relaxedIsSupported: boolean | undefined;

/** The module this engine can run best. */
export function bestModule(): ModuleName {
  relaxedIsSupported ??= WebAssembly.validate(RELAXED_PROBE);
  return relaxedIsSupported ? 'relaxed' : 'plain';
}

/**
 * @throws RangeError if it is not a module's name, or one that this engine cannot run
 */
export function checkModule(name: ModuleName): ModuleName {
  if (name !== 'plain' && name !== 'relaxed') {
    throw new RangeError('"module" expected "plain" or "relaxed"');
  }
  if (name === 'relaxed' && bestModule() !== 'relaxed') {
    throw new RangeError('this engine has no relaxed SIMD');
  }
  return name;
}

const compiled = new Map<ModuleName, WebAssembly.Module>();
const machines = new Map<ModuleName, Machine>();

/** The module's instance; made (in half a millisecond) at the first call. */
export function machine(name: ModuleName): Machine {
  return machines.get(name) ?? start(name);
}

function start(name: ModuleName): Machine {
  let module = compiled.get(name);
  if (module === undefined) {
    module = new WebAssembly.Module(bytesOf(name));
    compiled.set(name, module);
  }
  const started = new Machine(new WebAssembly.Instance(module));
  machines.set(name, started);
  return started;
}

/**
 * Runs everything that asks for no particular build on a module that the host has compiled.
 *
 * @throws TypeError if it is not a compiled module, RangeError if it is not this one (of either build)
 */
export function useModule(module: WebAssembly.Module): void {
  const exported =
    module instanceof WebAssembly.Module ? WebAssembly.Module.exports(module) : undefined;
  if (exported === undefined) throw new TypeError('"module" expected a WebAssembly.Module');
  if (!exported.some(({ name }) => name === 'hashInit')) {
    throw new RangeError('"module" is another WebAssembly module than the one expected here');
  }
  compiled.set(bestModule(), module);
  machines.delete(bestModule());
}

/** Compiles without blocking, for hosts that want it or insist on it. */
export async function compileAsync(name: ModuleName): Promise<void> {
  if (compiled.has(name)) return;
  compiled.set(name, await WebAssembly.compile(bytesOf(name)));
}

/**
 * Runs `body` on the module's instance. Secrets are cleared afterwards, whatever happens, when `wipes` is set.
 *
 * @throws CodedError `INTERNAL` if the module trapped
 */
export function run<T>(name: ModuleName, wipes: boolean, body: (machine: Machine) => T): T {
  const running = machine(name);
  try {
    return body(running);
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    machines.delete(name);
    if (wipes) running.memory.fill(0);
    throw new CodedError('INTERNAL', { cause: error });
  } finally {
    if (wipes) running.exports.wipe();
  }
}

/** Throws the instance away; for statuses that only a fault can cause. */
export function discard(name: ModuleName, status: number): CodedError {
  machines.get(name)?.memory.fill(0);
  machines.delete(name);
  return new CodedError('INTERNAL', { cause: new Error(`status ${status}`) });
}

const bytesOf = (name: ModuleName): Uint8Array<ArrayBuffer> =>
  moduleBytes(MODULE, name === 'relaxed' ? EDITS : undefined);
