/**
 * The opcodes of WebAssembly that the prover knows: the core, SIMD, bulk memory, and two relaxed
 * SIMD instructions. Whatever isn't listed is refused by the decoder.
 */
const words = (text: string): string[] => text.trim().split(/\s+/);

/** Puts the names at consecutive codes; a `-` leaves a gap. */
function put(into: Map<number, string>, at: number, prefix: string, names: string): void {
  words(names).forEach((name, i) => {
    if (name !== '-') into.set(at + i, prefix + name);
  });
}

const COMPARE = 'eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u';
const FLOAT_COMPARE = 'eq ne lt gt le ge';
const ARITHMETIC = `clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u
  rotl rotr`;
const FLOAT_ARITHMETIC = `abs neg ceil floor trunc nearest sqrt add sub mul div min max copysign`;

/** Loads and stores with an alignment and an offset. */
export const MEMORY = new Map<number, string>();
put(
  MEMORY,
  0x28,
  '',
  `i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s i32.load16_u
   i64.load8_s i64.load8_u i64.load16_s i64.load16_u i64.load32_s i64.load32_u i32.store i64.store
   f32.store f64.store i32.store8 i32.store16 i64.store8 i64.store16 i64.store32`,
);

/** Instructions without immediates. */
export const PLAIN = new Map<number, string>();
put(PLAIN, 0x00, '', 'unreachable nop');
put(PLAIN, 0x0f, '', 'return');
put(PLAIN, 0x1a, '', 'drop select');
put(PLAIN, 0x45, 'i32.', `eqz ${COMPARE}`);
put(PLAIN, 0x50, 'i64.', `eqz ${COMPARE}`);
put(PLAIN, 0x5b, 'f32.', FLOAT_COMPARE);
put(PLAIN, 0x61, 'f64.', FLOAT_COMPARE);
put(PLAIN, 0x67, 'i32.', ARITHMETIC);
put(PLAIN, 0x79, 'i64.', ARITHMETIC);
put(PLAIN, 0x8b, 'f32.', FLOAT_ARITHMETIC);
put(PLAIN, 0x99, 'f64.', FLOAT_ARITHMETIC);
put(
  PLAIN,
  0xa7,
  '',
  `i32.wrap_i64 i32.trunc_f32_s i32.trunc_f32_u i32.trunc_f64_s i32.trunc_f64_u i64.extend_i32_s
   i64.extend_i32_u i64.trunc_f32_s i64.trunc_f32_u i64.trunc_f64_s i64.trunc_f64_u
   f32.convert_i32_s f32.convert_i32_u f32.convert_i64_s f32.convert_i64_u f32.demote_f64
   f64.convert_i32_s f64.convert_i32_u f64.convert_i64_s f64.convert_i64_u f64.promote_f32
   i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 f64.reinterpret_i64 i32.extend8_s
   i32.extend16_s i64.extend8_s i64.extend16_s i64.extend32_s`,
);

/** Instructions with a variable as their immediate. */
export const VARIABLES = new Map<number, string>();
put(VARIABLES, 0x20, '', 'local.get local.set local.tee global.get global.set');

/** Instructions after the prefix 0xfc: saturating conversions, which have no immediate. */
export const SATURATING = new Map<number, string>();
put(
  SATURATING,
  0,
  '',
  `i32.trunc_sat_f32_s i32.trunc_sat_f32_u i32.trunc_sat_f64_s i32.trunc_sat_f64_u
   i64.trunc_sat_f32_s i64.trunc_sat_f32_u i64.trunc_sat_f64_s i64.trunc_sat_f64_u`,
);

