/** Figures with their bars, and the disk beside them: half of a rate is enough on a slow disk. */
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './interleave.ts';

export interface Bar {
  readonly name: string;
  readonly unit: '/s' | 'ms' | '%' | 'MB';
  readonly value: number;
  /** What it has to reach, or must not exceed, on a fast disk. */
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface JudgedBar extends Bar {
  /** One `fdatasync` of 8 kB just before and just after the part, the median. */
  readonly fdatasyncMs: number;
  /** What this disk has to reach: half of a rate if it is slow. */
  readonly bar: number;
  readonly pass: boolean;
}

/** A disk that takes longer for one `fdatasync` is slow. */
export const SLOW_MS = 0.5;
const SYNCS = 50;

/** Milliseconds of `fdatasync`, each after 8 kB at the place where the databases are. */
export async function syncTimes(): Promise<number[]> {
  const path = join(tmpdir(), `falconry-sync-${crypto.randomUUID()}`);
  const file = await open(path, 'wx');
  try {
    const page = new Uint8Array(8192).fill(1);
    // As a log is: its length is known, its bytes are written over.
    await file.write(new Uint8Array(SYNCS * page.length));
    await file.sync();
    const times: number[] = [];
    for (let i = 0; i < SYNCS; i++) {
      await file.write(page, 0, page.length, i * page.length);
      const startMs = performance.now();
      await file.datasync();
      times.push(performance.now() - startMs);
    }
    return times;
  } finally {
    await file.close();
    await rm(path);
  }
}

/** Measures a part between two looks at the disk; prints its name at once, then how it did. */
export async function judged(
  about: string,
  measure: () => Promise<readonly Bar[]>,
): Promise<JudgedBar[]> {
  process.stdout.write(`${about} … `);
  const startMs = performance.now();
  const before = await syncTimes();
  const bars = await measure();
  const fdatasyncMs = median([...before, ...(await syncTimes())]);
  const figures = bars.map((bar) => judge(bar, fdatasyncMs));
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  console.log(`${seconds} s, fdatasync ${fdatasyncMs.toFixed(2)} ms`);
  for (const figure of figures) console.log(`  ${lineOf(figure)}`);
  return figures;
}

/** The bar that this disk sets. */
export function judge(bar: Bar, fdatasyncMs: number): JudgedBar {
  const { value, unit, atLeast, atMost } = bar;
  const half = unit === '/s' && fdatasyncMs > SLOW_MS;
  const limit = atLeast === undefined ? atMost! : atLeast / (half ? 2 : 1);
  const pass = atLeast === undefined ? value <= limit : value >= limit;
  return { ...bar, fdatasyncMs, bar: limit, pass };
}

function lineOf({ name, value, unit, bar, atMost, pass }: JudgedBar): string {
  const shown = value.toFixed(unit === 'ms' && value < 100 ? 2 : 0);
  const sign = atMost === undefined ? '≥' : '≤';
  const columns = [name.padEnd(52), shown.padStart(9), unit.padEnd(3)];
  return `${columns.join(' ')} ${`${sign} ${bar}`.padStart(7)}  ${pass ? 'pass' : 'FAIL'}`;
}

/** The value below which this part of all values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!;
}
