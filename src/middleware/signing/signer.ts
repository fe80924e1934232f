/**
 * The port for whatever signs at the signing endpoint: a key file by default (keyFile.ts), or an
 * HSM or a KMS of the host. Every signature is verified before anybody gets it.
 */
import { falcon512, falcon1024, type ParameterSet } from '../../falcon/index.ts';
import { copyBytes } from '../../shared/arguments.ts';
import { CodedError, isCodedError } from '../../shared/errors.ts';
import { withTimeout } from '../../shared/wait.ts';

/** A message to sign. */
export interface SignRequest {
  readonly clientId: number;
  readonly message: Uint8Array;
  readonly set: ParameterSet;
}

/** A signature in any of the formats that `verify` accepts, and the key that verifies it. */
export interface Signed {
  readonly signature: Uint8Array;
  readonly publicKey: Uint8Array;
}

export interface Signer {
  /**
   * Signs a message within `SIGNER_TIMEOUT_MS`. Calls overlap: a signer that can do only so much at
   * a time lets the others wait, or rejects them.
   *
   * @throws SignerBusy (a 503 with `Retry-After`) or SignerRefusal (a 422), as the rejection;
   *   any other error is a 500, whose text is logged and not sent
   */
  sign(request: SignRequest): Promise<Signed>;
}

/** Time after which a request that waits for its signer gets a 503: 10 s. */
export const SIGNER_TIMEOUT_MS = 10_000;

const MAX_RETRY_AFTER_SECONDS = 3600;

/** The signer cannot take more work now: `OVERLOADED`. */
export class SignerBusy extends CodedError {
  /** A whole number from 1 to 3600. */
  readonly retryAfterSeconds: number;

  /** @param retryAfterSeconds rounded up; 1 unless it is a positive number */
  constructor(retryAfterSeconds = 1) {
    super('OVERLOADED', { message: 'The signer is busy' });
    const seconds = Math.ceil(retryAfterSeconds);
    this.retryAfterSeconds = seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_SECONDS) : 1;
  }
}

/** The signer does not sign this message, or not for this client: `SIGNING_REFUSED`. */
export class SignerRefusal extends CodedError {
  /** @param reason is sent to the client */
  constructor(reason?: string) {
    super('SIGNING_REFUSED', reason === undefined ? {} : { message: reason });
  }
}

/** A signer whose answers can be relied on. */
export class VerifiedSigner {
  readonly #signer: Signer;
  readonly #set: ParameterSet;
  readonly #timeoutMs: number;

  constructor(signer: Signer, set: ParameterSet, timeoutMs = SIGNER_TIMEOUT_MS) {
    this.#signer = signer;
    this.#set = set;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * @throws (as the rejection) SignerBusy, SignerRefusal; CodedError `TIMED_OUT`, or `INTERNAL` for
   *   any other error and for an answer that is no valid signature of the message
   */
  async sign(clientId: number, message: Uint8Array): Promise<Signed> {
    const falcon = this.#set === 'falcon512' ? falcon512 : falcon1024;
    // Copies: neither side can change afterwards what the other has.
    const given = await this.#ask({ clientId, message: message.slice(), set: this.#set });
    let signed: Signed;
    try {
      signed = {
        signature: copyBytes('signature', given?.signature),
        publicKey: copyBytes('publicKey', given?.publicKey, falcon.lengths.publicKey),
      };
    } catch (error) {
      throw fault('returned no signature and public key', error);
    }
    if (falcon.verify(signed.signature, message, signed.publicKey)) return signed;
    throw fault('returned a signature that its public key does not verify');
  }

  #ask(request: SignRequest): Promise<Signed> {
    const message = 'The signer did not answer in time';
    const late = () => new CodedError('TIMED_OUT', { message });
    return withTimeout(this.#call(request), this.#timeoutMs, late);
  }

  async #call(request: SignRequest): Promise<Signed> {
    try {
      return await this.#signer.sign(request);
    } catch (error) {
      throw inOurWords(error);
    }
  }
}

/** The error without anything that the signer may have added; also from another copy of us. */
function inOurWords(error: unknown): CodedError {
  if (isCodedError(error)) {
    const { code, message, retryAfterSeconds } = error as CodedError & Partial<SignerBusy>;
    if (code === 'OVERLOADED') return new SignerBusy(retryAfterSeconds);
    if (code === 'SIGNING_REFUSED') return new SignerRefusal(message);
  }
  return fault('failed', error);
}

const fault = (what: string, cause?: unknown) =>
  new CodedError('INTERNAL', {
    cause: new Error(`the signer ${what}`, cause === undefined ? undefined : { cause }),
  });