/** Instructions after the prefix 0xfd. */
export const SIMD = new Map<number, string>();
put(
  SIMD,
  0,
  'v128.',
  `load load8x8_s load8x8_u load16x4_s load16x4_u load32x2_s load32x2_u load8_splat load16_splat
   load32_splat load64_splat store const`,
);
put(
  SIMD,
  13,
  '',
  `i8x16.shuffle i8x16.swizzle i8x16.splat i16x8.splat i32x4.splat i64x2.splat f32x4.splat
   f64x2.splat i8x16.extract_lane_s i8x16.extract_lane_u i8x16.replace_lane i16x8.extract_lane_s
   i16x8.extract_lane_u i16x8.replace_lane i32x4.extract_lane i32x4.replace_lane
   i64x2.extract_lane i64x2.replace_lane f32x4.extract_lane f32x4.replace_lane
   f64x2.extract_lane f64x2.replace_lane`,
);
put(SIMD, 35, 'i8x16.', COMPARE);
put(SIMD, 45, 'i16x8.', COMPARE);
put(SIMD, 55, 'i32x4.', COMPARE);
put(SIMD, 65, 'f32x4.', FLOAT_COMPARE);
put(SIMD, 71, 'f64x2.', FLOAT_COMPARE);
put(
  SIMD,
  77,
  'v128.',
  `not and andnot or xor bitselect any_true load8_lane load16_lane load32_lane load64_lane
   store8_lane store16_lane store32_lane store64_lane load32_zero load64_zero`,
);
put(SIMD, 96, 'i8x16.', 'abs neg popcnt all_true bitmask narrow_i16x8_s narrow_i16x8_u');
put(SIMD, 0x67, 'f32x4.', 'ceil floor trunc nearest');
put(
  SIMD,
  107,
  'i8x16.',
  `shl shr_s shr_u add add_sat_s add_sat_u sub sub_sat_s sub_sat_u - - min_s min_u max_s max_u -
   avgr_u`,
);
put(SIMD, 0x74, 'f64x2.', 'ceil floor');
put(SIMD, 0x7a, 'f64x2.', 'trunc');
put(SIMD, 0x94, 'f64x2.', 'nearest');
put(SIMD, 124, 'i16x8.', 'extadd_pairwise_i8x16_s extadd_pairwise_i8x16_u');
put(SIMD, 126, 'i32x4.', 'extadd_pairwise_i16x8_s extadd_pairwise_i16x8_u');
put(
  SIMD,
  128,
  'i16x8.',
  `abs neg q15mulr_sat_s all_true bitmask narrow_i32x4_s narrow_i32x4_u extend_low_i8x16_s
   extend_high_i8x16_s extend_low_i8x16_u extend_high_i8x16_u shl shr_s shr_u add add_sat_s
   add_sat_u sub sub_sat_s sub_sat_u - mul min_s min_u max_s max_u - avgr_u extmul_low_i8x16_s
   extmul_high_i8x16_s extmul_low_i8x16_u extmul_high_i8x16_u`,
);
put(
  SIMD,
  160,
  'i32x4.',
  `abs neg - all_true bitmask - - extend_low_i16x8_s extend_high_i16x8_s extend_low_i16x8_u
   extend_high_i16x8_u shl shr_s shr_u add - - sub - - - mul min_s min_u max_s max_u dot_i16x8_s
   - extmul_low_i16x8_s extmul_high_i16x8_s extmul_low_i16x8_u extmul_high_i16x8_u`,
);
put(
  SIMD,
  192,
  'i64x2.',
  `abs neg - all_true bitmask - - extend_low_i32x4_s extend_high_i32x4_s extend_low_i32x4_u
   extend_high_i32x4_u shl shr_s shr_u add - - sub - - - mul eq ne lt_s gt_s le_s ge_s
   extmul_low_i32x4_s extmul_high_i32x4_s extmul_low_i32x4_u extmul_high_i32x4_u`,
);
put(SIMD, 236, 'f64x2.', 'abs neg - sqrt add sub mul div min max pmin pmax');
put(
  SIMD,
  0xf8,
  '',
  `i32x4.trunc_sat_f32x4_s i32x4.trunc_sat_f32x4_u f32x4.convert_i32x4_s f32x4.convert_i32x4_u
   i32x4.trunc_sat_f64x2_s_zero i32x4.trunc_sat_f64x2_u_zero f64x2.convert_low_i32x4_s
   f64x2.convert_low_i32x4_u`,
);
SIMD.set(0x100, 'i8x16.relaxed_swizzle');
SIMD.set(0x111, 'i16x8.relaxed_q15mulr_s');
