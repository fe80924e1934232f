/** Holds the secret key, which never leaves the worker: the page can only request signatures. */
import { falcon512 } from 'falconry';
import type { Answer, Request } from './protocol.ts';

const { publicKey, secretKey } = falcon512.keygen();
const signer = falcon512.expandSecretKey(secretKey);
secretKey.fill(0);

function answer(request: Request): Uint8Array {
  return request.ask === 'sign' ? falcon512.sign(request.message, signer) : publicKey;
}

addEventListener('message', ({ data }: MessageEvent<Request>) => {
  let said: Answer;
  try {
    said = { id: data.id, bytes: answer(data) };
  } catch (error) {
    said = { id: data.id, error: String(error) };
  }
  postMessage(said);
});
