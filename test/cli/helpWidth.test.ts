/** Help texts on narrow terminals: nothing is lost, nothing sticks out, columns stay columns. */
import { beforeAll, describe, expect, it } from 'vitest';
import { fitHelp } from '../../src/cli/helpWidth.ts';
import { COMMANDS, main } from '../../src/cli/main.ts';

const helps: string[] = [];
const on = (text: string, columns: number) => fitHelp(text, { isTTY: true, columns });

/** What `falconry <args>` prints on a terminal of this width. */
async function printed(args: readonly string[], columns: number, isTTY = true): Promise<string> {
  let text = '';
  const stdout = { isTTY, columns, write: (part: unknown) => (text += part) };
  const stdin = (async function* () {})();
  expect(await main(args, { stdin, stdout, stderr: stdout, env: {} })).toBe(0);
  return text;
}

beforeAll(async () => {
  for (const load of Object.values(COMMANDS)) helps.push((await load()).command.help);
  helps.push(await printed(['--help'], 200));
});

describe('every help text', () => {
  it.each([40, 41, 53, 60, 72, 80, 99])('fits in %d columns, word for word', (columns) => {
    expect(helps.length).toBeGreaterThan(20);
    for (const help of helps) {
      const fitted = on(help, columns);
      expect(fitted.split(/\s+/)).toEqual(help.split(/\s+/));
      const written = new Set(help.split('\n'));
      const wide = fitted
        .split('\n')
        .filter((line) => line.length > columns)
        // Commands that may be copied, and what has no space to break at.
        .filter((line) => !(written.has(line) && /^ .*falconry /.test(line)))
        .filter((line) => / /.test(line.trim().replaceAll(/\[[^\]]*\]/g, '')));
      expect(wide).toEqual([]);
    }
  });

  it('is left alone where there is room, and where nobody reads it on a screen', async () => {
    for (const help of helps) {
      expect(on(help, 100)).toBe(help);
      expect(fitHelp(help, { columns: 50 })).toBe(help);
      expect(fitHelp(help, { isTTY: true })).toBe(help);
      expect(fitHelp(help, { isTTY: true, columns: 0 })).toBe(help);
      expect(on(help, 10)).toBe(on(help, 40));
    }
    const { command } = await COMMANDS.keygen!();
    expect(await printed(['keygen', '--help'], 50, false)).toBe(command.help);
    expect(await printed(['keygen', '--help'], 50)).toBe(on(command.help, 50));
    expect(await printed(['help', 'keygen'], 50)).toBe(on(command.help, 50));
    expect(await printed(['--help'], 50)).toBe(on(helps.at(-1)!, 50));
  });
});

it('paragraphs are filled, options keep their column, examples stay whole', () => {
  const usage = 'falconry try [--one <file>] [-o <two.json>] <three.json> [--four <a-value>]';
  const text = `Usage: ${usage} [options]

Tries what a paragraph of two lines looks like, of which the first one ends where the margin of the
text is, and not before.

      --data <directory>
                    where it lives
      --one <file>  the one file that is needed, whose text is longer than a line so that it goes on
                    below; see there
      --and-another <time>  begins to the right, and yet it goes on in the column of those above and
                    below
  -o, --out <file>  short

Examples
  falconry try --one a-file --data /a/directory > out.json
`;
  expect(on(text, 44)).toBe(`Usage: falconry try [--one <file>]
                    [-o <two.json>]
                    <three.json>
                    [--four <a-value>]
                    [options]

Tries what a paragraph of two lines looks
like, of which the first one ends where the
margin of the text is, and not before.

      --data <directory>
                    where it lives
      --one <file>  the one file that is
                    needed, whose text is
                    longer than a line so
                    that it goes on below;
                    see there
      --and-another <time>
            begins to the right, and yet it
            goes on in the column of those
            above and below
  -o, --out <file>  short

Examples
  falconry try --one a-file --data /a/directory > out.json
`);
});
