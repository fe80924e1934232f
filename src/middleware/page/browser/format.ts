/** Formats durations, times and long hex; `src/wire/sizes.ts` formats sizes and counts. */
import { count } from '../../../wire/sizes.ts';

const digits = (most: number) =>
  new Intl.NumberFormat('en', { maximumFractionDigits: most, minimumFractionDigits: most });
const oneDigit = digits(1);
const twoDigits = digits(2);

/** `0.4 ms`, `83 ms`, `1.24 s` */
export function duration(ms: number): string {
  if (ms < 10) return `${oneDigit.format(ms)} ms`;
  if (ms < 1000) return `${count(Math.round(ms))} ms`;
  return `${twoDigits.format(ms / 1000)} s`;
}

/** `88.1 %` */
export const percent = (share: number): string => `${oneDigit.format(share * 100)} %`;

const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Formats a time in the reader's time zone; returns any other text unchanged. */
export function time(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : localTime.format(date);
}

/** `0x1a2b3c4d…99aabbcc` */
export function shortHex(hex: string, keep = 8): string {
  return hex.length <= 2 + 2 * keep + 1 ? hex : `${hex.slice(0, 2 + keep)}…${hex.slice(-keep)}`;
}

/** `one, two and three` */
export const listed = (parts: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(parts);
