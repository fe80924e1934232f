/** Samples use no syntax that the oldest supported Node lacks. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Loader, transformSync } from 'esbuild';
import { expect, test } from 'vitest';
import { blocksOf } from '../support/documentBlocks.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const listed = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', ...patterns], { cwd: fileURLToPath(ROOT), encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '');

const { engines } = JSON.parse(read('package.json'));
const OLDEST = engines.node.replace('>=', 'node');
const LANGUAGES = ['ts', 'js', 'mjs', 'tsx'];

/** Whether a tool that compiles for the oldest Node must rewrite the program. */
function isTooNew(source: string, loader: Loader): boolean {
  const compile = (target: string) => transformSync(source, { loader, target, format: 'esm' }).code;
  return compile(OLDEST) !== compile('esnext');
}

const loaderOf = (language: string): Loader =>
  language === 'tsx' ? 'tsx' : language === 'ts' ? 'ts' : 'js';

test('the measure bites', () => {
  expect(OLDEST).toBe('node22.13');
  expect(isTooNew('using key = expand();', 'ts')).toBe(true);
  expect(isTooNew('await using pool = open();', 'ts')).toBe(true);
  expect(isTooNew('class A { static #a = 1; static { A.#a ??= 2 } } await A;', 'ts')).toBe(false);
});

test('in documents', () => {
  const blocks = listed('*.md')
    .flatMap(blocksOf)
    .filter(({ language }) => LANGUAGES.includes(language));
  expect(blocks.length).toBeGreaterThan(40);
  const wrong = blocks.filter(({ source, language }) => isTooNew(source, loaderOf(language)));
  expect(wrong.map(({ path, line }) => `${path}:${line}`)).toEqual([]);
});

test('in comments of the sources', () => {
  const samples = listed('src/**.ts').flatMap((path) =>
    [...read(path).matchAll(/^ *\* ```ts\n([\s\S]*?)^ *\* ```$/gm)].map(([, text = '']) => {
      return [path, text.replaceAll(/^ *\* ?/gm, '')] as const;
    }),
  );
  expect(samples.length).toBeGreaterThan(20);
  // Some leave parts out.
  const whole = samples.filter(([, source]) => !source.includes('…'));
  const wrong = whole.filter(([, source]) => isTooNew(source, 'ts'));
  expect(wrong.map(([path]) => path)).toEqual([]);
});

test('in examples', () => {
  const files = listed('examples/**.ts', 'examples/**.tsx', 'examples/**.js', 'examples/**.mjs');
  expect(files.length).toBeGreaterThan(20);
  const wrong = files.filter((path) => isTooNew(read(path), loaderOf(path.split('.').at(-1)!)));
  expect(wrong).toEqual([]);
});
