/** Sizes and counts as text, shared by the page and the command line. */

const integer = new Intl.NumberFormat('en');
const plurals = new Intl.PluralRules('en');

/** `1,722` */
export const count = (value: number): string => integer.format(value);

/** `1 signature`, `1,722 signatures` */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${plurals.select(value) === 'one' ? one : many}`;

type Unit = readonly [name: string, bytes: number];

/** The units of these names, each `base` times the next one. */
const powers = (base: number, ...names: string[]): readonly Unit[] =>
  names.map((name, i) => [name, base ** (names.length - i)]);

const BY_1000 = powers(1000, 'GB', 'MB', 'kB');
const BY_1024 = powers(1024, 'GiB', 'MiB', 'KiB');

/**
 * Formats the size of data: `640 B`, `62.9 kB`, `1.1 MB`.
 *
 * @param scale the size that determines the unit; default: `bytes`
 */
export const sizeText = (bytes: number, scale = bytes): string => inUnits(bytes, scale, BY_1000);

/** Formats the size of memory, a disk or a limit: `512 B`, `32 MiB`, `3.1 GiB`. */
export const binarySizeText = (bytes: number): string =>
  inUnits(bytes, bytes, BY_1024).replace('.0 ', ' ');

function inUnits(bytes: number, scale: number, units: readonly Unit[]): string {
  // A size that would round up to 1000.0 kB is shown in the next unit.
  const unit = units.find(([, size], i) => scale >= size - 0.05 * (units[i + 1]?.[1] ?? 0));
  if (unit === undefined) return `${bytes} B`;
  const [name, size] = unit;
  return `${(bytes / size).toFixed(1)} ${name}`;
}
