/**
 * The challenges of Y = alpha sigma(S) (docs/protocol.md, 7.6): eta of an item and a lift, times
 * tau of a part.
 */
import { FORM_BYTES, type Forms, type Labrador } from '../wasm.ts';
import { fillForms, type Seed, sampleEta, sampleTaus } from './challenges.ts';
import { formAt } from './forms.ts';
import { liftsOf } from './lifts.ts';

export class Links {
  /** tau_t of all parts of an item, in NTT form. */
  readonly taus: Forms;
  /** sigma(tau_t), likewise. */
  readonly sigmaTaus: Forms;
  readonly #lab: Labrador;
  readonly #seed: Seed;
  readonly #coefs: number;
  readonly #forms: Forms;

  /** Valid until the enclosing scope ends. */
  constructor(lab: Labrador, seed: Seed, width: number) {
    this.#lab = lab;
    this.#seed = seed;
    this.sigmaTaus = lab.forms(width);
    this.taus = fillForms(lab, lab.forms(width), () => sampleTaus(lab, seed, width));
    this.#coefs = lab.coefs(1).at;
    this.#forms = lab.forms(2);
    for (let t = 0; t < width; t++) {
      lab.kernels.sigmaForm(formAt(this.sigmaTaus, t), formAt(this.taus, t));
    }
  }

  /** eta_i^(k), centred coefficients mod q, at an address. */
  eta(k: number, item: number, to: number): void {
    sampleEta(this.#lab, this.#seed, k, item, to);
  }

  /**
   * The factors that the lifts, combined by beta, contribute to the places of an item: onY tau_t on
   * Y, onS sigma(tau_t) on S.
   *
   *   onY = sum_k beta_k eta_i^(k)        onS = - sum_k beta_k sigma(eta_i^(k) alpha_i)
   *
   * @param alpha the address of a form
   * @param onY, onS addresses of forms, set to those of centred integers
   */
  combined(item: number, alpha: number, beta: Forms, onY: number, onS: number): void {
    const { kernels } = this.#lab;
    const [eta, twisted] = [formAt(this.#forms, 0), formAt(this.#forms, 1)];
    for (const to of [onY, onS]) this.#lab.bytes(to, FORM_BYTES).fill(0);
    for (let k = 0; k < liftsOf(0).count; k++) {
      const challenge = formAt(beta, k);
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
