/** A signer on a PKCS#11 token: a session for each signature, and its errors in our words. */
import { type Signer, SignerBusy, SignerRefusal } from 'falconry/middleware';
import { Pkcs11Error, type Session, type Token } from './token.ts';

/** @param label names the key in the token */
export function pkcs11Signer(token: Token, pin: string, label: string): Signer {
  return {
    async sign({ message, set }) {
      if (set !== 'falcon512') throw new Error(`the key ${label} is not of ${set}`);
      let session: Session | undefined;
      try {
        session = await token.openSession(pin);
        const key = session.findKey(label);
        return { signature: await session.sign(key, message), publicKey: key.publicKey };
      } catch (error) {
        throw inOurWords(error);
      } finally {
        session?.close();
      }
    },
  };
}

function inOurWords(error: unknown): unknown {
  if (!(error instanceof Pkcs11Error)) return error;
  // All sessions are in use: the client gets a 503 and comes again after a second.
  if (error.rv === 'CKR_SESSION_COUNT') return new SignerBusy(1);
  // The token does not sign this: a 422, with this reason.
  if (error.rv === 'CKR_DATA_LEN_RANGE') return new SignerRefusal('The message is too long');
  return error; // a 500; the text is in the log only
}
