/** The object of a parameter set, on a build of the module: see `createFalcon`. */
import { copyBytes, InputBytes, readBytes, readOptions } from '../shared/arguments.ts';
import { invalidSeal, seal, unseal } from './attached.ts';
import { signAsAsked } from './coins.ts';
import { createDeterministic } from './deterministicSigner.ts';
import type { Falcon, FalconAttached } from './falcon.ts';
import { COMPRESSED, type FalconParams, paramsOf } from './params.ts';
import { expand, keygen, publicKeyOf, readSeed, readSigningOptions } from './sign.ts';
import { signStream } from './stream.ts';
import { createVerifier } from './verifier.ts';
import { readPublicKey, verifyOne } from './verify.ts';
import { type ModuleName, run } from './wasm.ts';

export function falconOn(module: ModuleName, params: FalconParams): Falcon {
  return Object.freeze({
    ...createVerifier(params, module),
    attached: createAttached(module, params),
    det: createDeterministic(module, paramsOf(params.name)),
    keygen: (seed, options) => keygen(module, params, readSeed(seed, options)),
    getPublicKey: (secretKey) => publicKeyOf(module, params, secretKey),
    sign(message, secretKey, signOptions) {
      const input = readBytes('message', message);
      const read = readSigningOptions(params, signOptions, ['format', 'testSeed', 'salt']);
      return signAsAsked(module, params, input, secretKey, read);
    },
    signStream: (stream, secretKey, options) =>
      signStream(module, params, stream, secretKey, options),
    expandSecretKey: (secretKey) => expand(module, params, secretKey),
  } satisfies Falcon);
}

function createAttached(module: ModuleName, params: FalconParams): FalconAttached {
  return Object.freeze({
    seal(message, secretKey, sealOptions) {
      // A copy, so that the sealed message is the signed one.
      const copy = copyBytes('message', message);
      const options = readSigningOptions(params, sealOptions, ['testSeed', 'salt']);
      const input = new InputBytes('message', copy);
      return seal(params, copy, signAsAsked(module, params, input, secretKey, options));
    },
    open(sealed, publicKey, noOptions) {
      const input = readBytes('sealed', sealed);
      const key = readPublicKey('publicKey', params, publicKey);
      readOptions(noOptions, []);
      const parts = unseal(params, input);
      if (parts === undefined) throw invalidSeal();
      const signature = new InputBytes('signature', parts.signature);
      const message = new InputBytes('message', parts.message);
      const isValid = run(
        module,
        false,
        // Zero padding is valid only in detached signatures.
        (machine) => verifyOne(machine, params, signature, message, key, COMPRESSED) === undefined,
      );
      if (!isValid) throw invalidSeal();
      return parts.message;
    },
  } satisfies FalconAttached);
}
