/**
 * The entry `falconry/integer`: Falcon without floating point. Keys, signatures and verdicts are
 * those of `falconry`, bit for bit, and expanded keys serve both; signing takes about six times as
 * long. The package builds it with the module `falcon.integer.wasm` alone.
 */
import type { WasmModule } from '../shared/hostTypes.ts';
import { MODULE } from './falcon.integer.wasm.gen.ts';
import type { Falcon } from './falcon.ts';
import { falconOn } from './falconOn.ts';
import { paramsIn } from './params.ts';
import type { EthFalcon } from './profiles/ethFalcon.ts';
import { createDraft } from './profiles/fnDsaScheme.ts';
import type { FnDsaDraft } from './profiles/fnDsaTypes.ts';
import type { ParameterSet } from './types.ts';
import { compileAsync, provideInteger, useModule } from './wasm.ts';

export { CodedError } from '../shared/errors.ts';
export type { ModuleName } from '../shared/wasmLoader.ts';
export type * from './det.ts';
export type { Falcon, FalconAttached } from './falcon.ts';
export type { FalconLengths } from './params.ts';
export type { EthFalcon } from './profiles/ethFalcon.ts';
export type { FnDsaMessageOptions, PreHash } from './profiles/fnDsaMessage.ts';
export type * from './profiles/fnDsaTypes.ts';
export type * from './types.ts';

const round3 = (parameterSet: ParameterSet): Falcon =>
  falconOn(provideInteger(MODULE), paramsIn('round3', parameterSet));

/** Falcon-512. See {@link Falcon} for its methods. */
export const falcon512: Falcon = /* @__PURE__ */ round3('falcon512');
/** Falcon-1024. See {@link Falcon} for its methods. */
export const falcon1024: Falcon = /* @__PURE__ */ round3('falcon1024');

function ethFalcon(): EthFalcon {
  const { det: _, ...own } = falconOn(provideInteger(MODULE), paramsIn('eth-falcon', 'falcon512'));
  return Object.freeze(own);
}

/** ETHFALCON. */
export const ethFalcon512: EthFalcon = /* @__PURE__ */ ethFalcon();

const draft = (name: FnDsaDraft['name'], parameterSet: ParameterSet): FnDsaDraft =>
  createDraft(name, parameterSet, provideInteger(MODULE));

/** The FN-DSA draft, n = 512. */
export const fnDsaDraft512: FnDsaDraft = /* @__PURE__ */ draft('fnDsaDraft512', 'falcon512');
/** The FN-DSA draft, n = 1024. */
export const fnDsaDraft1024: FnDsaDraft = /* @__PURE__ */ draft('fnDsaDraft1024', 'falcon1024');

/** Compiles the module without blocking: as `ready` of `falconry`. */
export async function ready(): Promise<void> {
  await compileAsync(provideInteger(MODULE));
}

/**
 * Supplies the compiled `falconry/falcon.integer.wasm`: as `useFalconModule` of `falconry`, whose
 * modules it refuses (RangeError).
 */
export function useFalconModule(module: WasmModule): void {
  useModule(module, provideInteger(MODULE));
}
