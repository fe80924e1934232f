/**
 * Stands in for the PKCS#11 module of an HSM, with the names of the standard (OASIS PKCS#11 3.1):
 * two sessions at a time, signatures that take a while, and a policy of its own.
 */
import { setTimeout } from 'node:timers/promises';
import { falcon512 } from 'falconry';

const MAX_SESSIONS = 2;
const SIGN_MS = 50;
const MAX_MESSAGE_BYTES = 1024;

/** An error of the module, by its return value. */
export class Pkcs11Error extends Error {
  readonly rv: string;

  constructor(rv: string) {
    super(rv);
    this.rv = rv;
  }
}

export interface KeyHandle {
  readonly label: string;
  readonly publicKey: Uint8Array;
}

/** A session signs one message at a time. */
export class Session {
  readonly #token: Token;
  #isBusy = false;

  constructor(token: Token) {
    this.#token = token;
  }

  findKey(label: string): KeyHandle {
    if (label !== this.#token.label) throw new Pkcs11Error('CKR_KEY_HANDLE_INVALID');
    return { label, publicKey: this.#token.publicKey };
  }

  async sign(_key: KeyHandle, message: Uint8Array): Promise<Uint8Array> {
    if (this.#isBusy) throw new Pkcs11Error('CKR_OPERATION_ACTIVE');
    if (message.length > MAX_MESSAGE_BYTES) throw new Pkcs11Error('CKR_DATA_LEN_RANGE');
    this.#isBusy = true;
    try {
      await setTimeout(SIGN_MS);
      return this.#token.signInside(message);
    } finally {
      this.#isBusy = false;
    }
  }

  close(): void {
    this.#token.closed();
  }
}

/** The device: its secret key never leaves it. */
export class Token {
  readonly label = 'orders';
  readonly publicKey: Uint8Array;
  readonly #secretKey: Uint8Array;
  readonly #pin: string;
  #sessions = 0;

  constructor(pin: string) {
    const { publicKey, secretKey } = falcon512.keygen();
    this.publicKey = publicKey;
    this.#secretKey = secretKey;
    this.#pin = pin;
  }

  async openSession(pin: string): Promise<Session> {
    if (pin !== this.#pin) throw new Pkcs11Error('CKR_PIN_INCORRECT');
    if (this.#sessions === MAX_SESSIONS) throw new Pkcs11Error('CKR_SESSION_COUNT');
    this.#sessions++;
    return new Session(this);
  }

  closed(): void {
    this.#sessions--;
  }

  signInside(message: Uint8Array): Uint8Array {
    return falcon512.sign(message, this.#secretKey);
  }
}
