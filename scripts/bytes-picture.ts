/**
 * Draws the README's picture, docs/screenshots/bytes-light.svg and bytes-dark.svg: the bytes of
 * 1722 signatures before and after, from the README's own table.
 *
 *   node scripts/bytes-picture.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';

const ROOT = new URL('../', import.meta.url);
const COUNT = 1722;

interface Theme {
  readonly text: string;
  readonly faint: string;
  readonly before: string;
  readonly after: string;
}

const THEMES: Readonly<Record<'light' | 'dark', Theme>> = {
  light: { text: '#1f2328', faint: '#59636e', before: '#8c959f', after: '#0969da' },
  dark: { text: '#f0f6fc', faint: '#9198a1', before: '#656c76', after: '#4493f8' },
};

/** The bars' names, in the order of the table's columns; the bundle is left out. */
const BARS = [
  { name: 'one by one', column: 1, after: false },
  { name: 'one proof', column: 3, after: true },
  { name: 'with derived salts', column: 4, after: true },
] as const;

const WIDTH = 760;
const LEFT = 170;
const RIGHT = 90;
const ROW = 40;
const TOP = 52;

/** @returns the bytes of each bar, from the row of 1722 signatures */
function readBytes(readme: string): number[] {
  const row = readme.split('\n').find((line) => line.startsWith(`| ${COUNT} |`));
  if (row === undefined) throw new Error(`the README has no row of ${COUNT} signatures`);
  const cells = row.split('|').slice(1, -1);
  return BARS.map(({ column }) => {
    const bytes = Number(cells[column]!.replaceAll(',', ''));
    if (!Number.isInteger(bytes) || bytes <= 0) throw new Error(`not a size:${cells[column]}`);
    return bytes;
  });
}

/** The picture as SVG, for a page of this theme. */
export function bytesPicture(readme: string, theme: keyof typeof THEMES): string {
  const { text, faint, before, after } = THEMES[theme];
  const bytes = readBytes(readme);
  const most = Math.max(...bytes);
  const bars = BARS.map(({ name, after: small }, i) => {
    const y = TOP + i * ROW;
    const width = (((WIDTH - LEFT - RIGHT) * bytes[i]!) / most).toFixed(1);
    const middle = y + 18;
    const end = (LEFT + Number(width) + 10).toFixed(1);
    return (
      `<text x="${LEFT - 12}" y="${middle}" text-anchor="end" fill="${text}">${name}</text>\n` +
      `<rect x="${LEFT}" y="${y}" width="${width}" height="26" rx="3" ` +
      `fill="${small ? after : before}"/>\n` +
      `<text x="${end}" y="${middle}" fill="${text}">${Math.round(bytes[i]! / 1000)} kB</text>`
    );
  });
  const height = TOP + BARS.length * ROW + 4;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img"
aria-labelledby="title" font-size="15"
font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif">
<title id="title">Bytes of ${COUNT} signatures, one by one and as a proof</title>
<text x="${LEFT}" y="28" fill="${faint}">${COUNT} signatures of Falcon-512</text>
${bars.join('\n')}
</svg>
`;
}

/** Where the picture of a theme is kept. */
export const pictureFile = (theme: keyof typeof THEMES): URL =>
  new URL(`docs/screenshots/bytes-${theme}.svg`, ROOT);

if (import.meta.main) {
  const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
  for (const theme of ['light', 'dark'] as const) {
    writeFileSync(pictureFile(theme), bytesPicture(readme, theme));
  }
}
