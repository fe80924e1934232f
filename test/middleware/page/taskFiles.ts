/** Task files to drop: good ones, and ones with faults at known places. */
import { formatTaskFile, type TaskItem } from '../../../src/wire/triple.ts';

/** A file as playwright hands it to an input. */
export function jsonFile(name: string, text: string) {
  return { name, mimeType: 'application/json', buffer: Buffer.from(text) };
}

/** Item `at` (from 0) signed for another message; it stands in line `at + 2`. */
export function withWrongSignature(items: readonly TaskItem[], at: number): string {
  const wrong = items.map((item, i) =>
    i === at ? { ...item, message: new Uint8Array([1, 2, 3]) } : item,
  );
  return formatTaskFile(wrong);
}
