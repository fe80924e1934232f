/** A reading, one line of the list, and the bytes that its station signs. */

export interface Reading {
  /** The number of the station. */
  readonly station: number;
  readonly text: string;
}

export const lineOf = ({ station, text }: Reading): string => `${station} ${text}\n`;

export function readingOf(line: string): Reading {
  const [station = '', ...words] = line.split(' ');
  return { station: Number(station), text: words.join(' ') };
}

/** The text that is signed. The label keeps the signature from being valid elsewhere. */
export const signedText = ({ station, text }: Reading): string => `reading of ${station}: ${text}`;

export const encoder = new TextEncoder();

export const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

export const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
