/** Why a signature is not valid, for people. */

/** The library's reasons in words. */
const REASONS: Readonly<Record<string, string>> = {
  publicKeyLength: 'the public key has a length that no Falcon key has',
  publicKeyHeader: 'the public key does not begin as a Falcon key does',
  publicKeyRange: 'the public key holds a coefficient that is out of range',
  signatureLength: 'the signature has a length that no form of signature has',
  signatureHeader: 'the signature does not begin as one for this key does',
  signatureEncoding: 'the signature is not in its one canonical encoding',
  signatureMismatch: 'the signature is not of this digest under this key',
};

/** @returns the words for a reason of the library; the reason itself if it is new. */
export const reasonWords = (reason: string): string => REASONS[reason] ?? reason;
