/**
 * The places of the module at which calls with different secrets may do different things, each with
 * its reason. The test holds the list to be exact: a place that differs and is not here fails, and
 * so does one that is here and never differs.
 *
 * A place is `file/function: kind: line of the sources` (the function may have others inlined).
 * Where the end of a place is left out, all places that begin so are meant.
 */
export interface Allowed {
  readonly why: string;
  readonly places: readonly string[];
}

/**
 * Divisions and square roots, whose time depends on their operands on some machines; the places are
 * the same for every key.
 */
export const EXPANSION: Allowed = {
  why:
    'values of the tree are divided by each other, its leaves are square roots: in every ' +
    'expansion, so in every signature by a raw key',
  places: ['expandKey/ldlNode: division: ', 'expandKey/ldlLeaves: division: '],
};

export const REDUCTION: Allowed = {
  why:
    'key generation divides by norms of f and g: the test of the candidate, and the ' +
    'reduction of F and G',
  places: ['ntruReduce/inverseNorms: division: ', 'ntruTop/solveDepth0: division: '],
};

export const TIES: Allowed = {
  why:
    'a tie of a random byte with the first byte of a threshold is settled by further ' +
    'bytes, until two differ: 1 in 256 each',
  places: [
    'samplerZ/sampleExactly: address: w = <i32>load<u8>(at + <usize>count) - <i32>((bits >> (56',
    'samplerZ/sampleExactly: branch: } while (i32(w == 0) & i32(count < 8));',
  ],
};

/** Encoding s2 and, for the check before release, decoding it: s2 is the signature. */
export const COMPRESSION: Allowed = {
  why:
    'how many bytes the coefficients of s2 take: of a signature that is released, public; ' +
    'of an attempt that is too long, the lengths',
  places: [
    'codec/compress: address: store<u8>(out, <u8>(bits << (8 - count)));',
    'codec/compress: address: store<u8>(out, <u8>(bits >> count));',
    'codec/compress: branch: if (count > 0) {',
    'codec/compress: branch: if (out == end) return 0;',
    'codec/compress: branch: while (count >= 8) {',
    'codec/decompress: address: const last = <u32>load<u8>(src + <usize>(used - 1));',
    'codec/decompress: address: const next = (load<u64>(word, 8) << position) | ((load<u64>(word,',
    'codec/decompress: address: for (let p = words, from = src; p < end; p += 16, from += 16)',
    'codec/decompress: address: for (let p = words; p < end; p += 16) v128.store(p, swizzle(',
    'codec/decompress: address: v128.store(end, zero',
    'codec/decompress: branch: for (let p = words, from = src; p < end; p += 16, from += 16)',
    'codec/decompress: branch: for (let p = words; p < end; p += 16) v128.store(p, swizzle(',
  ],
};

/** The same in the padded form, of attempts that do not fit: where the room ends. */
export const COMPRESSION_PADDED: Allowed = {
  why: 'at which coefficient of s2 an attempt that does not fit the padded form is given up',
  places: [
    'codec/compress: address: const value = <i32>load<i16>(s2);',
    'codec/compress: branch: for (const stop = s2 + (<usize>2 << logn); s2 < stop; s2 += 2) {',
    'codec/compress: branch: if (magnitude > 2047) return 0;',
    'codec/compress: branch: while (count >= 8) {',
  ],
};

/**
 * What goes on when the sampler decides by itself; with the same decisions none of this differs but
 * TIES.
 */
export const REJECTION: Allowed = {
  why:
    'how many candidates samplerZ refuses, which depends neither on the centre nor on the ' +
    'deviation nor on the value drawn; where the stream stands then',
  places: [
    'samplerZ/samplePair: branch',
    'samplerZ/sampleOne: branch',
    'samplerZ/sampleExactly: branch',
    'samplerZ/sampleExactly: address',
    'samplerZ/judgeFour: branch: if (start >= NEAR_BORDER) {',
    'samplerZ/judgeFour: branch: return start + end >= LAST_START ? max(end, BLOCK - start) : end;',
    'samplerZ/judgeFour: select: return start + end >= LAST_START ? max(end, BLOCK - start) : end;',
    'samplerZ/judgeFour: address',
    'samplerZ/endsAcross: branch',
    'samplerZ/endsAcross: select: return start + end >= LAST_START ? max(end, BLOCK - start) :',
    'chachaPrng/nextBlock: address',
    'chachaPrng/nextBlock: branch: for (let o: usize = 0; o < 512; o += 64) {',
    'chachaPrng/nextBlock: select: position = max(position - BLOCK, 0);',
    'chacha20.gen/chacha20: address',
    'chacha20.gen/chacha20: branch: for (let round = 0; round < 10; round++) {',
  ],
};

/** The coding of signatures that are released. */
export const RELEASED: Allowed = {
  why: COMPRESSION.why,
  places: ['codec/compress: ', 'codec/decompress: '],
};

/** In reproducible signatures, whatever form is asked for: s2 is encoded in another one first. */
export const FIT: Allowed = { why: COMPRESSION.why, places: ['codec/compress: '] };
export const FIT_PADDED: Allowed = {
  why: 'the zeros behind the coefficients of s2 in the padded form, which derived salts demand',
  places: ['codec/encodeSignature: address: memory.fill('],
};

/** What is done for no attempt that is given up: the forced decisions do not come here. */
export const PADDING: Allowed = {
  why: 'the zeros behind the coefficients of a padded signature that is released',
  places: ['codec/encodeSignature: address: memory.fill(', 'codec/decodeSignature: '],
};

/** What is done only when a coefficient is drawn again. */
export const REDRAW: Allowed = {
  why: 'one coefficient by itself; the addresses are those of the draws, which are not secret',
  places: ['gaussianF/sampleSmall: branch', 'gaussianF/sampleSmall: address'],
};

/**
 * What goes on when the stream of candidates is at different places; of keys for which it is not,
 * none of this differs.
 */
export const REDRAWS: Allowed = {
  why:
    'how often the last coefficient of f and of g, and those of candidates before, were ' +
    'drawn again for their parity',
  places: [
    'gaussianF/sampleSmall: branch',
    'gaussianF/sampleSmall: address',
    'gaussianF/nextPolynomial: branch',
    'gaussianF/nextPolynomial: address',
    'gaussianF/nextPolynomial: select: count = min<usize>(',
    'gaussianF/drawMore: branch',
    'gaussianF/drawMore: address',
    'keccak/shakeSqueeze: branch',
    'keccak/shakeSqueeze: address',
    'keccak/shakeSqueeze: select',
    'keccakF.gen/keccakF: branch',
    'keccakF.gen/keccakF: address',
  ],
};

/** The lists that depend on how a build computes with reals. */
export interface Arithmetic {
  readonly EXPANSION: Allowed;
  readonly REDUCTION: Allowed;
  readonly REJECTION: Allowed;
}

export const ON_DOUBLES: Arithmetic = { EXPANSION, REDUCTION, REJECTION };

const NOTHING: Allowed = { why: 'there are no divisions and no square roots', places: [] };
export const ON_INTEGERS: Arithmetic = {
  EXPANSION: NOTHING,
  REDUCTION: NOTHING,
  REJECTION: {
    why: `${REJECTION.why}; ties compute with reals, whose constants are loaded`,
    places: [...REJECTION.places, 'realInteger/add: address', 'realInteger/mul: address'],
  },
};
