/**
 * Options as rows of a table: type, unit, range, default, names and help text in one place. The
 * service checks its options against these rows, and the command line checks arguments, environment
 * variables and the configuration file against the same rows.
 */

export type OptionType =
  | 'text'
  | 'path'
  | 'url'
  | 'flag'
  | 'integer'
  | 'choice'
  | 'origins'
  | 'proxies'
  | 'secret';

/** The parts of a row besides its type and text. */
export interface RowParts<Value> {
  /** Integers only: milliseconds or bytes. The command line reads and writes `90s`, `32MiB`. */
  readonly unit?: 'ms' | 'bytes';
  /** Smallest integer; 0 when left out. */
  readonly min?: number;
  /** Largest integer; no limit when left out. */
  readonly max?: number;
  readonly choices?: readonly string[];
  /** Whether null is a value, too, which the command line writes `none`. */
  readonly none?: true;
  /** The default, or a function that returns it. */
  readonly fallback?: Value | (() => Value);
  /** The default in words, where it depends on the machine or is absent. */
  readonly fallbackText?: string;
  /** Name on the command line, where it differs: `lease` for `leaseMs`; null: code only. */
  readonly setting?: string | null;
  /** The placeholder of the value in help texts: `n`. */
  readonly placeholder?: string;
  /** Heading of the help text under which the row is listed. */
  readonly group?: string;
  /** A customary environment variable, read after our own. */
  readonly alsoEnv?: string;
  /** Returns the fault of a value of the right type, or null. */
  readonly check?: (value: string) => string | null;
  /**
   * Secrets only. With it, a value that holds no secret may be given on the command line; returns
   * the fault of one that does, or null.
   */
  readonly inline?: (value: string) => string | null;
}

declare const VALUE: unique symbol;

/** One row. `Value` is the type of the option: times are in milliseconds, sizes in bytes. */
export interface OptionRow<Value = unknown> extends RowParts<unknown> {
  readonly type: OptionType;
  /** One line for help texts. */
  readonly about: string;
  /** Only carries the type. */
  readonly [VALUE]?: Value;
}

export type OptionTable = Readonly<Record<string, OptionRow>>;

/** The type of the value of a row: not undefined if the row has a default. */
export type RowValue<Row> = Row extends OptionRow<infer Value> ? Value : never;

/** The types of the values of a table. */
export type RowValues<Table> = { [Name in keyof Table]: RowValue<Table[Name]> };

/** The name of a row on the command line; never for one that has none. */
export type SettingNameOf<Name, Row> = Row extends { readonly setting: infer S }
  ? S extends string
    ? S
    : never
  : Name;

type Made<Value, Parts> = Omit<Parts, 'fallback'> &
  OptionRow<
    | (Parts extends { readonly fallback: unknown } ? Value : Value | undefined)
    | (Parts extends { readonly none: true } ? null : never)
  >;

/** Makes rows of one type. */
function rowsOf<Value>(type: OptionType, placeholder: string) {
  return <const Parts extends RowParts<Value>>(
    about: string,
    parts: Parts = {} as Parts,
  ): Made<Value, Parts> => ({ type, about, placeholder, ...parts }) as Made<Value, Parts>;
}

export const text = rowsOf<string>('text', 'text');
export const url = rowsOf<string>('url', 'url');
export const path = rowsOf<string>('path', 'path');
export const integer = rowsOf<number>('integer', 'n');
export const flag = rowsOf<boolean>('flag', '');
export const origins = rowsOf<'*' | readonly string[]>('origins', 'origins');
export const proxies = rowsOf<boolean | number | readonly string[]>('proxies', 'proxies');
export const secret = rowsOf<string>('secret', 'file');

/** A number of milliseconds, by default at most what a timer takes. */
export function duration<const Parts extends RowParts<number>>(
  about: string,
  parts: Parts = {} as Parts,
): Made<number, Parts> {
  return integer(about, { unit: 'ms', max: MAX_TIMER_MS, placeholder: 'time', ...parts });
}

/** A number of bytes. */
export function bytes<const Parts extends RowParts<number>>(
  about: string,
  parts: Parts = {} as Parts,
): Made<number, Parts> {
  return integer(about, { unit: 'bytes', placeholder: 'size', ...parts });
}

/** One of several words. */
export function choice<const Choice extends string, const Parts extends RowParts<Choice>>(
  about: string,
  choices: readonly Choice[],
  parts: Parts = {} as Parts,
): Made<Choice, Parts> {
  const all = { placeholder: 'name', ...parts, choices };
  return rowsOf<Choice>('choice', 'name')(about, all) as Made<Choice, Parts>;
}

/** The rows of a table, listed under one heading. */
export function inGroup<const Table extends OptionTable>(group: string, table: Table): Table {
  const rows = Object.entries(table).map(([name, row]) => [name, { ...row, group }]);
  return Object.fromEntries(rows) as Table;
}

