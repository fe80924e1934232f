(** Short polynomials are units (docs/soundness.md, 5.10). *)
From mathcomp Require Import all_ssreflect all_algebra all_field zify.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Frobenius.

Variables (q : nat) (q_prime : prime q) (q_mod : q = 11 %[mod 128]).

(** A root of X^64 + 1 and its conjugates. *)
Variables (L : fieldType) (xi : L).
Hypothesis q_char : q \in [char L].
Hypothesis xi_root : xi ^+ 64 = -1.

Lemma xi128 : xi ^+ 128 = 1.
Proof. by rewrite (exprM xi 64 2) xi_root sqrrN expr1n. Qed.

Lemma xi_neq0 : xi != 0.
Proof.
apply/eqP => xi0; move: xi_root; rewrite xi0 expr0n /= => /eqP.
by rewrite eq_sym oppr_eq0 oner_eq0.
Qed.

(** x has its coefficients in the prime field. *)
Variable x : {poly L}.
Hypothesis x_prime : forall i, x`_i ^+ q = x`_i.

Lemma root_frobenius z : root x z -> root x (z ^+ q).
Proof.
move=> /eqP xz; apply/eqP; transitivity (Frobenius_aut q_char x.[z]); last first.
  by rewrite xz Frobenius_aut0.
rewrite !horner_coef rmorph_sum /=.
apply: eq_bigr => i _; rewrite rmorphM /= !Frobenius_autE x_prime.
by rewrite -!exprM mulnC.
Qed.

(** The conjugates of xi by powers of q: the exponents that are 1 or 3 mod 8. *)
Definition times11 (j : nat) : nat := (11 * j) %% 128.

Lemma root_powers k : root x xi -> root x (xi ^+ iter k times11 1%N).
Proof.
move=> root1; elim: k => [|k IH] //=; set j := iter k _ _ in IH *.
move/root_frobenius: IH; rewrite -exprM.
suff -> : xi ^+ (j * q) = xi ^+ times11 j by [].
by rewrite -(expr_mod (j * q) xi128) mulnC -modnMml q_mod.
Qed.

Lemma root_conjugates (j : nat) : (j %% 8)%N \in [:: 1; 3]%N -> root x xi -> root x (xi ^+ j).
Proof.
move=> j_mod root1; rewrite -(expr_mod j xi128).
have all_powers : all (fun i => (i %% 8 \in [:: 1; 3])%N ==>
  has (fun k => iter k times11 1%N == i) (iota 0 32)) (iota 0 128) by vm_compute.
have : ((j %% 128) %% 8 \in [:: 1; 3])%N by rewrite modn_dvdm.
move/allP: all_powers => /(_ (j %% 128)%N); rewrite mem_iota ltn_mod => /(_ isT).
by move=> /implyP imp /imp /hasP[k _ /eqP <-]; exact: root_powers.
Qed.

(** ct(sigma(x) x), times 64, as a sum over all conjugates. *)
Hypothesis x_size : (size x <= 64)%N.

