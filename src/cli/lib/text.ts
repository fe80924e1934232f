/** Small pieces of text that several commands print. */

/** `1 signature`, `2 signatures`. */
export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : many}`;

/** Text of others, made safe for a terminal: one line, no control characters. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');
