/**
 * Checks that run in the page itself, on what the browser computed: names, contrast, order; and the
 * rules of axe-core.
 */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe-core finds wrong, as `rule: place`, and how many rules it found kept. */
export async function axeFindings(page: Page): Promise<{ kept: number; broken: string[] }> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
    const { passes, violations } = await run(document);
    const broken = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`),
    );
    return { kept: passes.length, broken };
  });
}

/** A text whose colours are too close, with what was measured. */
export interface LowContrast {
  readonly text: string;
  readonly ratio: number;
  readonly needed: number;
  readonly colours: string;
}

/**
 * Contrast (WCAG 2.2, 1.4.3 and 1.4.11) of every text in sight and of every field's edge, from
 * computed styles.
 *
 * @returns how many were measured, and those that fall short
 */
export function measureContrast(page: Page): Promise<{ measured: number; low: LowContrast[] }> {
  return page.evaluate(() => {
    type Rgba = [number, number, number, number];
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
    const parse = (colour: string): Rgba => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return [r!, g!, b!, a! / 255];
    };
    const over = ([r, g, b, a]: Rgba, [R, G, B]: Rgba): Rgba => [
      r * a + R * (1 - a),
      g * a + G * (1 - a),
      b * a + B * (1 - a),
      1,
    ];
    const luminance = ([r, g, b]: Rgba): number => {
      const [x, y, z] = [r, g, b].map((value) => {
        const c = value / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * x! + 0.7152 * y! + 0.0722 * z!;
    };
    const ratioOf = (a: Rgba, b: Rgba): number => {
      const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m);
      return (x! + 0.05) / (y! + 0.05);
    };
    const groundOf = (element: Element | null): Rgba => {
      if (element === null) return [255, 255, 255, 1];
      const own = parse(getComputedStyle(element).backgroundColor);
      return own[3] === 1 ? own : over(own, groundOf(element.parentElement));
    };
    const inSight = (element: Element): boolean =>
      element.checkVisibility({ visibilityProperty: true }) &&
      element.closest('.unseen, .skip') === null;

    const low: { text: string; ratio: number; needed: number; colours: string }[] = [];
    let measured = 0;
    const judge = (text: string, ink: string, ground: Rgba, needed: number) => {
      measured++;
      const ratio = ratioOf(over(parse(ink), ground), ground);
      if (ratio < needed) {
        const colours = `${ink} on ${ground.map(Math.round).join(' ')}`;
        low.push({
          text: text.slice(0, 60),
          ratio: Math.round(ratio * 100) / 100,
          needed,
          colours,
        });
      }
    };

    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement!;
      const text = texts.currentNode.textContent?.trim() ?? '';
      if (text === '' || !inSight(element)) continue;
      const { color, fontSize, fontWeight } = getComputedStyle(element);
      const size = Number.parseFloat(fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
      judge(text, color, groundOf(element), large ? 3 : 4.5);
    }
    for (const field of document.querySelectorAll('input, textarea, select')) {
      if (!inSight(field) || getComputedStyle(field).opacity === '0') continue;
      const { borderTopColor, borderTopStyle, color } = getComputedStyle(field);
      const name = field.id || field.tagName;
      if (borderTopStyle === 'solid') {
        judge(`edge of ${name}`, borderTopColor, groundOf(field.parentElement), 3);
      }
      judge(`text in ${name}`, color, groundOf(field), 4.5);
    }
    return { measured, low };
  });
}

interface AxNode {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
}

/** Roles that people act on, or read as one thing: each must have a name. */
const NAMED = new Set([
  'button',
  'checkbox',
  'combobox',
  'dialog',
  'image',
  'img',
  'link',
  'navigation',
  'progressbar',
  'radio',
  'region',
  'spinbutton',
  'textbox',
]);

/**
 * What the browser tells assistive technology: how often each role is there, and who has no name.
 */
export async function readTree(
  page: Page,
): Promise<{ roles: Map<string, number>; nameless: string[] }> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as unknown as {
    nodes: AxNode[];
  };
  await session.detach();
  const roles = new Map<string, number>();
  const nameless: string[] = [];
  for (const { ignored, role, name } of nodes) {
    if (ignored || role === undefined) continue;
    roles.set(role.value, (roles.get(role.value) ?? 0) + 1);
    if (NAMED.has(role.value) && !name?.value.trim()) nameless.push(role.value);
  }
  return { roles, nameless };
}

/** Levels of the headings in sight, in order. */
export function headingLevels(page: Page): Promise<number[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('h1, h2, h3, h4')]
      .filter((heading) => heading.checkVisibility())
      .map((heading) => Number(heading.tagName.slice(1))),
  );
}

/**
 * How wide the document is, and controls that are less than 24 pixels wide or high (WCAG 2.2,
 * 2.5.8).
 */
export function measureSizes(page: Page): Promise<{ wide: number; small: string[] }> {
  return page.evaluate(() => {
    const controls = [...document.querySelectorAll('a, button, select, input, summary')].filter(
      (element) => element.checkVisibility() && element.closest('.skip') === null,
    );
    const small = controls.filter((element) => {
      const { width, height } = (element.closest('label') ?? element).getBoundingClientRect();
      // Links within sentences are as high as their line.
      return Math.min(width, height) < 24 && getComputedStyle(element).display !== 'inline';
    });
    const wide = document.documentElement.scrollWidth;
    return { wide, small: small.map((element) => element.outerHTML.slice(0, 80)) };
  });
}

/** Ids that two elements have, and references to ids that none has. */
export function brokenIds(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
    const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
    const named = ['for', 'aria-labelledby', 'aria-describedby', 'aria-controls'];
    const dangling = named.flatMap((attribute) =>
      [...document.querySelectorAll(`[${attribute}]`)]
        .flatMap((element) => element.getAttribute(attribute)!.split(' '))
        .filter((id) => document.getElementById(id) === null),
    );
    return [...twice, ...dangling];
  });
}
