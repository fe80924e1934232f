/** Texts for the library's reasons why an item is invalid. */
const REASONS: Readonly<Record<string, string>> = {
  publicKeyLength: 'the public key has the wrong length',
  publicKeyHeader: 'the first byte of the public key is wrong for its length',
  publicKeyRange: 'a coefficient of the public key is out of range',
  signatureLength: 'the signature has the wrong length',
  signatureHeader: 'the first byte of the signature does not fit the key',
  signatureEncoding: 'the signature is not canonically encoded',
  signatureMismatch: 'the signature does not match the message and the key',
};

/** @returns the text of a reason of the library; an unknown reason unchanged */
export const reasonWords = (reason: string): string => REASONS[reason] ?? reason;
