/** SHA-3 and SHAKE128, using the permutation of Falcon's module. */
import { fill, lengthOf, set, subarray } from '../../shared/intrinsics.ts';
import { bestModule, read, run } from '../wasm.ts';

/** Bytes per block in the module: the rate of SHAKE256. */
const MODULE_RATE = 136;
/** The largest rate, that of SHAKE128. */
const WIDEST = 168;

interface Sponge {
  /** Bytes per block, a multiple of 8. */
  readonly rate: number;
  /** Domain bits and first padding bit, lowest first. */
  readonly domain: number;
  /** Bytes of output, at most the rate. */
  readonly length: number;
}

/** FIPS 202, sections 6.1 and 6.2: the rate is 200 minus twice the bytes of security. */
export const SHA3_256: Sponge = { rate: 136, domain: 0x06, length: 32 };
export const SHA3_384: Sponge = { rate: 104, domain: 0x06, length: 48 };
export const SHA3_512: Sponge = { rate: 72, domain: 0x06, length: 64 };
export const SHAKE128_256: Sponge = { rate: 168, domain: 0x1f, length: 32 };

/**
 * Hashes a message (FIPS 202, section 4, with one block of output).
 *
 * The module absorbs 136 bytes at a time. A shorter block is padded with zeros, which have no
 * effect. The end of a longer one is XORed into the state first.
 */
export const sponge = (
  { rate, domain, length }: Sponge,
  message: Uint8Array,
): Uint8Array<ArrayBuffer> =>
  run(bestModule(), false, ({ exports, input, sponge: state }) => {
    const block = new Uint8Array(WIDEST);
    exports.hashInit();
    for (let from = 0, isLast = false; !isLast; from += rate) {
      const piece = subarray(message, from, from + rate);
      const filled = lengthOf(piece);
      fill(block, 0);
      set(block, piece);
      isLast = filled < rate;
      if (isLast) {
        block[filled]! ^= domain;
        block[rate - 1]! ^= 0x80;
      }
      for (let i = MODULE_RATE; i !== WIDEST; i++) state[i]! ^= block[i]!;
      set(input, subarray(block, 0, MODULE_RATE));
      exports.hashUpdate(exports.IN.value, MODULE_RATE);
    }
    return read(state, length);
  });
