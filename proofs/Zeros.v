(** Zeros of polynomials over R_q (docs/soundness.md, 5.10 and Lemma 2). *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Zeros.

(** R is R_q; C is a list of challenges whose differences are units. *)
Variable R : comUnitRingType.
Variable C : seq R.
Hypothesis C_uniq : uniq C.
Hypothesis C_units : forall c c', c \in C -> c' \in C -> c != c' -> c - c' \is a GRing.unit.

Lemma C_roots (s : seq R) : uniq s -> {subset s <= C} -> uniq_roots s.
Proof.
elim: s => //= c s IH /andP[c_notin s_uniq] sub; rewrite IH //; last first.
  by move=> z zs; apply: sub; rewrite inE zs orbT.
rewrite andbT; apply/allP => z zs; rewrite /diff_roots mulrC eqxx /=.
apply: C_units; [by apply: sub; rewrite inE zs orbT|by apply: sub; rewrite inE eqxx|].
by apply: contraNneq c_notin => <-.
Qed.

(** "in one variable it has at most d zeros in C (Vandermonde)" *)
Theorem zeros_one (p : {poly R}) : p != 0 -> (count (root p) C <= (size p).-1)%N.
Proof.
move=> p0; rewrite -size_filter -ltnS prednK ?lt0n ?size_poly_eq0 //.
apply: max_ring_poly_roots => //; first by rewrite filter_all.
by apply: C_roots; rewrite ?filter_uniq // => z; rewrite mem_filter => /andP[].
Qed.

(** "Two good points on a line in c_a give s_a = (z - z')/(c_a - c'_a)": over the R_q-module of
    columns. *)
Theorem two_points n (s0 s z z' : 'cV[R]_n) c c' :
  c \in C -> c' \in C -> c != c' -> z = s0 + c *: s -> z' = s0 + c' *: s ->
  s = (c - c')^-1 *: (z - z').
Proof.
move=> Cc Cc' ne -> ->; rewrite opprD addrACA subrr add0r -scalerBl scalerA.
by rewrite mulVr ?scale1r // C_units.
Qed.

(** "On the line E5 is quadratic in c_a, with fixed coefficients, and vanishes three times; so they
    are zero (5.10)". *)
Theorem three_points (a0 a1 a2 : R) (cs : seq R) :
  uniq cs -> {subset cs <= C} -> size cs = 3%N ->
  (forall c, c \in cs -> a0 + a1 * c + a2 * c ^+ 2 = 0) -> [/\ a0 = 0, a1 = 0 & a2 = 0].
Proof.
move=> cs_uniq sub cs3 zero; pose p : {poly R} := Poly [:: a0; a1; a2].
have [p0|p0] := eqVneq p 0.
  have coef i : p`_i = [:: a0; a1; a2]`_i by rewrite coef_Poly.
  by move: (coef 0%N) (coef 1%N) (coef 2%N); rewrite p0 !coef0 /= => <- <- <-.
have : (size cs < size p)%N.
  apply: max_ring_poly_roots => //; last exact: C_roots.
  apply/allP => c /zero eq0; apply/eqP; rewrite horner_Poly /= mul0r add0r -[RHS]eq0.
  by rewrite mulrDl -mulrA -expr2 addrC -[in RHS]addrA; congr (_ + _); exact: addrC.
by rewrite cs3 ltnNge (leq_trans (size_Poly _)).
Qed.

End Zeros.
