(** The figure of case (a') of Lemma 5 (docs/soundness.md, 5.6): 2^-138.82. *)
From Coq Require Import NArith.
Open Scope N_scope.

(** The share of [lemma5_a'] with s = 243/29 and 136 pairs is below 2^-138.82:
    n/2^40 <= 243^243 29^29 4^136/(272^272 2^138), and (n/2^40)^50 >= 2^41. *)
Lemma figure_138_82 :
  let n := 1942422820359 in
  n * 272 ^ 272 * 2 ^ 138 <= 243 ^ 243 * 29 ^ 29 * 4 ^ 136 * 2 ^ 40 /\
  2 ^ 41 * 2 ^ 2000 <= n ^ 50.
Proof. split; vm_compute; discriminate. Qed.
