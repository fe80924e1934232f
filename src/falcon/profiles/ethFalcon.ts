/**
 * ETHFALCON: Falcon-512 with a hash-to-point function that is cheap on the Ethereum virtual
 * machine, Keccak in counter mode (docs/profiles.md).
 */
import { createFalcon, type Falcon } from '../index.ts';

/** `falcon512` without deterministic signatures, which exist only in round 3. */
export type EthFalcon = Omit<Falcon, 'det'>;

/**
 * Falcon-512 in the profile `eth-falcon`. It uses the keys of `falcon512`, but the signatures of
 * one do not verify with the other.
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
