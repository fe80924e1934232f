/**
 * Help texts are written for 100 columns. On a narrower terminal they are broken anew: paragraphs
 * from margin to margin, the texts of options in their own column. What may be copied, the
 * examples, is left in one piece.
 */
import type { Output } from './command.ts';

const WRITTEN_FOR = 100;
/** Narrower terminals are treated like this. */
const NARROWEST = 40;
/** A heading after which lines are commands. */
const COMMANDS = /^(Examples|More|To .*):?$/;

/** The text as it fits on the output: as it is, unless that is a narrow terminal. */
export function fitHelp(text: string, { isTTY, columns }: Pick<Output, 'isTTY' | 'columns'>) {
  if (isTTY !== true || !columns || columns >= WRITTEN_FOR) return text;
  const width = Math.max(NARROWEST, columns);
  return unbroken(text.split('\n'))
    .flatMap((line) => (line.kept ? [line.text] : wrap(line, width)))
    .join('\n');
}

interface Line {
  readonly text: string;
  /** The length of what is before its text: an option, an indent. */
  readonly head: number;
  /** The column in which its text goes on in the next line. */
  readonly column: number;
  /** Whether it must not be broken. */
  readonly kept: boolean;
}

/** The lines as they would be if there were no margin. */
function unbroken(lines: readonly string[]): Line[] {
  const found: Line[] = [];
  let commands = false;
  let before = '';
  for (const text of lines) {
    const last = found.at(-1);
    if (/^\S/.test(text)) commands = COMMANDS.test(text);
    const kept = commands && text.startsWith(' ');
    if (last && !kept && !last.kept && goesOn(before, text, last)) {
      const column = indentOf(text);
      found[found.length - 1] = { ...last, column, text: `${last.text} ${text.trimStart()}` };
    } else {
      const head = headOf(text);
      found.push({ text, head, column: head, kept });
    }
    before = text;
  }
  return found;
}

/** Whether a line was broken only at the margin: its next word would not have fitted. */
function goesOn(before: string, text: string, last: Line): boolean {
  const [word = ''] = text.trimStart().split(' ', 1);
  if (word === '' || before.trim() === '' || OPTION.test(text)) return false;
  // The text of a long option begins to the right of the others.
  const indent = indentOf(text);
  const fits = OPTION.test(last.text) ? indent > indentOf(last.text) : indent === last.column;
  if (!fits || indent > last.column) return false;
  // Lists of settings end a little earlier than other texts.
  return before.length + 1 + word.length > WRITTEN_FOR - 4;
}

/** `-o, --out <file> ` at the start of a line, and further spaces. */
const OPTION = /^ {1,8}-\S*(?:,? --?\S+| <[^>]+>,?)* */;
const USAGE = /^(?:Usage:| {6}) falconry \S+ /;

const indentOf = (text: string): number => /^ */.exec(text)![0].length;

/** Up to the text after `--option <value>  `, else the indent. */
function headOf(text: string): number {
  const start = USAGE.exec(text) ?? OPTION.exec(text) ?? /^ *\S(?:\S| (?! ))* {2,}/.exec(text);
  return start === null || start[0].length === text.length ? indentOf(text) : start[0].length;
}

/** Breaks a line between words; one that is longer than the width stays whole. */
function wrap({ text, head, column }: Line, width: number): string[] {
  if (text.length <= width) return [text];
  // `[--out <file>]` stays together, save a list of words.
  const words = text.slice(head).split(USAGE.test(text) ? / (?![^[]*\])| (?=\|)/ : ' ');
  const option = text.slice(0, head);
  // Next to a wide column there would be no room: the text begins below it.
  if (head <= width / 2) return fill(option, words, ' '.repeat(column), width);
  const own = ' '.repeat(indentOf(option));
  const heads = fill(own, option.trim().split(' '), `${own}  `, width);
  const below = `${own}      `;
  return [...heads, ...fill(below, words, below, width)];
}

/** Lines of these words; the first one begins with `start`, the others with `indent`. */
function fill(start: string, words: readonly string[], indent: string, width: number): string[] {
  const lines: string[] = [];
  let line = start;
  let isEmpty = true;
  for (const word of words) {
    if (isEmpty) line += word;
    else if (line.length + 1 + word.length <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
    isEmpty = false;
  }
  return [...lines, line];
}
