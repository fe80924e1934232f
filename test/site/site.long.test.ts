/** The documentation site as it is built: quietly, with links that hold, and readable by all. */
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BASE, entries, SITE } from '../../docs/.vitepress/places.ts';
import { searchOptions } from '../../docs/.vitepress/search.ts';
import { crossing, type Sizes } from '../../docs/.vitepress/theme/sizeRows.ts';
import { aggregate, falcon512 } from '../../src/index.ts';
import { type Served, serveFolder } from '../bundlers/serve.ts';
import { headingLevels, measureContrast } from '../middleware/page/accessibility.ts';
import { visit } from '../middleware/page/browser.ts';
import { it } from '../middleware/support.ts';
import { findChromium, openBrowser, PATIENCE_MS } from '../support/chromium.ts';
import { fact } from '../support/facts.ts';
import { checkLinks } from './links.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const AXE = join(ROOT, 'docs/node_modules/axe-core/axe.min.js');
const chromium = findChromium();

let built: ReturnType<typeof spawnSync>;
let served: Served;
beforeAll(async () => {
  const program = join(ROOT, 'scripts/docs.ts');
  const env = { ...process.env, NO_COLOR: '1', NODE_ENV: 'production' };
  built = spawnSync(process.execPath, [program, 'build'], { encoding: 'utf8', env });
  served = await serveFolder(SITE, BASE);
}, 900_000);
afterAll(() => served?.close());

test('it is built without a warning', () => {
  const printed = `${built.stdout}${built.stderr}`;
  expect(printed).toContain('build complete');
  expect(printed.split('\n').filter((line) => /warn|error|\(!\)|deprecat/i.test(line))).toEqual([]);
  expect(built.status).toBe(0);
});

