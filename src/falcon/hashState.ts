/**
 * Incremental hash of a salt and a message that arrives in pieces. Between pieces the state is kept
 * here and not in the module, since other calls use the module's only instance.
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
   * @param salt 40 bytes
   * @param isSecret wipe the module after each piece
   */
  constructor(module: ModuleName, salt: InputBytes, isSecret: boolean) {
    this.#module = module;
    this.#isSecret = isSecret;
    this.#state = run(module, isSecret, (machine) => {
      machine.exports.hashInit();
      machine.hashPieces(salt);
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

  wipe(): void {
    wipe(this.#state);
  }
}
