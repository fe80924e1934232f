/**
 * Algorand's mnemonics: 32 bytes as 25 words (go-algorand, crypto/passphrase).
 *
 * The bytes are read as a little-endian number and split into 24 words, lowest bits first: 23 of 11
 * bits, the last of 3 bits. Word 25 is the low 11 bits of SHA-512/256 of the bytes. The word list
 * is that of BIP-39; the encoding is not.
 *
 * A mnemonic is a string, so it cannot be cleared. Word look-up is not constant-time.
 */
import { sha512_256 } from '@noble/hashes/sha2.js';
import { copyBytes } from '../../../shared/arguments.ts';
import { wipe } from '../../../shared/bytes.ts';
import { WORDS } from './wordTables.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const ENTROPY = 32;
const COUNT = 25;
const BITS = 11;

/**
 * Encodes 32 bytes as words.
 *
 * @param entropy 32 bytes
 * @returns 25 words separated by single spaces
 * @throws TypeError or RangeError for any other input
 */
export function mnemonicOf(entropy: Uint8Array): string {
  const bytes = copyBytes('entropy', entropy, ENTROPY);
  const numbers = Array.from({ length: COUNT - 1 }, (_, i) => {
    const at = (BITS * i) >> 3;
    // Bytes past the end read as zeros.
    const window = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
    return (window >> ((BITS * i) & 7)) & 0x7ff;
  });
  numbers.push(checkWord(bytes));
  wipe(bytes);
  return numbers.map((number) => WORDS[number]).join(' ');
}

/**
 * Decodes 25 words to 32 bytes.
 *
 * @param mnemonic words separated by white space, in lower or upper case
 * @throws TypeError if it is not a string; RangeError for a wrong number of words, an unknown word
 *   (reported by its position, never by its text), or a wrong checksum
 */
export function entropyOf(mnemonic: string): Bytes {
  if (typeof mnemonic !== 'string') throw new TypeError('"mnemonic" expected a string');
  const words = mnemonic.trim().toLowerCase().split(/\s+/);
  if (words.length !== COUNT) {
    throw new RangeError(`"mnemonic" expected ${COUNT} words, got ${words.length}`);
  }
  const numbers = words.map((word, i) => {
    const number = WORDS.indexOf(word);
    if (number < 0) throw new RangeError(`word ${i + 1} of "mnemonic" is not in the list`);
    return number;
  });
  const check = numbers.pop();
  const bytes = Uint8Array.from({ length: ENTROPY }, (_, i) => {
    const at = Math.floor((8 * i) / BITS);
    const shift = 8 * i - BITS * at;
    return (numbers[at]! >> shift) | (numbers[at + 1]! << (BITS - shift));
  });
  // 24 words have 264 bits; the last 8 must be zero.
  if (numbers[COUNT - 2]! >> 3 === 0 && checkWord(bytes) === check) return bytes;
  wipe(bytes);
  throw new RangeError('the checksum of "mnemonic" is wrong');
}

function checkWord(bytes: Uint8Array): number {
  const [low = 0, high = 0] = sha512_256(bytes);
  return ((high << 8) | low) & 0x7ff;
}
