/**
 * Settings as people write them: `90s`, `32MiB`, `yes`, `https://a.example, https://b.example`.
 * Values are shown in a form that can be read back.
 */
import { type Judged, judge, type OptionRow } from '../../shared/optionRows.ts';
import { UsageError } from './command.ts';

const NONE = 'none';
const TRUE: readonly string[] = ['1', 'true', 'yes', 'on'];
const FALSE: readonly string[] = ['0', 'false', 'no', 'off'];

/** The units of each kind, in lower case, with their sizes. */
const UNITS: Readonly<Record<'ms' | 'bytes', Readonly<Record<string, number>>>> = {
  ms: { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 },
  bytes: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 },
};

/** Judges a value from an argument, the environment, or the JSON of a configuration file. */
export function readSetting(row: OptionRow, given: unknown): Judged {
  const judged = judge(row, meaningOf(row, given));
  if (judged.wrong === undefined) return judged;
  if (row.type === 'flag') {
    return { ...judged, message: 'must be 1 or 0 (true or false, yes or no)' };
  }
  return row.unit === undefined ? judged : { ...judged, message: `must be ${amount(row)}` };
}

/** The number that an option of one command holds. @throws UsageError that names the option */
export function readNumber(option: string, row: OptionRow, given: string): number {
  const judged = readSetting(row, given);
  if (judged.wrong === undefined) return judged.value as number;
  throw new UsageError(`${option} ${judged.message}, not ${JSON.stringify(given)}`);
}

/** The value that the text means; if that is unclear, the text itself, which the row refuses. */
function meaningOf({ type, unit, none }: OptionRow, given: unknown): unknown {
  if (none && typeof given === 'string' && given.trim().toLowerCase() === NONE) return null;
  if (type === 'flag') return flagOf(given);
  if (type === 'proxies' && typeof given === 'string') {
    const flag = flagOf(given);
    if (typeof flag === 'boolean') return flag;
    return /^\d+$/.test(given.trim()) ? Number(given) : listOf(given);
  }
  if (type === 'origins' && typeof given === 'string' && given !== '*') return listOf(given);
  if (type !== 'integer' || !['string', 'number'].includes(typeof given)) return given;
  const written = String(given).trim();
  if (unit !== undefined) return measured(written, unit);
  return /^\d+$/.test(written) ? Number(written) : given;
}

const listOf = (given: string) => given.split(',').flatMap((part) => part.trim() || []);

function flagOf(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  const word = given.trim().toLowerCase();
  if (TRUE.includes(word)) return true;
  return FALSE.includes(word) ? false : given;
}

/** A number with a unit; a bare number means seconds or bytes. */
function measured(written: string, kind: 'ms' | 'bytes'): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(written);
  const unit = match?.[2] || (kind === 'ms' ? 's' : 'b');
  const size = UNITS[kind][unit.toLowerCase()];
  return match && size !== undefined ? Math.round(Number(match[1]) * size) : undefined;
}

/** `a time from 0s to 1d, such as 90s, 15m, 1h or 30d`. */
function amount({ unit, min = 0, max = Number.MAX_SAFE_INTEGER, none }: OptionRow): string {
  const show = unit === 'ms' ? showMs : showBytes;
  const isOpen = max === Number.MAX_SAFE_INTEGER;
  const limits = isOpen ? `of ${show(min)} or more` : `from ${show(min)} to ${show(max)}`;
  const [noun, examples] =
    unit === 'ms' ? ['time', '90s, 15m, 1h or 30d'] : ['size', '500kB or 32MiB'];
  return `a ${noun} ${limits}, such as ${examples}${none ? `, or ${NONE}` : ''}`;
}

/** A value as a configuration file would spell it. */
export function showValue({ unit }: OptionRow, value: unknown): string {
  if (value === undefined) return '';
  if (value === null) return NONE;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (unit === 'ms') return showMs(Number(value));
  return unit === 'bytes' ? showBytes(Number(value)) : String(value);
}

/** The shortest exact way to write a time: `90000` → `90s`. */
export const showMs = (ms: number): string =>
  ms === 0 ? '0s' : inUnits(ms, UNITS.ms, ['d', 'h', 'm', 's', 'ms']);

/** The shortest exact way to write a size: `33554432` → `32MiB`. */
export const showBytes = (bytes: number): string =>
  bytes === 0 ? '0B' : inUnits(bytes, UNITS.bytes, ['GiB', 'MiB', 'KiB', 'B']);

function inUnits(value: number, units: Readonly<Record<string, number>>, names: string[]): string {
  const sizeOf = (name: string) => units[name.toLowerCase()]!;
  const unit = names.find((name) => value % sizeOf(name) === 0)!;
  return `${value / sizeOf(unit)}${unit}`;
}
