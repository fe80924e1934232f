/** Every block of code in the documents is typed, and runs as it stands where it can. */
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Block, blocksOf, promised, runBlock, typeBlocks } from './support/documentBlocks.ts';
import { fact } from './support/facts.ts';

const ROOT = new URL('../', import.meta.url);
const run = promisify(execFile);

const documents = globSync(
  ['README.md', 'docs/*.md', 'docs/{decisions,moving}/*.md', 'src/**/README.md'],
  { cwd: fileURLToPath(ROOT) },
).toSorted();
const blocks = documents.flatMap(blocksOf);
const of = (...languages: string[]) =>
  blocks.filter(({ language }) => languages.includes(language));
const named = (list: readonly Block[]) =>
  list.map((block) => [`${block.path}:${block.line}`, block] as const);

/** Documents whose programs other tests run, with servers or services around them. */
const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'test/readme.test.ts',
  'docs/hosts.md': 'test/hosts',
  'src/client/README.md': 'test/client/readme.long.test.ts',
};
/** How many blocks cannot run by themselves: one more needs a reason. */
const FRAGMENTS = 9;

/** For peers that have no types. */
const untyped = of('js').filter(({ path }) => path.startsWith('docs/moving/'));
const programs = [
  ...of('ts').filter(({ info, path }) => info === '' && !(path in RUN_ELSEWHERE)),
  ...untyped,
];

test('the blocks are found', (context) => {
  expect(programs.length).toBeGreaterThanOrEqual(20);
  expect(of('ts').filter(({ info }) => info === 'fragment').length).toBe(FRAGMENTS);
  expect(blocks.filter(({ info }) => !['', 'fragment'].includes(info))).toEqual([]);
  const text = `${of('ts').length} programs typed, ${programs.length} run, ${FRAGMENTS} fragments`;
  fact(context, 'documents', text);
});

test('every program and fragment has right types', async () => {
  expect(await typeBlocks(of('ts'))).toEqual([]);
});

test('a wrong type is found, with its line in the document', async () => {
  const source = '\nconst n: number = "1";\n';
  const wrong = { path: 'some.md', line: 7, heading: '', language: 'ts', source };
  const complaints = await typeBlocks([
    { ...wrong, info: '' },
    { ...wrong, info: 'fragment' },
  ]);
  expect(complaints.filter((line) => line.startsWith('some.md:9: error TS2322')).length).toBe(2);
});

describe('programs print what they say', () => {
  test.each(named(programs))('%s', async (_, { source }) => {
    expect(await runBlock(source)).toEqual(promised(source));
  });
});

/** Fragments import what only bundlers have beside them; test/bundlers runs those. */
const modules = of('js').filter((block) => !untyped.includes(block) && block.info === '');

test.each(named(modules))('%s is a module', async (_, { source }) => {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-block-'));
  try {
    writeFileSync(join(folder, 'module.mjs'), source);
    const module = await import(join(folder, 'module.mjs'));
    expect(Object.keys(module.default).length).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe('at a terminal', () => {
  const shell = of('sh');

  test.each(named(shell))('%s is well-formed', async (_, { source }) => {
    await run('bash', ['-n', '-c', source]);
  });

  test('commands and options are those of the reference', () => {
    const reference = readFileSync(new URL('docs/cli.md', ROOT), 'utf8');
    const lines = shell.flatMap(({ source }) => source.replaceAll('\\\n', ' ').split('\n'));
    const calls = lines.flatMap((line) => {
      const [, call = ''] = /^(?:\S+=\S+ )*(?:npx )?falconry ([^#|]*)/.exec(line) ?? [];
      return call === '' ? [] : [call];
    });
    expect(calls.length).toBeGreaterThan(15);
    const wrong = calls.filter((call) => {
      const [command = ''] = call.split(' ');
      const section = reference.split(`\n## falconry ${command}\n`)[1]?.split('\n## ')[0];
      const options = [...call.matchAll(/(?<= )--[a-z-]+/g)].map(([option]) => option);
      return !options.every((option) => section?.includes(option));
    });
    expect(wrong).toEqual([]);
  });

  test('npm runs scripts that there are', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));
    const names = shell.flatMap(({ source }) => [...source.matchAll(/npm run ([\w:-]+)/g)]);
    expect(names.length).toBeGreaterThan(0);
    expect(names.map(([, name]) => name!).filter((name) => !(name in scripts))).toEqual([]);
  });
});
