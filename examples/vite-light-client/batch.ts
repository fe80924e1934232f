/** The publisher's data, and how both sides read it. */

/** A day's reports: the signer of each by number, and the aggregate of all signatures. */
export interface Batch {
  readonly reports: readonly { readonly signer: number; readonly text: string }[];
  /** Base64. */
  readonly aggregate: string;
}

/** The bytes that are signed. The label keeps the signature from being valid elsewhere. */
export const messageOf = (signer: number, text: string): Uint8Array =>
  new TextEncoder().encode(`report of ${signer}: ${text}`);

export const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

export const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