Lemma xi_primitive : 128.-primitive_root xi.
Proof.
have [//|m m_prim m_dvd] := @prim_order_exists _ 128 xi _ xi128.
suff /eqP <- : (m == 128)%N by [].
have divisors : all (fun i : nat => (i %| 128)%N ==> (i %| 64)%N || (i == 128)%N) (iota 0 129).
  by [].
have := elimT allP divisors m; rewrite mem_iota /= add0n ltnS dvdn_leq // m_dvd /=.
move=> /(_ isT) /orP[|//]; rewrite (prim_order_dvd m_prim) xi_root => /eqP eq1.
have : (2%:R == 0 :> L) by rewrite mulr2n -{1}eq1 addNr.
rewrite -(dvdn_charf q_char) (dvdn_prime2 _ _) // => /eqP q2.
by move: q_mod; rewrite q2.
Qed.

Lemma geometric a b : (a < 64)%N -> (b < 64)%N ->
  \sum_(k < 64) (xi ^+ (a + 127 * b)) ^+ (2 * k + 1) = (64 * (a == b))%:R.
Proof.
move=> lt_a lt_b; set y := xi ^+ _.
have y64 : (y ^+ 2) ^+ 64 = 1 by rewrite -exprM /y -exprM mulnC exprM xi128 expr1n.
under eq_bigr do rewrite addn1 exprS exprM.
rewrite -mulr_sumr; case: eqP => [eq_ab|ne_ab].
  have y1 : y = 1 by rewrite /y eq_ab -{1}[b]mul1n -mulnDl exprM xi128 expr1n.
  by rewrite y1 expr1n; under eq_bigr do rewrite expr1n; rewrite sumr_const card_ord mul1r muln1.
have ne1 : y ^+ 2 - 1 != 0.
  rewrite subr_eq0 /y -exprM -(prim_order_dvd xi_primitive); apply/negP => /dvdnP[c]; lia.
have : (y ^+ 2 - 1) * (\sum_(k < 64) (y ^+ 2) ^+ k) = 0 by rewrite -subrX1 y64 subrr.
by move/eqP; rewrite mulf_eq0 (negPf ne1) /= => /eqP ->; rewrite mulr0 muln0.
Qed.

Lemma norm_vanishes : root x xi -> \sum_(i < 64) x`_i ^+ 2 = 0.
Proof.
move=> root1.
have horner64 z : x.[z] = \sum_(i < 64) x`_i * z ^+ i by rewrite (horner_coef_wide _ x_size).
have zero k : x.[xi ^+ (2 * k + 1)] * x.[xi ^+ (127 * (2 * k + 1))] = 0.
  have [j13|j13] : ((2 * k + 1) %% 8 \in [:: 1; 3])%N \/ ((127 * (2 * k + 1)) %% 8 \in [:: 1; 3])%N.
    by rewrite !inE; lia.
  by move/eqP: (root_conjugates j13 root1) => ->; rewrite mul0r.
  by move/eqP: (root_conjugates j13 root1) => ->; rewrite mulr0.
have : \sum_(k < 64) x.[xi ^+ (2 * k + 1)] * x.[xi ^+ (127 * (2 * k + 1))] = 0.
  by rewrite big1 // => k _; exact: zero.
have -> : \sum_(k < 64) x.[xi ^+ (2 * k + 1)] * x.[xi ^+ (127 * (2 * k + 1))] =
  \sum_(a < 64) \sum_(b < 64) x`_a * x`_b *
    (\sum_(k < 64) (xi ^+ (a + 127 * b)) ^+ (2 * k + 1)).
  under eq_bigr do rewrite !horner64 big_distrlr /=.
  rewrite exchange_big /=; apply: eq_bigr => a _.
  rewrite exchange_big /=; apply: eq_bigr => b _.
  rewrite mulr_sumr; apply: eq_bigr => k _.
  rewrite mulrACA -!exprM -exprD; congr (_ * xi ^+ _); lia.
have -> : \sum_(a < 64) \sum_(b < 64) x`_a * x`_b *
    (\sum_(k < 64) (xi ^+ (a + 127 * b)) ^+ (2 * k + 1)) = 64%:R * (\sum_(i < 64) x`_i ^+ 2).
  rewrite mulr_sumr; apply: eq_bigr => a _.
  under eq_bigr => b _ do rewrite (geometric (ltn_ord a) (ltn_ord b)).
  rewrite (bigD1 a) // eqxx.
  have rest : \sum_(b < 64 | b != a) x`_a * x`_b * (64 * (a == b :> nat))%:R = 0.
    by apply: big1 => b; rewrite eq_sym -val_eqE => /negPf ->; rewrite muln0 mulr0.
  by rewrite rest Monoid.mulm1 muln1 [LHS]mulrC -expr2.
move/eqP; rewrite mulf_eq0 => /orP[|/eqP //].
have -> : 64%:R = 2%:R ^+ 6 :> L by rewrite -natrX.
rewrite expf_eq0 /= -(dvdn_charf q_char) dvdn_prime2 // => /eqP q2.
by move: q_mod; rewrite q2.
Qed.

End Frobenius.

(** "x is a unit if 0 < |x|^2 < q": x has an inverse modulo q and X^64 + 1. *)
Theorem short_unit q (x : {poly int}) :
  prime q -> q = 11 %[mod 128] -> (size x <= 64)%N ->
  0 < \sum_(i < 64) x`_i ^+ 2 < q%:Z ->
  exists y z : {poly 'F_q}, y * map_poly intr x + z * ('X^64 + 1) = 1.
Proof.
move=> q_prime q_mod x_size /andP[pos lt].
set x' : {poly 'F_q} := map_poly intr x.
have [co|] := boolP (coprimep x' ('X^64 + 1)).
  by have [[y z] /= eq1] := Bezout_eq1_coprimepP _ _ co; exists y, z.
rewrite coprimep_def => size_g.
have [K [f _]] := countable_algebraic_closure [countFieldType of 'F_q].
have /closed_rootP[xi] : size (map_poly f (gcdp x' ('X^64 + 1))) != 1%N by rewrite size_map_poly.
rewrite gcdp_map root_gcd rmorphD rmorphX /= map_polyX rmorph1 => /andP[root_x].
rewrite /root hornerD hornerXn hornerC addr_eq0 => /eqP root_xi.
have K_char : q \in [char K] by rewrite (fmorph_char f) char_Fp.
have coef i : (map_poly f x')`_i = (x`_i)%:~R.
  by rewrite !coef_map /= rmorph_int.
have x_prime i : (map_poly f x')`_i ^+ q = (map_poly f x')`_i.
  by rewrite coef -(Frobenius_autE K_char) rmorph_int.
have size_fx : (size (map_poly f x') <= 64)%N.
  by rewrite size_map_poly; apply: leq_trans (size_poly _ _) x_size.
have := norm_vanishes q_prime q_mod K_char root_xi x_prime size_fx root_x.
under eq_bigr do rewrite coef -rmorphX.
rewrite -rmorph_sum /=; move: pos lt; case: (\sum_(i < 64) _) => // n pos lt /eqP.
by rewrite -pmulrn -(dvdn_charf K_char) => /dvdn_leq; lia.
Qed.
