/**
 * Reproducible signing: salt and coins are derived from the key and the message, so that each
 * message has exactly one signature, the same on every host. Callers cannot choose the coins.
 *
 * Two signatures of one point reveal part of the key. A host whose arithmetic differs could produce
 * the second one, so each instance of the module must first reproduce known answers; otherwise it
 * does not sign.
 */
import { InputBytes } from '../shared/arguments.ts';
import { ascii, wipe } from '../shared/bytes.ts';
import { CodedError } from '../shared/errors.ts';
import { lengthOf, set } from '../shared/intrinsics.ts';
import { COMPRESSED, DERIVED, type FalconParams, KINDS, type Kind } from './params.ts';
import { keygen, readSecretKey, runSecret, type SigningOptions, sign } from './sign.ts';
import { type ModuleName, machine, read, run } from './wasm.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * SHAKE256 (32 bytes) of the ordinary, compressed signatures of the empty message under the key of
 * the seed "key-0000", by kind. Those of deterministic Falcon are the first entries of the official
 * lists (test/falcon/deterministic.test.ts), with their salt added.
 */
const KNOWN_ANSWERS = Object.freeze({
  9: [
    'c7cde01f7f63f1879baecd024e3318ca2839ee3b75f451b16c9ccd4223bca587',
    '040a854e1ff6a4dee9ee298ec271700cd506abc40dc57c78bf7cf29e2944ee33',
  ],
  10: [
    '38fd6de155909c1b20277e47e8535dfc308b8e0331faa550dffe43b507737455',
    'dcb7cc6d4d807cc7e960bf0390a11ef797b0db8d00d77450ad7639673ef54177',
  ],
} as const);
const KNOWN_SEED = ascii('key-0000');
const EMPTY = new Uint8Array(0);

/** Signs with a random or a derived salt, according to the options. */
export function signAsAsked(
  module: ModuleName,
  params: FalconParams,
  message: InputBytes,
  secretKey: unknown,
  options: SigningOptions,
): Bytes {
  if (!options.isDerived) return sign(module, params, message, secretKey, options);
  return signReproducibly(module, params, DERIVED, message, secretKey, options.format);
}

/**
 * Signs with derived salt and coins.
 *
 * @param format the module's number of the format
 * @returns an ordinary signature
 * @throws TypeError or RangeError for an invalid key; CodedError `NOT_REPRODUCIBLE` if the module
 *   does not reproduce the known answers, `INTERNAL` if the new signature does not verify
 */
export function signReproducibly(
  module: ModuleName,
  params: FalconParams,
  kind: Kind,
  message: InputBytes,
  secretKey: unknown,
  format: number,
): Bytes {
  // Salt, coins and point are three hashes of the same message, so it is read only once.
  const own = message.copy();
  try {
    // Rejects an invalid key before computing anything.
    readSecretKey(params, secretKey);
    checkAnswers(module, params);
    return compute(module, params, kind, new InputBytes('message', own), secretKey, format);
  } finally {
    wipe(own);
  }
}

/** @throws CodedError `NOT_REPRODUCIBLE` */
function checkAnswers(module: ModuleName, params: FalconParams): void {
  const { reproduces } = machine(module);
  if (reproduces.has(params.logn)) return;
  const { secretKey } = keygen(module, params, new InputBytes('seed', KNOWN_SEED));
  for (const kind of KINDS) {
    const message = new InputBytes('message', EMPTY);
    const answer = compute(module, params, kind, message, secretKey, COMPRESSED);
    if (!isKnown(module, answer, KNOWN_ANSWERS[params.logn][kind])) {
      throw new CodedError('NOT_REPRODUCIBLE');
    }
  }
  reproduces.add(params.logn);
}

function compute(
  module: ModuleName,
  params: FalconParams,
  kind: Kind,
  message: InputBytes,
  secretKey: unknown,
  format: number,
): Bytes {
  const { logn } = params;
  const key = readSecretKey(params, secretKey);
  return runSecret(
    module,
    params,
    (machine) => {
      const { exports } = machine;
      if ('expanded' in key) {
        set(machine.expanded, key.expanded);
      } else {
        key.copyTo(machine.secretKey);
        const status = exports.expandKey(logn);
        if (status < 0) return status;
        exports.absorbKey(logn, kind);
      }
      exports.startCoins(logn, kind);
      machine.eachPiece(message, (length) => exports.updateCoins(kind, exports.IN.value, length));
      exports.finishCoins(kind);
      const messageLength = machine.takeMessage(message, exports.SEED.value);
      return exports.signReproducibly(logn, kind, format, messageLength);
    },
    (machine, length) => read(machine.signature, length),
  );
}

/**
 * Compares the SHAKE256 of a signature, computed by the module that made it, with a value in hex.
 */
const isKnown = (module: ModuleName, signature: Bytes, known: string): boolean =>
  run(module, false, ({ exports, input }) => {
    const at = exports.IN.value;
    set(input, signature);
    exports.hashInit();
    exports.hashUpdate(at, lengthOf(signature));
    exports.hashSqueeze(at, 32);
    let difference = 0;
    for (let i = 0; i < 32; i++) {
      difference |= input[i]! ^ Number.parseInt(known.slice(2 * i, 2 * i + 2), 16);
    }
    return difference === 0;
  });
