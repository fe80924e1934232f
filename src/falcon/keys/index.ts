/**
 * Import and export of keys in common encodings: raw and bare bytes, SPKI, PKCS#8 and PEM, JSON Web
 * Keys, key files of `falconry keygen`, and encrypted PKCS#8; and signatures in other
 * implementations' formats. `docs/keys.md` lists which software uses which.
 */
export {
  type EncryptedExportOptions,
  type EncryptedImportOptions,
  type EncryptedKeyForms,
  exportEncryptedSecretKey,
  importEncryptedSecretKey,
} from './encryptedKey.ts';
export {
  type CostLimits,
  passphraseKey,
  SCRYPT_COST,
  type ScryptCost,
} from './encryption.ts';
export type {
  EncryptedKeyForm,
  ImportedPublicKey,
  ImportedSecretKey,
  ImportOptions,
  Pkcs8Layout,
  PublicKeyForm,
  SecretKeyForm,
} from './forms.ts';
export type { KeyInput } from './input.ts';
export type { PublicJwk, SecretJwk } from './jwk.ts';
export type { PublicKeyFile, SecretKeyFile } from './keyFile.ts';
export {
  exportPublicKey,
  importPublicKey,
  type PublicExportOptions,
  type PublicKeyForms,
} from './publicKey.ts';
export {
  exportSecretKey,
  importSecretKey,
  type SecretExportOptions,
  type SecretKeyForms,
} from './secretKey.ts';
export {
  type AttachedParts,
  fromBareSignature,
  joinAttached,
  splitAttached,
  toBareSignature,
} from './signatures.ts';
