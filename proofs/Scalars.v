(** One scalar for each equation (docs/soundness.md, Lemma 8, paragraph `lift`). *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Scalars.

(** S is S_q, or Z_q at level 0; E numbers the equations; the two sides of equation e are left e and
    right e. They are fixed before the scalars are drawn. *)
Variables (S : finFieldType) (E : finType) (left right : E -> S).

Definition difference (w : {ffun E -> S}) : S :=
  \sum_e w e * left e - \sum_e w e * right e.

Definition fibre (v : S) : {set {ffun E -> S}} := [set w | difference w == v].

Definition shift (e0 : E) (a : S) (w : {ffun E -> S}) : {ffun E -> S} :=
  [ffun e => if e == e0 then w e + a else w e].

Lemma differenceE w : difference w = \sum_e w e * (left e - right e).
Proof. by rewrite /difference -sumrB; apply: eq_bigr => e _; rewrite mulrBr. Qed.

Lemma difference_shift e0 a w :
  difference (shift e0 a w) = difference w + a * (left e0 - right e0).
Proof.
rewrite !differenceE (bigD1 e0) //= [in RHS](bigD1 e0) //= ffunE eqxx mulrDl.
rewrite -!addrA; congr (_ + _); rewrite addrC; congr (_ + _).
by apply: eq_bigr => e /negbTE ne; rewrite ffunE ne.
Qed.

Lemma shift_inj e0 a : injective (shift e0 a).
Proof.
move=> w w' /ffunP eq_ww'; apply/ffunP=> e; move: (eq_ww' e); rewrite !ffunE.
by case: eqP => _ // /addIr.
Qed.

Lemma fibre_le e0 v v' : left e0 != right e0 -> (#|fibre v| <= #|fibre v'|)%N.
Proof.
rewrite -subr_eq0 => ne.
rewrite -(card_imset _ (@shift_inj e0 ((v' - v) / (left e0 - right e0)))).
apply: subset_leq_card; apply/subsetP => _ /imsetP[w + ->]; rewrite !inE => /eqP dw.
by rewrite difference_shift dw divfK // addrC subrK.
Qed.

(** "Each equation has its own uniform scalar in each lift: if one is wrong, the difference is
    uniform in S_q". *)
Theorem difference_uniform e0 v :
  left e0 != right e0 -> (#|fibre v| * #|S| = #|{ffun E -> S}|)%N.
Proof.
move=> ne; have same v' : #|fibre v'| = #|fibre v|.
  by apply/eqP; rewrite eqn_leq !(@fibre_le e0).
rewrite -[RHS]sum1_card (partition_big difference xpredT) //=.
rewrite (eq_bigr (fun=> #|fibre v|)); first by rewrite sum_nat_const mulnC.
by move=> v' _; rewrite -(same v') -sum1_card; apply: eq_bigl => w; rewrite inE.
Qed.

(** The scalars of L independent lifts with which all lifts hold. *)
Definition passing (L : nat) : {set {ffun 'I_L -> {ffun E -> S}}} :=
  [set w : {ffun 'I_L -> {ffun E -> S}} |
    [forall k, \sum_e w k e * left e == \sum_e w k e * right e]].

(** "q^-2 for each of two lifts, however many equations there are": of all scalars of L lifts, the
    share #|S|^-L passes. *)
Theorem one_scalar_each L e0 :
  left e0 != right e0 ->
  (#|passing L| * #|S| ^ L = #|{ffun 'I_L -> {ffun E -> S}}|)%N.
Proof.
move=> ne; have -> : #|passing L| = (#|fibre 0%R| ^ L)%N.
  rewrite -[in RHS](card_ord L) -card_ffun_on; apply: eq_card => w; rewrite inE.
  by apply: eq_forallb => k; rewrite inE subr_eq0.
by rewrite -expnMn (difference_uniform 0 ne) [RHS]card_ffun card_ord.
Qed.

(** The error q^-4 of the round `lift`: two lifts over S_q, a field of q^2 elements. *)
Corollary lift_error q e0 :
  #|S| = (q ^ 2)%N -> left e0 != right e0 ->
  (#|passing 2| * q ^ 4 = #|{ffun 'I_2 -> {ffun E -> S}}|)%N.
Proof. by move=> cardS ne; rewrite -(one_scalar_each 2 ne) cardS -expnM. Qed.

End Scalars.