/** 24 days; timers take at most 2^31 - 1 ms, which is slightly more. */
const MAX_TIMER_MS = 24 * 86_400_000;

/** The default of a row, or undefined where it has none. */
export function fallbackOf<Value>(row: OptionRow<Value>): Value {
  const { fallback } = row;
  return (typeof fallback === 'function' ? fallback() : fallback) as Value;
}

/** The normalised value, or its fault: of the type or of the range. */
export type Judged =
  | { readonly value: unknown; readonly wrong?: undefined }
  | { readonly wrong: 'type' | 'range'; readonly message: string };

const type = (message: string): Judged => ({ wrong: 'type', message });
const range = (message: string): Judged => ({ wrong: 'range', message });

/** Judges a value other than undefined. Messages continue the name of the option: `must be …`. */
export function judge(row: OptionRow, value: unknown): Judged {
  if (value === null && row.none) return { value };
  switch (row.type) {
    case 'flag':
      return typeof value === 'boolean' ? { value } : type('must be true or false');
    case 'integer':
      return judgeInteger(row, value);
    case 'origins':
      return judgeOrigins(value);
    case 'proxies':
      return judgeProxies(row, value);
    case 'choice':
      if (row.choices!.includes(value as string)) return { value };
      return (typeof value === 'string' ? range : type)(
        `must be one of ${row.choices!.join(', ')}`,
      );
    default:
      return judgeText(row, value);
  }
}

function judgeInteger({ min = 0, max = Number.MAX_SAFE_INTEGER }: OptionRow, value: unknown) {
  const number = value as number;
  if (Number.isSafeInteger(value) && number >= min && number <= max) return { value };
  const limits = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
  return (Number.isInteger(value) ? range : type)(`must be a whole number, ${limits}`);
}

function judgeText(row: OptionRow, value: unknown): Judged {
  if (typeof value !== 'string') return type('must be a string');
  if (value === '') return range('must not be empty');
  const fault = row.check?.(value);
  if (typeof fault === 'string') return range(fault);
  if (row.type !== 'url') return { value };
  if (!isHttpUrl(value)) {
    return range('must be an absolute http or https URL without query or password');
  }
  return { value: value.replace(/\/+$/, '') };
}

function isHttpUrl(text: string): boolean {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return false;
  // A password in an address ends up in logs and histories; `fetch` refuses it too.
  const { search, hash, username, password } = parsed;
  return [search, hash, username, password].every((part) => part === '');
}

function judgeOrigins(value: unknown): Judged {
  if (value === '*') return { value };
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'string')) {
    return type("must be '*' or a list of origins");
  }
  const wrong = value.find((each) => !URL.canParse(each) || new URL(each).origin !== each);
  if (wrong === undefined) return { value: [...value] };
  return range(`must hold origins such as https://app.example, which "${wrong}" is not`);
}

function judgeProxies({ check }: OptionRow, value: unknown): Judged {
  if (typeof value === 'boolean') return { value };
  if (typeof value === 'number') {
    return judgeInteger({ type: 'integer', about: '', min: 1, max: 32 }, value);
  }
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'string')) {
    return type('must be true, false, a number of proxies, or a list of networks');
  }
  if (value.length === 0) return range('must name one network or more');
  const fault = value.map((each) => check!(each)).find((each) => each !== null);
  return fault ? range(fault) : { value: [...value] };
}

/**
 * Reads the options of a table from an object; absent ones get their default. Names in neither the
 * table nor `others` are refused.
 *
 * @param where names the object in errors: `options`
 * @throws TypeError for an unknown name or a wrong type, RangeError for a value out of range
 */
export function readOptions<Table extends OptionTable>(
  where: string,
  table: Table,
  source: unknown,
  others: readonly string[] = [],
): RowValues<Table> {
  if (typeof source !== 'object' || source === null || Array.isArray(source)) {
    throw new TypeError(`"${where}" must be an object`);
  }
  for (const name of Object.keys(source)) {
    if (Object.hasOwn(table, name) || others.includes(name)) continue;
    throw new TypeError(`"${where}.${name}" is not an option`);
  }
  const given = source as Readonly<Record<string, unknown>>;
  // Without a prototype: see `readOptions` of arguments.ts.
  const values: Record<string, unknown> = Object.create(null);
  for (const [name, row] of Object.entries(table)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    values[name] = value === undefined ? fallbackOf(row) : accept(`${where}.${name}`, row, value);
  }
  return values as RowValues<Table>;
}

function accept(name: string, row: OptionRow, value: unknown): unknown {
  const judged = judge(row, value);
  if (judged.wrong === undefined) return judged.value;
  if (judged.wrong === 'type') throw new TypeError(`"${name}" ${judged.message}`);
  throw new RangeError(`"${name}" ${judged.message}`);
}
