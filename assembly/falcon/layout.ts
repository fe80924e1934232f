/**
 * The module's memory: fixed, declared here region by region; nothing is allocated later.
 *
 *   IN        message bytes, one chunk          caller -> module     public
 *   PK        public key, encoded               both ways            public
 *   SIG       signature, encoded                both ways            public
 *   PREPARED  prepared public key               both ways            public
 *   SHAKE     sponge state of the streamed hash module               secret while signing
 *   SK        secret key, encoded               both ways            secret
 *   SEED      salt (40) || sampler seed (48)    caller -> module     secret
 *   EXPANDED  expanded secret key               both ways            secret
 *   TMP       scratch of keygen, sign, verify   module               secret
 *
 * Sizes are those of n = 1024. `wipe` clears every secret region.
 */
export const IN_SIZE: i32 = 8192;
export const IN: usize = memory.data(8192 + 64, 64);
export const PK: usize = memory.data(1793 + 31, 64);
export const SIG: usize = memory.data(1577 + 31, 64);
export const PREPARED: usize = memory.data(4096, 64);
export const SHAKE: usize = memory.data(256, 64);
export const SK: usize = memory.data(2305 + 31, 64);
export const SEED: usize = memory.data(96, 64);
