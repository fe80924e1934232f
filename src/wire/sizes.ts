/** Sizes in words, for people: the page and the command line say a size the same way. */

type Unit = readonly [name: string, bytes: number];

const BY_1000: readonly Unit[] = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
];
const BY_1024: readonly Unit[] = [
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
];

/**
 * The size of data: `640 B`, `62.9 kB`, `1.1 MB`.
 *
 * @param scale the size whose unit is taken; default: this one
 */
export const sizeText = (bytes: number, scale = bytes): string => inUnits(bytes, scale, BY_1000);

/** The size of memory, a disk or a limit: `512 B`, `32 MiB`, `3.1 GiB`; no digit for nothing. */
export const binarySizeText = (bytes: number): string =>
  inUnits(bytes, bytes, BY_1024).replace('.0 ', ' ');

function inUnits(bytes: number, scale: number, units: readonly Unit[]): string {
  // What would be rounded up to the next unit is said in that one: not 1000.0 kB.
  const unit = units.find(([, size], i) => scale >= size - 0.05 * (units[i + 1]?.[1] ?? 0));
  if (unit === undefined) return `${bytes} B`;
  const [name, size] = unit;
  return `${(bytes / size).toFixed(1)} ${name}`;
}
