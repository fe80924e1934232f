/**
 * Scratch of key generation: one region, all of it secret. Sizes for n = 1024; W = a 32-bit word.
 *
 *   FG        f and g at every depth, plain      8192 W    8132: sum of small(d) max(4, 2n/2^d)
 *   CURRENT   (F, G) of the level below          1024 W    largest of these for d >= 1
 *   WIDE      (F, G) before reduction            2560 W    largest large(d) max(4, 2n/2^d): depth 2
 *   ROW       residues mod one prime             4096 W    2n, and 2n more at the two top levels
 *   CRT       products and residues              2688 W    2 * 308 words, 2n residues
 *   PRODUCT   k f, k g; f, g mod primes          3072 W    2 * 3 * 512: depth 2
 *   FLOATS    FFT work                          28672 B    3.5 n doubles
 *   SMALL     f, g, F, G                         4096 B    4n
 *   STREAM    bytes of SHAKE, values drawn       1216 B    1088, and one byte for every 16 of them
 *
 * In all 120,512 bytes: about 118 n.
 */
export const KEYGEN_SIZE: i32 = 4 * (8192 + 1024 + 2560 + 4096 + 2688 + 3072) + 28672 + 4096 + 1216;
export const KEYGEN: usize = memory.data(
  4 * (8192 + 1024 + 2560 + 4096 + 2688 + 3072) + 28672 + 4096 + 1216,
  64,
);

export const FG: usize = KEYGEN;
export const CURRENT: usize = FG + 4 * 8192;
export const WIDE: usize = CURRENT + 4 * 1024;
export const ROW: usize = WIDE + 4 * 2560;
export const CRT: usize = ROW + 4 * 4096;
export const PRODUCT_KFG: usize = CRT + 4 * 2688;
export const FLOATS: usize = PRODUCT_KFG + 4 * 3072;
export const FLOATS_SIZE: i32 = 28672;
export const SMALL: usize = FLOATS + 28672;
export const STREAM: usize = SMALL + 4096;
