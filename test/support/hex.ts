/** Lower-case hex, in which tests compare long byte strings: a difference is short to read. */
export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
