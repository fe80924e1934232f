/** Modules compiled by the host, as Cloudflare's workerd needs; examples/workerd runs there. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { projectFolder } from './recipes.ts';

describe('modules that the host has compiled', () => {
  const empty = new WebAssembly.Module(
    Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00),
  );

  test('must be ours', async () => {
    vi.resetModules();
    const library = await import('../../src/index.ts');
    for (const use of [library.useFalconModule, library.useLabradorModule]) {
      for (const wrong of [undefined, null, new Uint8Array(8), {}]) {
        expect(() => use(wrong as never)).toThrow(TypeError);
      }
      expect(() => use(empty)).toThrow(RangeError);
    }
    const { useFalconModule, useLabradorModule } = library;
    const compiled = async (name: string) =>
      new WebAssembly.Module(await readFile(join(projectFolder, `build/${name}.wasm`)));
    const [falcon, labrador] = [await compiled('falcon'), await compiled('labrador')];
    expect(() => useFalconModule(labrador)).toThrow(RangeError);
    expect(() => useLabradorModule(falcon)).toThrow(RangeError);

    // The library then compiles nothing.
    useFalconModule(falcon);
    useLabradorModule(labrador);
    const compile = vi.spyOn(WebAssembly, 'Module');
    const keys = library.falcon512.keygen();
    const message = Uint8Array.of(1);
    const signature = library.falcon512.sign(message, keys.secretKey);
    const items = Array(3).fill({ ...keys, message, signature });
    const proof = await library.aggregate(items, { format: 'proof' });
    expect(library.verifyAggregate(proof, items)).toBe(true);
    expect(compile).not.toHaveBeenCalled();
    compile.mockRestore();
  });
});
