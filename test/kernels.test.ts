/**
 * Nothing in assembly/ is there for the tests alone: exports are used by src/, and all else is
 * reached from the exports.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesBelow, ROOT } from '../scripts/generated.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const withoutComments = (text: string) =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\/\/.*$/gm, '');

interface Declaration {
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

/** Top-level functions, constants and variables of the modules, with their text. */
const declarations = filesBelow('assembly')
  .filter((path) => path.endsWith('.ts') && !/^assembly\/(test|\w+\/index\.ts)/.test(path))
  .flatMap((path): Declaration[] =>
    withoutComments(read(path))
      .split(/^(?=(?:export )?(?:function|const|let) )/m)
      .flatMap((text) => {
        const name = /^(?:export )?(?:function|const|let) (\w+)/.exec(text)?.[1];
        return name === undefined ? [] : [{ path, name, text }];
      }),
  );

/** Names that a module's index exports, by what they are called inside. */
function exportsOf(module: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const [, list] of withoutComments(read(`assembly/${module}/index.ts`)).matchAll(
    /export \{([^}]*)\}/g,
  )) {
    for (const entry of list!.split(',').map((text) => text.trim())) {
      const [inside, outside] = entry.split(' as ');
      if (inside) names.set(outside ?? inside, inside);
    }
  }
  return names;
}

const USERS = {
  falcon: ['src/falcon', 'src/falcon/profiles'],
  labrador: ['src/aggregate'],
} as const;

describe.each(['falcon', 'labrador'] as const)('%s.wasm', (module) => {
  test('the product uses every export', () => {
    const sources = USERS[module].flatMap(filesBelow).filter((path) => !path.endsWith('.gen.ts'));
    const text = sources.map(read).map(withoutComments).join('\n');
    const used = new Set(
      [...text.matchAll(/\b(?:exports|kernels)\.(\w+)/g)].map(([, name]) => name!),
    );
    expect(used.size).toBeGreaterThan(20);
    expect([...exportsOf(module).keys()].filter((name) => !used.has(name))).toEqual([]);
  });
});

test('everything else is reached from the exports', () => {
  const byName = new Map<string, Declaration[]>();
  for (const declaration of declarations) {
    byName.set(declaration.name, [...(byName.get(declaration.name) ?? []), declaration]);
  }
  const reached = new Set<Declaration>();
  // of the module without floating point, which exports what tells it from the other one
  const queue = ['ON_INTEGERS'];
  for (const module of ['falcon', 'labrador']) queue.push(...exportsOf(module).values());
  for (const name of queue) {
    for (const declaration of byName.get(name) ?? []) {
      if (reached.has(declaration)) continue;
      reached.add(declaration);
      queue.push(...(declaration.text.match(/\b[A-Za-z_]\w*\b/g) ?? []));
    }
  }
  expect(reached.size).toBeGreaterThan(300);
  const lost = declarations.filter((declaration) => !reached.has(declaration));
  expect(lost.map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
});
