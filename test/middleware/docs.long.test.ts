/** The documentation page: whole, safe, and read by a real browser. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { openHttpServer } from '../../src/cli/httpServer.ts';
import { falconService } from '../../src/middleware/index.ts';
import { findChromium, openBrowser } from '../support/chromium.ts';
import { fact } from '../support/facts.ts';
import { axeFindings } from './page/accessibility.ts';

const executablePath = findChromium();
const HOSTILE = `https://x.example/a"><script>alert(1)</script>&'b`;

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Json = any;

const { app } = falconService({ dataDirectory: '/nowhere', serviceName: 'pq' });
let page: string;
let response: Response;
let document: Json;
beforeAll(async () => {
  response = await app.request('http://falcon.test/v1/docs');
  page = await response.text();
  document = await (await app.request('http://falcon.test/v1/openapi.json')).json();
});

describe('the page', () => {
  it('shows every operation, its answers and problem codes, and how to ask with curl', () => {
    let examples = 0;
    for (const [path, item] of Object.entries(document.paths as Json)) {
      for (const [method, operation] of Object.entries(item as Json) as [string, Json][]) {
        const from = page.indexOf(`<article aria-labelledby="${operation.operationId}">`);
        expect(from, operation.operationId).toBeGreaterThan(0);
        const article = page.slice(from, page.indexOf('</article>', from));
        expect(article).toContain(`<code>${path}</code>`);
        expect(article).toContain(`>${method.toUpperCase()}</span>`);
        const [, curl = ''] = /aria-label="curl example"><code>(curl [^<]*)</.exec(article) ?? [];
        expect(curl).toContain(`http://falcon.test${path.split('{')[0]}`);
        expect(curl.includes('Authorization: $FALCONRY_API_KEY')).toBe(
          operation.security.length > 0,
        );
        examples++;
        for (const [status, { content }] of Object.entries(operation.responses) as [
          string,
          Json,
        ][]) {
          expect(article).toContain(`">${status}</span>`);
          const problems = content?.['application/problem+json']?.examples ?? {};
          for (const code of Object.keys(problems)) expect(article).toContain(code);
        }
      }
    }
    expect(examples).toBeGreaterThanOrEqual(15);
    for (const name of Object.keys(document.components.schemas)) {
      expect(page).toContain(`id="schema-${name}"`);
    }
  });

  it('has a place for every link inside it, one id of each, and no script', () => {
    const ids = Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, href] of page.matchAll(/ href="([^"]+)"/g)) {
      if (href!.startsWith('#')) expect(ids, href).toContain(href!.slice(1));
      else expect(['openapi.json', 'data:,', 'ui']).toContain(href);
    }
    expect(page).not.toMatch(/<script|javascript:| on\w+=|<img|<iframe|@import|url\(/);
    expect(page).not.toMatch(/ src=/);
  });

  it('leads back to the page at /v1/ui, if that is there, and wears its colours', async () => {
    expect(page).toContain('<a class="back" href="ui">');
    const { app: alone } = falconService({ dataDirectory: '/nowhere', ui: false });
    expect(await (await alone.request('/v1/docs')).text()).not.toContain('href="ui"');
    const style = readFileSync(
      new URL('../../src/middleware/page/browser/style.css', import.meta.url),
      'utf8',
    );
    const own = [...page.matchAll(/(--[\w-]+):([^;]+);/g)];
    expect(own.length).toBeGreaterThan(10);
    for (const [, name, value] of own) expect(style).toContain(`${name}: ${value};`);
  });

  it('allows itself nothing but its own style', () => {
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toMatch(
      /^default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'/,
    );
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('lets no address out of its quotes', async () => {
    const { app: hostile } = falconService({ dataDirectory: '/nowhere', publicUrl: HOSTILE });
    const text = await (await hostile.request('/v1/docs')).text();
    expect(text).not.toContain('<script>');
    expect(text).toContain('x.example/a&quot;&gt;&lt;script&gt;');
    const json = (await (await hostile.request('/v1/openapi.json')).json()) as Json;
    expect(json.servers).toEqual([{ url: HOSTILE }]);
  });
});

it('a browser shows it: no fault, nothing loaded, by keyboard, dark, light and narrow', {
  skip: executablePath === undefined,
}, async (context) => {
  const server = await openHttpServer({ fetch: app.fetch, port: 0, host: '127.0.0.1' });
  const browser = await openBrowser(executablePath!);
  try {
    const faults: string[] = [];
    const asked: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const tab = await browser.newPage({ colorScheme, viewport: { width: 1000, height: 700 } });
      tab.on('console', (message) => faults.push(message.text()));
      tab.on('pageerror', (error) => faults.push(String(error)));
      tab.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await tab.goto(`http://127.0.0.1:${server.port}/v1/docs`);
      // The first tab stop leads past the list of endpoints.
      await tab.keyboard.press('Tab');
      expect(await tab.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
      await tab.keyboard.press('Enter');
      expect(await tab.evaluate('document.activeElement.id')).toBe('main');
      await tab.locator('article').first().locator('summary').first().press('Enter');
      expect(await tab.locator('article').first().locator('details[open]').count()).toBe(1);
      await tab.locator('a[href="#schema-SignRequest"]').first().click();
      expect(await tab.locator('#schema-SignRequest').isVisible()).toBe(true);
      const { kept, broken } = await axeFindings(tab);
      expect(broken).toEqual([]);
      expect(kept).toBeGreaterThan(15);
      const contrasts = (await tab.evaluate(CONTRASTS)) as [string, number][];
      expect(contrasts.length).toBeGreaterThan(100);
      expect(contrasts.filter(([, ratio]) => ratio < 4.5)).toEqual([]);
      await tab.setViewportSize({ width: 360, height: 700 });
      const over = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await tab.evaluate(over)).toBe(0);
    }
    expect(faults).toEqual([]);
    expect(new Set(asked)).toEqual(new Set(['/v1/docs']));
    fact(
      context,
      'OpenAPI document',
      `its page in Chromium ${browser.version()}: light, dark, narrow, by keyboard`,
    );
  } finally {
    await browser.close();
    await server.close(0);
  }
});

/**
 * Runs in the page: text and contrast of every element that shows text of its own (WCAG 2.2,
 * 1.4.3).
 */
const CONTRASTS = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (color) => {
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb(color).map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (rgb(color)[3] === 255) return color;
    }
    return 'white';
  };
  return [...document.querySelectorAll('body *')]
    .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .map((e) => {
      const pair = [luminance(getComputedStyle(e).color), luminance(behind(e))];
      const [a, b] = pair.sort((x, y) => y - x);
      return [e.textContent.trim().slice(0, 30), (a + 0.05) / (b + 0.05)];
    });
})()`;
