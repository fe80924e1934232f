/**
 * Incremental SHAKE256 of bytes that arrive in pieces, such as a salt and a message. Between pieces
 * the state is kept here and not in the module, since other calls use the module's only instance.
 */
import type { InputBytes } from '../shared/arguments.ts';
import { wipe } from '../shared/bytes.ts';
import { set } from '../shared/intrinsics.ts';
import { type Machine, type ModuleName, read, run } from './wasm.ts';

export class HashState {
  readonly #module: ModuleName;
  readonly #isSecret: boolean;
  #state: Uint8Array<ArrayBuffer>;

  /**
   * @param start the first bytes: of a signed message, its salt
   * @param isSecret wipe the module after each piece
   */
  constructor(module: ModuleName, start: InputBytes, isSecret: boolean) {
    this.#module = module;
    this.#isSecret = isSecret;
    this.#state = run(module, isSecret, (machine) => {
      machine.exports.hashInit();
      machine.hashPieces(start);
      return read(machine.sponge, machine.sponge.length);
    });
  }

  /** Hashes the next bytes. */
  update(piece: InputBytes): void {
    run(this.#module, this.#isSecret, (machine) => {
      this.restore(machine);
      machine.hashPieces(piece);
      set(this.#state, machine.sponge);
    });
  }

  /** Restores the state in the machine. @returns the `messageLen` argument of its functions */
  restore(machine: Machine): number {
    set(machine.sponge, this.#state);
    return -1;
  }

  /** Returns the first bytes of output, at most 64; make no further calls then. */
  squeeze(length: number): Uint8Array<ArrayBuffer> {
    return run(this.#module, this.#isSecret, (machine) => {
      this.restore(machine);
      machine.exports.hashSqueeze(machine.exports.IN.value, length);
      return read(machine.input, length);
    });
  }

  wipe(): void {
    wipe(this.#state);
  }
}
