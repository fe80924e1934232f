/** Small pieces of text that several commands print. */

/** `1 signature`, `2 signatures`. */
export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : many}`;

/** Text of others, made safe for a terminal: one line, no control characters. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');

/**
 * Returns what helps a program of Node whose requests get no answer, if its environment names a
 * proxy; else an empty text.
 */
export function proxyAdvice(env: Readonly<Record<string, string | undefined>>): string {
  const name = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((each) => env[each]);
  if (name === undefined || env.NODE_USE_ENV_PROXY) return '';
  return `Node uses ${name} only with NODE_USE_ENV_PROXY=1 (Node 22.21, 24.5 or newer)`;
}

/** @returns the nearest name within a third of its length (one letter at least), or undefined */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const name of known) {
    const limit = Math.max(1, Math.floor(Math.max(name.length, given.length) / 3));
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    const close = distance <= limit || (given.length >= 3 && name.startsWith(given));
    if (close && distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** `; did you mean --port?`, or nothing. */
export function hint(given: string, known: Iterable<string>, show = (name: string) => name) {
  const name = nearest(given, known);
  return name === undefined ? '' : `; did you mean ${show(name)}?`;
}

/** The number of insertions, deletions, replacements and swaps of neighbours between two texts. */
export function editDistance(a: string, b: string): number {
  const cost = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 1; j <= b.length; j++) cost[0]![j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const [row, above] = [cost[i]!, cost[i - 1]!];
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? cost[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY;
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, replaced, swapped);
    }
  }
  return cost[a.length]![b.length]!;
}

/** Names and values, one line each, the values below each other. */
export function columns(rows: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => printable(`${name.padEnd(width)}  ${value}`));
}
