/**
 * The module's memory: fixed, declared here region by region; nothing is allocated later.
 *
 *   IN        message bytes, one chunk            caller -> module     the signer's own
 *   PK        public key, encoded                 both ways            public
 *   SIG       signature, encoded                  both ways            public
 *   PREPARED  prepared public key                 both ways            public
 *   SHAKE     sponge state of the streamed hash   module               secret while signing
 *   SK        secret key, encoded                 both ways            secret
 *   SEED      salt (40) || sampler seed (48), or  caller -> module     secret
 *             seed of a key (at most 128)
 *   POINT     hash point, raw, n and slack        module, both ways    the signer's own
 *   S2        signature coefficients, i16[n]      module, both ways    public
 *   PRODUCT   working copy of s2, h or s1         module, both ways    public
 *   COUNTER   one block of Keccak-256             module               the signer's own
 *   WORDS     compressed s2 in 64-bit words       module               public
 *   PAIRS     its coefficients, not yet judged    module               public
 *   BATCH_*   records, data, keys of verifyBatch  caller -> module     public
 *
 * Regions of signing and key generation are declared where they are used. Sizes are those of
 * n = 1024. `wipe` clears every region but PK, SIG and those of verification.
 */
export const IN_SIZE: i32 = 8192;
export const IN: usize = memory.data(8192 + 64, 64);
export const PK: usize = memory.data(1793 + 31, 64);
export const SIG: usize = memory.data(1577 + 31, 64);
export const PREPARED: usize = memory.data(4096, 64);
export const SHAKE: usize = memory.data(256, 64);
export const SK: usize = memory.data(2305 + 31, 64);
export const SEED: usize = memory.data(128, 64);

/** i16[n], and room for the block that rejection may write beyond. */
export const POINT_SIZE: i32 = 2048 + 192;
export const POINT: usize = memory.data(2048 + 192, 64);
/** A sponge state; see profile.ts. */
export const COUNTER: usize = memory.data(256, 64);
export const S2: usize = memory.data(2048, 64);
export const PRODUCT: usize = memory.data(2048, 64);
/** 1421 bytes, rounded up to vectors, and 48 zeros. */
export const WORDS: usize = memory.data(1424 + 48, 64);
export const PAIRS: usize = memory.data(2048, 64);

/** Maximum number of items in one call of verifyBatch. */
export const BATCH_ITEMS: i32 = 32;
/** Number of prepared keys kept for the items of a call. */
export const BATCH_KEYS: i32 = 32;
/** i32[6] per item, see verifyBatch.ts. */
export const BATCH_RECORDS: usize = memory.data(32 * 24, 64);
export const BATCH_DATA_SIZE: i32 = 65536;
export const BATCH_DATA: usize = memory.data(65536 + 256, 64);
export const BATCH_PREPARED: usize = memory.data(32 * 4096, 64);
/** Two interleaved sponge states. */
export const TWO_STATES: usize = memory.data(400, 64);
export const POINT_B: usize = memory.data(2048 + 192, 64);
