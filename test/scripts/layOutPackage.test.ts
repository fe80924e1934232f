/** The documents as they are published: their links work wherever they are shown. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  homeOf,
  layOutDocuments,
  publishedManifest,
  withAbsoluteLinks,
} from '../../scripts/layOutPackage.ts';

const HOME = { page: 'https://example.org/us/falconry', tag: 'v1.2.3' };
const at = (kind: string, path: string) => `${HOME.page}/${kind}/${HOME.tag}/${path}`;

describe('links', () => {
  it.each([
    ['to a file', '[a](docs/start.md)', `[a](${at('blob', 'docs/start.md')})`],
    ['to a heading of one', '[a](SECURITY.md#x-y)', `[a](${at('blob', 'SECURITY.md#x-y')})`],
    ['to a folder', '[a](docs/moving)', `[a](${at('tree', 'docs/moving')})`],
    [
      'to a picture',
      '![a](src/middleware/page/browser/icon.svg)',
      `![a](${at('raw', 'src/middleware/page/browser/icon.svg')})`,
    ],
    [
      'two in a line',
      '[a](LICENSE) [b](./test)',
      `[a](${at('blob', 'LICENSE')}) [b](${at('tree', 'test')})`,
    ],
    [
      'in a tag',
      '<img src="src/middleware/page/browser/icon.svg">',
      `<img src="${at('raw', 'src/middleware/page/browser/icon.svg')}">`,
    ],
    ['within the document', '[a](#start)', '[a](#start)'],
    ['that are absolute', '[a](https://example.com/b) <img src="https://example.com/c">', null],
    ['in a block of code', '```md\n[a](docs/start.md)\n```\n', null],
  ])('%s', (_, text, expected) => {
    expect(withAbsoluteLinks(text, HOME)).toBe(expected ?? text);
  });

  it('to what is not there are refused', () => {
    expect(() => withAbsoluteLinks('[a](docs/nothing.md)', HOME)).toThrow(/nothing\.md/);
  });
});

it('the home is that of the manifest', () => {
  const manifest = (url?: string) => JSON.stringify({ version: '1.2.3', repository: { url } });
  expect(homeOf(manifest('git+https://example.org/us/falconry.git'))).toEqual(HOME);
  for (const url of [undefined, '', 'git@example.org:us/falconry.git']) {
    expect(() => homeOf(manifest(url)), url).toThrow(/repository/);
  }
});

it('the manifest has nothing that runs at an installation, and the rest as it is', () => {
  const own = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const { scripts, devDependencies, ...rest } = own;
  expect(Object.keys(scripts)).toContain('prepare');
  expect(Object.keys(devDependencies).length).toBeGreaterThan(10);
  expect(JSON.parse(publishedManifest(JSON.stringify(own)))).toEqual(rest);
  expect(Object.keys(rest)).toEqual(expect.arrayContaining(['exports', 'dependencies', 'bin']));
});

it('no document of the package has a link of its own folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-documents-'));
  try {
    layOutDocuments(folder);
    const documents = readdirSync(folder).filter((name) => name.endsWith('.md'));
    expect(documents.sort()).toEqual(['CHANGELOG.md', 'README.md', 'SECURITY.md']);
    for (const name of documents) {
      const text = readFileSync(join(folder, name), 'utf8').replace(/^```.*?^```$/gms, '');
      const links = [...text.matchAll(/\]\(([^)]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)];
      const relative = links.map(([, a, b]) => a ?? b!).filter((to) => !/^(#|https:)/.test(to));
      expect(relative, name).toEqual([]);
    }
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    expect(readme).toMatch(/srcset="https:\S+\/raw\/v[\d.]+\/docs\/screenshots\/\S+\.svg"/);
    expect(readme).toMatch(/\]\(https:\S+\/tree\/v[\d.]+\/docs\/decisions\)/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('the files of operators are in the package, as they are here', () => {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-operating-'));
  try {
    layOutDocuments(folder);
    const here = fileURLToPath(new URL('../../examples/deploy', import.meta.url));
    const there = join(folder, 'examples/deploy');
    expect(readdirSync(there)).toEqual(readdirSync(here));
    expect(readdirSync(there)).toContain('falconry.json');
    for (const name of readdirSync(there).filter((name) => name !== 'README.md')) {
      expect(readFileSync(join(there, name)).equals(readFileSync(join(here, name))), name).toBe(
        true,
      );
    }
    const readme = readFileSync(join(there, 'README.md'), 'utf8');
    expect(readme).toContain('](nginx.conf)');
    expect(readme).toMatch(/\]\(https:\S+\/blob\/v[\d.]+\/docs\/operating\.md#a-proxy\)/);
    expect(readme).not.toContain('](..');
    const { files } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(files).toContain('examples/deploy');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
