/**
 * What a page gets that bundles the client: the client alone, and the library only when it asks for
 * a check.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { expect, test } from 'vitest';

test('the client, bundled for browsers', async () => {
  const entry = fileURLToPath(new URL('../../src/client/index.ts', import.meta.url));
  const { output } = await build({
    input: entry,
    platform: 'browser',
    write: false,
    output: { format: 'esm', minify: true },
  });
  const chunks = output.filter((each) => each.type === 'chunk');
  const named = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const entryChunk = chunks.find(({ isEntry }) => isEntry)!;
  /** The entry and what it imports at once. */
  const loaded = new Set([entryChunk]);
  for (const chunk of loaded) for (const name of chunk.imports) loaded.add(named.get(name)!);
  const atOnce = [...loaded];
  expect(atOnce).not.toContain(undefined);

  const rooms = atOnce
    .flatMap(({ modules }) => Object.keys(modules))
    .flatMap((id) => /\/src\/(shared\/\w+|\w+)/.exec(id)?.[1] ?? []);
  expect([...new Set(rooms)].sort()).toEqual([
    'client',
    'shared/arguments',
    'shared/bytes',
    'shared/intrinsics',
    'shared/utf8',
    'wire',
  ]);
  const code = atOnce.map((chunk) => chunk.code).join('');
  expect(/WebAssembly|node:|process\.|\bBuffer[.(]/.exec(code)).toBe(null);
  expect(code.length).toBeLessThan(40_000);
  expect(entryChunk.dynamicImports.length).toBe(1);

  const all = chunks.flatMap(({ modules }) => Object.keys(modules));
  expect(all.some((id) => id.includes('/src/aggregate/'))).toBe(true);
  expect(all.filter((id) => id.includes('/src/middleware/'))).toEqual([]);
  expect(chunks.some(({ code }) => /from\s*["']node:/.test(code))).toBe(false);
});
