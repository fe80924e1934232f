/**
 * ETHFALCON: Falcon-512 with a hash to point that is cheap on the Ethereum virtual machine, Keccak
 * in counter mode (docs/profiles.md).
 */
import { createFalcon, type Falcon } from '../index.ts';

/** All of `falcon512` but its deterministic signatures, which are of round 3. */
export type EthFalcon = Omit<Falcon, 'det'>;

/**
 * Falcon-512 in the profile `eth-falcon`. Keys are those of `falcon512`; signatures of one do not
 * verify as those of the other.
 *
 * @example
 * ```ts
 * const { publicKey, secretKey } = ethFalcon512.keygen();
 * const signature = ethFalcon512.sign(message, secretKey, { format: 'padded' });
 * ethFalcon512.verify(signature, message, publicKey); // true
 * ```
 */
export const ethFalcon512: EthFalcon = /* @__PURE__ */ create();

function create(): EthFalcon {
  const { det: _, ...own } = createFalcon('falcon512', { profile: 'eth-falcon' });
  return Object.freeze(own);
}
