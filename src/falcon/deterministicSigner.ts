/** Deterministic Falcon, including signing. */
import { readBytes, readOptions } from '../shared/arguments.ts';
import { signReproducibly } from './coins.ts';
import type { FalconDeterministic } from './det.ts';
import { createDeterministicVerifier, readForm, withoutSalt } from './deterministic.ts';
import { DETERMINISTIC, type FalconParams } from './params.ts';
import type { ModuleName } from './wasm.ts';

export function createDeterministic(module: ModuleName, params: FalconParams): FalconDeterministic {
  return Object.freeze({
    ...createDeterministicVerifier(module, params),
    sign(message, secretKey, options) {
      const input = readBytes('message', message);
      const { format = 'compressed' } = readOptions(options, ['format']);
      const number = readForm(format);
      const salted = signReproducibly(module, params, DETERMINISTIC, input, secretKey, number);
      return withoutSalt(salted);
    },
  } satisfies FalconDeterministic);
}
