/** Lists of any length: arrays and lines of JSON, as a whole and piece by piece. */
import { describe, expect, test } from 'vitest';
import { readList, splitElements } from '../../src/cli/lib/elements.ts';
import { checkStatements, checkTriples } from '../../src/wire/taskFile.ts';

const utf8 = new TextEncoder();
const element = (i: number) => ({ digest: `0x0${i}`, public_key: '0x', signature: '0x09' });
const texts = [0, 1, 2].map((i) => JSON.stringify({ ...element(i), note: '"}]\\"{[' }));
const whole = `[${texts.join(', ')}]\n`;
const lines = texts.map((text) => `${text}\n`).join('');

function* cut(text: string, size: number): Generator<Uint8Array> {
  const bytes = utf8.encode(text);
  const piece = new Uint8Array(size);
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    piece.set(part);
    yield piece.subarray(0, part.length);
    // A source may reuse its memory.
    piece.fill(0x20);
  }
}

async function split(text: string, size = 4): Promise<string[]> {
  const found: string[] = [];
  for await (const part of splitElements(cut(text, size))) found.push(Buffer.from(part).toString());
  return found;
}

function ioOf(text: string, size = 7) {
  async function* stdin() {
    for (const piece of cut(text, size)) yield piece.slice();
  }
  const output = { write: () => true };
  return { stdin: stdin(), stdout: output, stderr: output, env: {} };
}

describe('elements', () => {
  test('are found wherever the text is cut', async () => {
    for (let size = 1; size <= whole.length; size++) {
      expect(await split(whole, size)).toEqual(texts);
      expect(await split(lines, size)).toEqual(texts);
    }
    expect(await split(texts.join(' '))).toEqual(texts);
    expect(await split(`\uFEFF${whole}`, 1)).toEqual(texts);
    expect(await split('{"a":[{"b":[]}]}')).toEqual(['{"a":[{"b":[]}]}']);
    expect(await split(' [ ] ')).toEqual([]);
  });

  test.each([
    '',
    ' ',
    '[',
    '[{}',
    '[{},',
    '[{},]',
    '[,{}]',
    '[{}{}]',
    '[{}]]',
    '[{}],',
    '[{}] {}',
    '{},{}',
    '{}]',
    '{',
    '{"',
    '[1]',
    '1',
    '"{}"',
    '[[]]',
    '{} []',
    ']',
    ',',
    '[{} 1]',
  ])('refuses %j', async (text) => {
    await expect(split(text)).rejects.toMatchObject({ code: 'MALFORMED_JSON' });
  });
});

describe('a list', () => {
  const expected = texts.map((_, i) => Uint8Array.of(i));

  test('is read as a whole if it is short, of either form', async () => {
    for (const text of [whole, `\uFEFF${whole}`, lines]) {
      const list = await readList('-', ioOf(text), checkStatements);
      expect(Array.isArray(list)).toBe(true);
      expect((list as { message: Uint8Array }[]).map(({ message }) => message)).toEqual(expected);
    }
  });

  test('is read as it arrives if it is long', async () => {
    for (const text of [whole, lines]) {
      const list = await readList('-', ioOf(text), checkTriples, 20);
      expect(Array.isArray(list)).toBe(false);
      const found: Uint8Array[] = [];
      for await (const { message } of list as AsyncIterable<{ message: Uint8Array }>) {
        found.push(message);
      }
      expect(found).toEqual(expected);
    }
  });

  test('reports all faults of a short array, and the first one of others', async () => {
    const wrong = [element(0), { digest: '0x0' }, 5, { digest: 'x', public_key: '0x' }];
    const array = JSON.stringify(wrong);
    await expect(readList('-', ioOf(array), checkStatements)).rejects.toMatchObject({
      code: 'BAD_TASK_FILE',
      invalid: [{ index: 1 }, { index: 2 }, { index: 3 }],
    });
    const rows = wrong.map((value) => JSON.stringify(value)).join('\n');
    await expect(readList('-', ioOf(rows), checkStatements)).rejects.toMatchObject({
      code: 'BAD_TASK_FILE',
      invalid: [{ index: 1 }],
    });
    await expect(readList('-', ioOf('[]'), checkTriples)).rejects.toMatchObject({
      code: 'BAD_TASK_FILE',
    });
    await expect(readList('-', ioOf('{"a":tru}'), checkTriples)).rejects.toMatchObject({
      code: 'MALFORMED_JSON',
    });
    const long = await readList('-', ioOf(`[${' '.repeat(30)}]`), checkTriples, 20);
    const reading = (async () => {
      for await (const _ of long) void _;
    })();
    await expect(reading).rejects.toMatchObject({ code: 'BAD_TASK_FILE' });
  });
});
