/**
 * Falcon-512 and Falcon-1024: key generation, signing, verification. One object per parameter set,
 * with the argument order of @noble/post-quantum.
 */

import { readOptions } from '../shared/arguments.ts';
import type { WasmModule } from '../shared/hostTypes.ts';
import type { Falcon, FalconOptions } from './falcon.ts';
import { falconOn } from './falconOn.ts';
import { paramsIn } from './params.ts';
import type { ParameterSet } from './types.ts';
import { bestModule, checkModule, compileAsync, useModule } from './wasm.ts';

export type { ModuleName } from '../shared/wasmLoader.ts';
export type * from './det.ts';
export type { Falcon, FalconAttached, FalconOptions } from './falcon.ts';
export type { FalconLengths } from './params.ts';
export type * from './types.ts';
export {
  createVerifyPool,
  type VerifyPool,
  type VerifyPoolBatchOptions,
  type VerifyPoolOptions,
  type VerifyPoolStats,
} from './verifyPool.ts';

/**
 * Creates the object of a parameter set for a given profile and module. Normally, import
 * `falcon512` or `falcon1024` instead.
 *
 * @throws RangeError for an unknown parameter set, profile or module, or a module that this engine
 *   cannot run; TypeError for unknown options
 */
export function createFalcon(parameterSet: ParameterSet, options?: FalconOptions): Falcon {
  const { module: asked, profile = 'round3' } = readOptions(options, ['module', 'profile']);
  if (profile !== 'round3' && profile !== 'eth-falcon') {
    throw new RangeError('"profile" expected "round3" or "eth-falcon"');
  }
  const params = paramsIn(profile, parameterSet);
  return falconOn(asked === undefined ? bestModule() : checkModule(asked), params);
}

/** Falcon-512, NIST security level 1. See {@link Falcon} for its methods. */
export const falcon512: Falcon = /* @__PURE__ */ createFalcon('falcon512');
/** Falcon-1024, NIST security level 5. See {@link Falcon} for its methods. */
export const falcon1024: Falcon = /* @__PURE__ */ createFalcon('falcon1024');

/**
 * Compiles the module without blocking. Optional: otherwise, the first call compiles it. Call this
 * early on pages whose main thread must not block, and on hosts that do not allow synchronous
 * compilation.
 *
 * @throws CodedError `NO_WEBASSEMBLY`, `OUT_OF_MEMORY` if the host cannot compile it (as the
 *   promise's rejection)
 */
export async function ready(): Promise<void> {
  await compileAsync(bestModule());
}

/**
 * Supplies a compiled module, for hosts that only compile ahead of time (Cloudflare's workerd).
 * Call this before any other function; `falcon512` and `falcon1024` then use the module.
 *
 * @param module `falconry/falcon.wasm`, or `falconry/falcon.relaxed.wasm` if the engine has relaxed
 *   SIMD
 * @throws TypeError if it is not a compiled module, RangeError if it is a different module;
 *   CodedError `NO_WEBASSEMBLY`
 * @example
 * ```ts
 * import wasm from 'falconry/falcon.wasm';
 * useFalconModule(wasm);
 * ```
 */
export function useFalconModule(module: WasmModule): void {
  useModule(module);
}
