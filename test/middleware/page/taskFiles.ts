/** Task files to drop: good ones, and ones with faults at known places. */
import { falcon512 } from '../../../src/falcon/index.ts';
import { formatTaskFile, type TaskItem } from '../../../src/wire/triple.ts';

/** Items of two keys. */
export function someItems(count: number): TaskItem[] {
  const pairs = [0, 1].map(() => falcon512.keygen());
  const secrets = pairs.map(({ secretKey }) => falcon512.expandSecretKey(secretKey));
  const items = Array.from({ length: count }, (_, i) => {
    const message = new TextEncoder().encode(`message ${i}`);
    const signature = falcon512.sign(message, secrets[i % 2]!);
    return { message, publicKey: pairs[i % 2]!.publicKey, signature };
  });
  for (const secret of secrets) secret.destroy();
  return items;
}

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
