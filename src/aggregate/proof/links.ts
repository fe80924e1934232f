/** The challenges of Y = alpha sigma(S) (docs/protocol.md, 7.6): eta of an item and a lift, times tau of a part. */
import type { Forms, Labrador } from '../wasm.ts';
import { FORM, type Seed, sampleEta, sampleTaus } from './challenges.ts';
import { LIFTS } from './shapes.ts';

export class Links {
  /** tau_t, and sigma(tau_t), of all parts of an item, in NTT form */
  readonly taus: Forms;
  readonly sigmaTaus: Forms;
  readonly #lab: Labrador;
  readonly #seed: Seed;
  readonly #coefs: number;
  readonly #forms: Forms;

  /** Lives as long as the scope in which it is made. */
  constructor(lab: Labrador, seed: Seed, width: number) {
    this.#lab = lab;
    this.#seed = seed;
    this.taus = lab.forms(width);
    this.sigmaTaus = lab.forms(width);
    this.#coefs = lab.coefs(1).at;
    this.#forms = lab.forms(2);
    const { kernels } = lab;
    lab.scope(() => {
      kernels.smallsToForms(this.taus.at, sampleTaus(lab, seed, width).at, width);
    });
    for (let t = 0; t < width; t++) {
      kernels.sigmaForm(this.sigmaTaus.at + FORM * t, this.taus.at + FORM * t);
    }
  }

  /** eta_i^(k), centred coefficients mod q. */
  eta(k: number, item: number, to: number): void {
    sampleEta(this.#lab, this.#seed, k, item, to);
  }

  /**
   * What the lifts, combined by beta, put on the places of an item: on Y onY tau_t, on S onS sigma(tau_t).
   *
   *   onY = sum_k beta_k eta_i^(k)        onS = - sum_k beta_k sigma(eta_i^(k) alpha_i)
   *
   * @param alpha address of a form, as are `onY` and `onS`, which become centred integers
   */
  combined(item: number, alpha: number, beta: Forms, onY: number, onS: number): void {
    const { kernels } = this.#lab;
    const [eta, twisted] = [this.#forms.at, this.#forms.at + FORM];
    for (const to of [onY, onS]) this.#lab.bytes(to, FORM).fill(0);
    for (let k = 0; k < LIFTS; k++) {
      const challenge = beta.at + FORM * k;
      this.eta(k, item, this.#coefs);
      kernels.coefsToForm(eta, this.#coefs);
      kernels.mulForm(twisted, eta, alpha);
      kernels.mulForm(eta, eta, challenge);
      kernels.addForm(onY, onY, eta);
      kernels.sigmaForm(eta, twisted);
      kernels.mulForm(eta, eta, challenge);
      kernels.subForm(onS, onS, eta);
    }
    for (const to of [onY, onS]) {
      kernels.formToCoefs(this.#coefs, to);
      kernels.coefsToForm(to, this.#coefs);
    }
  }
}
