/** The options of `falconry/noble`: names and errors as in @noble/post-quantum 0.7. */
import { readOptions } from '../../../shared/arguments.ts';

/** noble's `VerOpts`. */
export interface NobleVerifyOptions {
  /** Not supported by Falcon: any value but undefined throws. */
  readonly context?: Uint8Array;
}

/** noble's `SigOpts`, and the option that only its Falcon has. */
export interface NobleSignOptions extends NobleVerifyOptions {
  /**
   * 48 bytes, or `false` for zeros: makes the signature a function of these bytes, key and message.
   * Default: fresh randomness.
   */
  readonly extraEntropy?: Uint8Array | false;
  /**
   * Returns 40 bytes for the salt, then 48 for the sampler's seed. Only for known-answer tests:
   * signing two messages with the same bytes reveals the key.
   */
  readonly random?: (length?: number) => Uint8Array;
}

/** @throws TypeError for unknown options, Error for a context */
export function checkVerifyOptions(options: unknown): void {
  refuseContext(readOptions(options, ['context'], 'opts').context);
}

/** @throws TypeError for unknown options or wrong types, Error for a context */
export function checkSigningOptions(
  options: unknown,
): Pick<NobleSignOptions, 'extraEntropy' | 'random'> {
  const read = readOptions(options, ['context', 'extraEntropy', 'random'], 'opts');
  refuseContext(read.context);
  if (read.random !== undefined && typeof read.random !== 'function') {
    throw new TypeError(`"opts.random" expected function, got type=${typeof read.random}`);
  }
  return read as Pick<NobleSignOptions, 'extraEntropy' | 'random'>;
}

function refuseContext(context: unknown): void {
  if (context !== undefined) throw new Error('context is not supported');
}
