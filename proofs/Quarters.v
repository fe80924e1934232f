(** Commitments in quarters: Lemma 6 (docs/soundness.md, 3.2). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Ring.

Variable A : comRingType.

(** Coefficient k of the product of m and x in A[X]/(X^n + 1); polynomials are functions of the
    number of a coefficient. *)
Definition product (n : nat) (m x : nat -> A) (k : nat) : A :=
  \sum_(b < n) (if (b <= k)%N then m (k - b)%N else - m (n + k - b)%N) * x b.

(** The parts of m = sum_i X^-i m_i and of x = sum_i X^i x_i in R' = A[Y]/(Y^16 + 1), Y = X^4. *)
Definition left_part (m : nat -> A) (i s : nat) : A :=
  if (i <= 4 * s)%N then m (4 * s - i)%N else - m (64 + 4 * s - i)%N.
Definition part (x : nat -> A) (i t : nat) : A := x (4 * t + i)%N.

Lemma place_lt (p : 'I_4 * 'I_16) : (4 * p.2 + p.1 < 64)%N.
Proof. by case: p => i t /=; have := ltn_ord i; have := ltn_ord t; lia. Qed.
Definition place (p : 'I_4 * 'I_16) : 'I_64 := Ordinal (place_lt p).

Lemma place_bij : bijective place.
Proof.
have lt_r (b : 'I_64) : (b %% 4 < 4)%N by lia.
have lt_d (b : 'I_64) : (b %/ 4 < 16)%N by have := ltn_ord b; lia.
exists (fun b => (Ordinal (lt_r b), Ordinal (lt_d b))).
  by move=> [i t]; congr (_, _); apply: val_inj => /=; have := ltn_ord i; lia.
by move=> b; apply: val_inj => /=; lia.
Qed.

(** "The coefficients 0, 4, ..., 60 of m x are those of sum_i m_i x_i". *)
Theorem quarter_of_product (m x : nat -> A) c :
  (c < 16)%N ->
  product 64 m x (4 * c) = \sum_(i < 4) product 16 (left_part m i) (part x i) c.
Proof.
move=> lt_c; rewrite /product pair_big /= (reindex place) /=; last first.
  exact: onW_bij place_bij.
apply: eq_bigr => [[i t]] _ /=; rewrite /left_part /part; congr (_ * _).
have lt_i := ltn_ord i; have lt_t := ltn_ord t.
have [le|lt] := leqP t c.
  by rewrite (_ : (4 * t + i <= 4 * c) = (i <= 4 * (c - t)))%N; [|lia];
     case: ifP => le'; [congr (m _)|congr (- m _)]; lia.
rewrite ifF; last by lia.
by rewrite ifT; [congr (- m _); lia|lia].
Qed.

Lemma productB n m x y k :
  product n m (fun b => x b - y b) k = product n m x k - product n m y k.
Proof. by rewrite /product -sumrB; apply: eq_bigr => b _; rewrite mulrBr. Qed.

(** Q_k(x): coefficient 4c of row `row` of M x. *)
Definition quarters k w (M : 'I_k -> 'I_w -> nat -> A) (x : 'I_w -> nat -> A) row c : A :=
  \sum_(col < w) product 64 (M row col) (x col) (4 * c).

(** "So Q_k is a matrix of k rows over R'_q applied to the parts of x, with four columns for each
    polynomial". *)
Theorem quarters_matrix k w (M : 'I_k -> 'I_w -> nat -> A) x row c :
  (c < 16)%N ->
  quarters M x row c =
  \sum_(col < w) \sum_(i < 4) product 16 (left_part (M row col) i) (part (x col) i) c.
Proof. by move=> lt_c; apply: eq_bigr => col _; exact: quarter_of_product. Qed.

End Ring.

(** Lemma 6: two openings with the same p have the same x, or their difference is a vector of the
    kernel over R', not zero as integers, of squared norm at most 4 gamma^2 X (here: 4 B). *)
Theorem lemma6 (A : comRingType) k w (M : 'I_k -> 'I_w -> nat -> A) (x y : 'I_w -> nat -> int) B :
  (forall row c, (c < 16)%N ->
    quarters M (fun col b => (x col b)%:~R) row c =
    quarters M (fun col b => (y col b)%:~R) row c) ->
  \sum_(col < w) \sum_(b < 64) x col b ^+ 2 <= B ->
  \sum_(col < w) \sum_(b < 64) y col b ^+ 2 <= B ->
  let d col b := x col b - y col b in
  (forall col (b : 'I_64), x col b = y col b) \/
  [/\ exists col (b : 'I_64), d col b != 0,
      forall row c, (c < 16)%N ->
        \sum_(col < w) \sum_(i < 4)
          product 16 (left_part (M row col) i) (part (fun b => (d col b)%:~R) i) c = 0 &
      \sum_(col < w) \sum_(b < 64) d col b ^+ 2 <= 4%:Z * B].
Proof.
move=> eq_p le_x le_y d.
have [/'forall_'forall_eqP same|] :=
  boolP [forall col : 'I_w, forall b : 'I_64, x col b == y col b].
  by left=> col b; apply: same.
move=> /forallPn[col /forallPn[b ne]]; right; split.
- by exists col, b; rewrite subr_eq0.
- move=> row c lt_c; rewrite -(quarters_matrix M (fun col b => (d col b)%:~R) row lt_c).
  have := eq_p row c lt_c; move/eqP; rewrite -subr_eq0 /quarters -sumrB => /eqP eq0.
  rewrite -[RHS]eq0; apply: eq_bigr => col' _; rewrite -productB /product.
  apply: eq_bigr => b' _.
  by rewrite rmorphB.
apply: le_trans (_ : 2 * (\sum_(col < w) \sum_(b < 64) x col b ^+ 2) +
                     2 * (\sum_(col < w) \sum_(b < 64) y col b ^+ 2) <= _); last by lia.
rewrite !mulr_sumr -big_split; apply: ler_sum => col' _.
rewrite !mulr_sumr -big_split; apply: ler_sum => b' _ /=.
by rewrite /d; have := sqr_ge0 (x col' b' + y col' b'); rewrite !expr2; lia.
Qed.