test('its own programs have right types', () => {
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const checked = spawnSync(compiler, ['-p', 'docs/tsconfig.json', '--noEmit'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(checked.stdout).toBe('');
});

test('every link leads somewhere', (context) => {
  const { pages, links, external, broken } = checkLinks(SITE, BASE);
  expect(broken).toEqual([]);
  expect(pages).toBeGreaterThan(80);
  expect(links).toBeGreaterThan(5000);
  fact(context, 'site', `${pages} pages, ${links} links (${external} to other hosts)`);
});

it('a link that leads nowhere is found', ({ folder }) => {
  mkdirSync(join(folder, 'a'));
  const broken = ['../c.html', 'b.html#there', '/', 'http://x', 'd.txt'];
  const links = ['./b.html#here', '/base/', ...broken];
  const anchors = links.map((link) => `<a href="${link}">x</a>`).join('');
  writeFileSync(join(folder, 'a/a.html'), `<p id="x">${anchors}<a href="#x">y</a></p>`);
  writeFileSync(join(folder, 'a/b.html'), '<p id="here"></p>');
  writeFileSync(join(folder, 'index.html'), '<a href="https://example.com/a">z</a>');
  const found = { pages: 3, links: 9, external: 2, broken: broken.map((l) => `a/a.html: ${l}`) };
  expect(checkLinks(folder, '/base/')).toEqual(found);
});

test('the reference has every entry, and every export of the first', async () => {
  const exported = Object.keys(await import('../../src/index.ts'));
  const page = readFileSync(join(SITE, 'api/falconry.html'), 'utf8');
  expect(exported.length).toBeGreaterThan(15);
  expect(exported.filter((name) => !page.includes(name))).toEqual([]);
  const names = entries().filter(({ name }) => !name.endsWith('-worker'));
  const index = readFileSync(join(SITE, 'api/index.html'), 'utf8');
  expect(names.filter(({ name }) => !index.includes(`>${name}<`))).toEqual([]);
});

test('the page of the main entry opens with what readers look for first', () => {
  const page = readFileSync(join(SITE, 'api/falconry.html'), 'utf8');
  const [, ...headings] = [...page.matchAll(/<h[23] id="([^"]+)"/g)].map(([, id]) => id);
  expect(headings.slice(0, 3)).toEqual(['falcon512', 'aggregate', 'verifyaggregate']);
});

test('the page of the HTTP interface has every operation, and no constant key', () => {
  const page = readFileSync(join(SITE, 'http.html'), 'utf8').replaceAll(/<[^>]*>/g, '');
  for (const operation of ['POST /v1/svc/aggsign', 'GET /v1/svc/tasks', 'PUT /v1/svc/uploads/']) {
    expect(page).toContain(operation);
  }
  expect(page).toContain('$(uuidgen)');
  expect(page).not.toMatch(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/);
});

describe('the search finds guides first', () => {
  interface Index {
    search(query: string): { readonly id: string }[];
  }
  let index: Index;
  beforeAll(async () => {
    const require = createRequire(join(ROOT, 'docs/package.json'));
    const [file = ''] = globSync('assets/chunks/@localSearchIndexroot*.js', { cwd: SITE });
    const { default: json } = await import(join(SITE, file));
    const options = { fields: ['title', 'titles', 'text'], storeFields: ['title'], searchOptions };
    index = require('minisearch').loadJSON(json, options);
  });

  test.each([
    ['contribute', /contributing|start/],
    ['pagination', /requests/],
    ['electron', /hosts|bundlers/],
    ['csp', /bundlers|hosts/],
    ['own auth', /hosts|start|operating/],
    ['pem', /keys/],
    ['seed', /keys/],
    ['how small', /aggregation/],
    ['error codes', /requests/],
  ])('%s', (query, page) => {
    const [first] = index.search(query);
    expect(first?.id).toMatch(page);
  });
});

test('the table of sizes is that of the chart', () => {
  const sizes = JSON.parse(readFileSync(join(ROOT, 'docs/build/sizes.json'), 'utf8')) as Sizes;
  const text = readFileSync(join(ROOT, 'docs/aggregation.md'), 'utf8');
  const [table = ''] = /^\| signatures \| one by one [\s\S]*?\n\n/m.exec(text) ?? [];
  const lines = table.trim().split('\n').slice(2);
  const written = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => Number.parseInt(cell.replaceAll(',', ''), 10)),
  );
  const made = [sizes.falcon512, sizes.falcon1024].flatMap((rows) =>
    rows.filter((row) => [10, 100, 509, 1722].includes(row.count) || row === rows.at(-1)),
  );
  expect(written.length).toBe(10);
  const figures = made.map(({ count, signatures, bundle, proof, bundleDerived, proofDerived }) => [
    count,
    signatures,
    bundle,
    proof,
    bundleDerived,
    proofDerived,
  ]);
  expect(written).toEqual(figures);
  expect(text).toContain('from about 82 signatures of Falcon-512, and from about 41 of');
  for (const derived of [false, true]) {
    expect(Math.abs(crossing(sizes.falcon512, derived) - 82)).toBeLessThan(3);
    expect(Math.abs(crossing(sizes.falcon1024, derived) - 41)).toBeLessThan(3);
  }
});

test('every example has a page with its code, and the way to its folder', () => {
  const names = globSync('*/package.json', { cwd: join(ROOT, 'examples') }).map(dirname);
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) {
    const page = readFileSync(join(SITE, `examples/${name}.html`), 'utf8');
    expect(page, name).toContain('id="packagejson"');
    expect(page, name).toMatch(new RegExp(`href="https://[^"]+/examples/${name}"`));
  }
  const store = readFileSync(join(SITE, 'examples/own-store.html'), 'utf8');
  expect(store).toContain('mapStore');
  expect(store).toContain('untilAborted');
});

test('the rules of stores are on the page of the middleware', () => {
  const page = readFileSync(join(SITE, 'api/falconry/middleware.html'), 'utf8');
  expect(page).toContain('Every verb is one transaction');
  expect(page).toContain('the whole file is durable under its key');
});

test('the chart is that of the code', async () => {
  const sizes = JSON.parse(readFileSync(join(ROOT, 'docs/build/sizes.json'), 'utf8')) as Sizes;
  const row = sizes.falcon512.find(({ count }) => count >= 100)!;
  const { publicKey, secretKey } = falcon512.keygen();
  const items = Array.from({ length: row.count }, (_, i) => {
    const message = new TextEncoder().encode(`message ${i}`);
    return { publicKey, message, signature: falcon512.sign(message, secretKey) };
  });
  const near = async (format: 'bundle' | 'proof') => {
    const { length } = await aggregate(items, { format });
    return Math.abs(length / row[format] - 1);
  };
  expect(await near('bundle')).toBeLessThan(0.02);
  expect(await near('proof')).toBeLessThan(0.02);
});

