/**
 * Builds with relaxed SIMD that trap where an engine is free to choose: relaxed instructions are
 * used only on inputs for which they are exact, so that all engines give the same bytes.
 */
import { compileDebug } from './assembly.ts';

/** Each relaxed instruction of the modules, and a condition on inputs that leave it open. */
const OPEN: Readonly<Record<string, string>> = {
  'i16x8.relaxed_q15mulr_s':
    'v128.and(i16x8.eq(a, i16x8.splat(-32768)), i16x8.eq(b, i16x8.splat(-32768)))',
  // indices 16 to 127
  'i8x16.relaxed_swizzle': 'i8x16.gt_s(b, i8x16.splat(15))',
};

function guarded(source: string): string {
  const guards: string[] = [];
  const text = source.replaceAll(/i(?:8x16|16x8|32x4|64x2)\.relaxed_\w+/g, (instruction) => {
    const open = OPEN[instruction];
    if (open === undefined) throw new Error(`no condition for ${instruction}`);
    const name = instruction.replace('.', '_');
    guards.push(`function ${name}(a: v128, b: v128): v128 {
  if (v128.any_true(${open})) unreachable();
  return ${instruction}(a, b);
}`);
    return name;
  });
  return [text, ...new Set(guards)].join('\n');
}

/** @param patch changes a source before it is guarded */
export async function compileTraps(
  entry: string,
  target: string,
  patch: (path: string, source: string) => string = (_, source) => source,
): Promise<WebAssembly.Module> {
  const { bytes } = await compileDebug(entry, target, (path, source) =>
    path.startsWith('assembly/') ? guarded(patch(path, source)) : source,
  );
  return new WebAssembly.Module(bytes as Uint8Array<ArrayBuffer>);
}
