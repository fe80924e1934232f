/** The exports of falcon.wasm. */
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
  SEED,
  SHAKE,
  SIG,
  SK,
} from './layout';
export { hashInit, hashSqueeze, hashUpdate } from './hashToPoint';
export { prepare, verify, verifyPrepared } from './verify';
export { prepareBatchKey, verifyBatch } from './verifyBatch';
export {
  hashToPoint,
  readPublicKey as decodePublicKey,
  readSignature as decodeSignature,
  recoverS1,
  writeSignature as encodeSignature,
} from './points';
export { wipe } from './wipe';
export { keygen, publicKey } from './keygen';
export { keygenDraft, repackSecretKey } from './draftKeygen';
export { signDraft } from './draftSign';
export { EXPANDED, expandedLength } from './expandKey';
export { expandSecretKey as expandKey, signExpanded } from './sign';
export { signHedged, startHedged } from './hedged';
export {
  absorbKey,
  finishCoins,
  signReproducibly,
  startCoins,
  updateCoins,
} from './reproducible';
