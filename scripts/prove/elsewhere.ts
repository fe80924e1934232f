/**
 * Contracts of generated kernels, whose sources have none. The declarations are read as text, with
 * the grammar of contracts.ts; nothing calls them.
 */
type usize = number;

/**
 * Shape:  a: i16[64] -> out: i16[64]
 * Bounds: |a| <= (p + 1) / 2 -> |out| <= r
 * Memory: a, out
 * Proof:  residues(15, formToCoefs), prime in {0, 1, 2, 3, 4, 5}
 */
export declare function inverseOfForm(out: usize, a: usize, table: usize): void;

/**
 * Shape:  a: i32[64] -> out: i16[64]
 * Bounds: |a| <= 6940 * 29753 -> |out| <= r
 * Memory: a, out
 * Proof:  residues(46, manySumsToCoefs), prime in {0, 1, 2, 3, 4, 5}
 */
export declare function inverseOfSums(out: usize, a: usize, table: usize): void;

/**
 * Shape:  state: u64[25] -> state: u64[25]
 * Memory: state
 * Secret: state
 * Proof:  keccak(1)
 */
export declare function keccakF(state: usize): void;

/**
 * Shape:  state: u64[25][2] -> state: u64[25][2]
 * Memory: state
 * Secret: state
 * Proof:  keccak(2)
 */
export declare function keccakF2(state: usize): void;

/**
 * Shape:  key: u32[12] -> out: u32[16][8]
 * Memory: key, out, KEY
 * Secret: key
 * Proof:  chacha20()
 */
export declare function chacha20(out: usize, key: usize): void;
