/** The exports of falcon.verify.wasm: those needed to verify signatures and aggregates. */
export {
  BATCH_DATA,
  BATCH_DATA_SIZE,
  BATCH_ITEMS,
  BATCH_KEYS,
  BATCH_PREPARED,
  BATCH_RECORDS,
  IN,
  IN_SIZE,
  PK,
  POINT,
  PREPARED,
  PRODUCT,
  S2,
  SHAKE,
  SIG,
} from './layout';
export { hashInit, hashSqueeze, hashUpdate } from './hashToPoint';
export { prepare, verify, verifyPrepared } from './verify';
export { prepareBatchKey, verifyBatch } from './verifyBatch';
export {
  hashToPoint,
  readPublicKey as decodePublicKey,
  readSignature as decodeSignature,
  writeSignature as encodeSignature,
} from './points';