/** Pages of each kind: the first, a guide, the chart, the form, the references. */
const LOOKED_AT = [
  '',
  'start',
  'aggregation',
  'playground',
  'examples/own-store',
  'http',
  'api/falconry/keys',
];
const SCHEMES = ['light', 'dark'] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe-core finds against WCAG 2.2, levels A and AA. */
async function violationsOf(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: AXE });
  const found = (await page.evaluate(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
      .then(({ violations, passes }) => ({ violations, passes: passes.length }))`,
  )) as { violations: Violation[]; passes: number };
  expect(found.passes).toBeGreaterThan(10);
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`),
  );
}

describe.skipIf(chromium === undefined)('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser(chromium!);
  });
  afterAll(() => browser.close());

  const open = (path: string, colorScheme: 'light' | 'dark' = 'light') =>
    visit(browser, `${served.url}${path === '' ? '' : `${path}.html`}`, { colorScheme });

  test.each(LOOKED_AT.flatMap((path) => SCHEMES.map((scheme) => [path, scheme] as const)))(
    '/%s, %s, is for everybody',
    async (path, scheme) => {
      const seen = await open(path, scheme);
      await seen.page.locator('h1').first().waitFor();
      expect(await violationsOf(seen.page)).toEqual([]);
      expect((await headingLevels(seen.page)).filter((level) => level === 1).length).toBe(1);
      const { measured } = await measureContrast(seen.page);
      expect(measured).toBeGreaterThan(10);
      expect(seen.complaints).toEqual([]);
      expect(seen.requests.filter((line) => !line.includes(served.url))).toEqual([]);
      await seen.close();
    },
  );

  test.each([
    [100, 'one thread'],
    [200, '2 threads'],
  ])('the playground signs, aggregates and verifies %i', async (count, threads) => {
    const seen = await open('playground');
    const { page } = seen;
    await page.getByLabel('Signatures').fill(String(count));
    await page.getByRole('button', { name: 'Sign, aggregate, verify' }).click();
    await page.getByRole('progressbar').waitFor();
    const row = (name: string) => page.getByRole('row', { name }).getByRole('cell');
    await row('the proof').waitFor({ timeout: PATIENCE_MS });
    expect(await row('verified').textContent()).toBe('valid');
    expect(await row('with one bit flipped').textContent()).toBe('not valid');
    const bytes = Number((await row('the proof').textContent())!.replaceAll(/\D/g, ''));
    expect(bytes).toBeGreaterThan(40_000);
    expect(bytes).toBeLessThan(count * 650);
    // Never more threads than the machine has.
    const most = await page.evaluate(() => navigator.hardwareConcurrency);
    const expected = most === 1 ? 'one thread' : threads;
    expect(await row('time to').textContent()).toContain(`(${expected})`);
    expect(seen.complaints).toEqual([]);
    await seen.close();
  });

  test('the playground stops when asked to', async () => {
    const seen = await open('playground');
    await seen.page.getByLabel('Signatures').fill('500');
    await seen.page.getByRole('button', { name: 'Sign, aggregate, verify' }).click();
    await seen.page.getByRole('button', { name: 'Stop' }).click();
    await seen.page.getByText('Stopped.').waitFor();
    await seen.close();
  });

  test('the chart follows its controls', async () => {
    const seen = await open('aggregation');
    const { page } = seen;
    const proof = page.locator('.reading .proof');
    const before = await proof.textContent();
    await page.getByLabel('derived salts').check();
    expect(await proof.textContent()).not.toBe(before);
    await page.getByRole('slider').press('End');
    await page.locator('.slider').getByText('5632 signatures').waitFor();
    await page.getByLabel('Parameter set').selectOption('falcon1024');
    expect(await page.locator('.reading .bundle').textContent()).toMatch(/3,\d{3},\d{3} bytes/);
    await page.locator('.slider').getByText('2944 signatures').waitFor();
    await seen.close();
  });

  test('the search finds a heading', async () => {
    const seen = await open('start');
    await seen.page.getByRole('button', { name: 'Search' }).click();
    await seen.page.locator('#localsearch-input').fill('derived salts');
    await seen.page.locator('#localsearch-list a').first().waitFor();
    await seen.close();
  });
});
