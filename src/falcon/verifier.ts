/** The part of `Falcon` that needs no secret key, without secret-key code. */
import { copyBytes, readBytes } from '../shared/arguments.ts';
import type { ModuleName } from '../shared/wasmLoader.ts';
import { Batch, readItems } from './batch.ts';
import type { Falcon } from './falcon.ts';
import { PreparedKey } from './keys.ts';
import type { FalconParams } from './params.ts';
import { verifyStream } from './stream.ts';
import { prepareKey, readPublicKey, readVerifyOptions, verifyOne } from './verify.ts';
import { run } from './wasm.ts';

/** The verifying part of `Falcon`. */
export interface FalconVerifier
  extends Pick<
    Falcon,
    | 'name'
    | 'profile'
    | 'lengths'
    | 'module'
    | 'verify'
    | 'verifyStream'
    | 'preparePublicKey'
    | 'verifyBatch'
  > {}

export function createVerifier(params: FalconParams, module: ModuleName): FalconVerifier {
  return Object.freeze({
    name: params.name,
    profile: params.profile,
    lengths: params.lengths,
    module,
    verify(signature, message, publicKey, options) {
      const input = readBytes('signature', signature);
      const signed = readBytes('message', message);
      const key = readPublicKey('publicKey', params, publicKey);
      const format = readVerifyOptions(options);
      return run(
        module,
        false,
        (machine) => verifyOne(machine, params, input, signed, key, format) === undefined,
      );
    },
    verifyStream: (signature, stream, publicKey, options) =>
      verifyStream(module, params, signature, stream, publicKey, options),
    preparePublicKey(publicKey) {
      const key = copyBytes('publicKey', publicKey, params.lengths.publicKey);
      const prepared = run(module, false, (machine) => prepareKey(machine, params, key));
      if (typeof prepared !== 'string') return new PreparedKey(prepared);
      throw new RangeError(`"publicKey" is not a public key of ${params.name}: ${prepared}`);
    },
    verifyBatch(items, options) {
      const input = readItems(items, params);
      const format = readVerifyOptions(options);
      return run(module, false, (machine) => new Batch(machine, params, input, format).run());
    },
  } satisfies FalconVerifier);
}
