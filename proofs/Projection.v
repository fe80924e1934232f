(** The projection, cases (a) and (a') of Lemma 5 (docs/soundness.md, 5.6). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** A set that meets each of its translates only at home has the share 1/#|I| at most. *)
Lemma card_translates (T I : finType) (A : {set T}) (move : I -> T -> T) :
  (forall i j x y, x \in A -> y \in A -> move i x = move j y -> (i, x) = (j, y)) ->
  (#|A| * #|I| <= #|T|)%N.
Proof.
move=> apart; rewrite mulnC -cardsT -cardsX.
have inj : {in setX [set: I] A &, injective (fun ix => move ix.1 ix.2)}.
  by move=> [i x] [j y] /setXP[_ ?] /setXP[_ ?] /= /apart; apply.
by rewrite -(card_in_imset inj) max_card.
Qed.

Lemma leq_expr a b n : (a <= b)%N -> (a ^ n <= b ^ n)%N.
Proof. by move=> le; elim: n => // n IH; rewrite !expnS leq_mul. Qed.

Section Projection.

Local Open Scope ring_scope.

Variables (m q : nat) (u v : 'I_m -> int).

(** The bits b_k, b'_k of a pair of rows. *)
Definition bits := {ffun 'I_m -> bool * bool}.

(** Real and imaginary part of sum_k (b_k - i b'_k) (u_k + i v_k). *)
Definition re (p : bits) : int := \sum_k ((p k).1%:Z * u k + (p k).2%:Z * v k).
Definition im (p : bits) : int := \sum_k ((p k).1%:Z * v k - (p k).2%:Z * u k).

Definition flip (k : 'I_m) (f : bool * bool) (p : bits) : bits :=
  [ffun i => if i == k then ((p i).1 (+) f.1, (p i).2 (+) f.2) else p i].

Lemma flipK k f : involutive (flip k f).
Proof.
move=> p; apply/ffunP => i; rewrite !ffunE; case: eqP => // _.
by case: (p i) f => [[] []] [[] []].
Qed.

Lemma flip_comp k f g p : flip k f (flip k g p) = flip k (f.1 (+) g.1, f.2 (+) g.2) p.
Proof.
apply/ffunP => i; rewrite !ffunE; case: eqP => // _.
by case: (p i) f g => [[] []] [[] []] [[] []].
Qed.

(** By what a flip changes the two sums. *)
Definition change (b f : bool) : int := if f then (if b then -1 else 1) else 0.

Lemma re_flip k f p :
  re (flip k f p) = re p + change (p k).1 f.1 * u k + change (p k).2 f.2 * v k.
Proof.
rewrite /re (bigD1 k) //= [in RHS](bigD1 k) //= ffunE eqxx /=.
rewrite (eq_bigr (fun i => (p i).1%:Z * u i + (p i).2%:Z * v i)); last first.
  by move=> i /negbTE ne; rewrite ffunE ne.
move: (\sum_(i | i != k) _) => s.
by case: (p k) f => [[] []] [[] []] /=; rewrite /change; lia.
Qed.

Lemma im_flip k f p :
  im (flip k f p) = im p + change (p k).1 f.1 * v k - change (p k).2 f.2 * u k.
Proof.
rewrite /im (bigD1 k) //= [in RHS](bigD1 k) //= ffunE eqxx /=.
rewrite (eq_bigr (fun i => (p i).1%:Z * v i - (p i).2%:Z * u i)); last first.
  by move=> i /negbTE ne; rewrite ffunE ne.
move: (\sum_(i | i != k) _) => s.
by case: (p k) f => [[] []] [[] []] /=; rewrite /change; lia.
Qed.

(** Whether some y = value mod q has |2 y - c| <= bound; t is counted from -range. *)
Definition range (value c bound : int) : nat := (absz (2 * value - c)%R + absz bound)%N.
Definition near (value c bound : int) : bool :=
  [exists t : 'I_(2 * range value c bound).+1,
     `|2 * (value + (t%:Z - (range value c bound)%:Z) * q%:Z) - c| <= bound].

Hypothesis q_positive : (0 < q)%N.

Lemma nearP (value c bound : int) :
  reflect (exists t : int, `|2 * (value + t * q%:Z) - c| <= bound) (near value c bound).
Proof.
apply: (iffP existsP) => [[t le]|[t le]]; first by exists (t%:Z - (range value c bound)%:Z).
set r := range value c bound.
have le_t : `|t| <= r%:Z.
  have : 2 * `|t| <= `|2 * (t * q%:Z)| by rewrite !normrM; nia.
  by rewrite /r /range; lia.
have lt : (absz (t + r%:Z)%R < (2 * r).+1)%N by lia.
exists (Ordinal lt) => /=; rewrite -/r.
by have -> : (absz (t + r%:Z)%R)%:Z - r%:Z = t by lia.
Qed.

(** Values that differ by w mod q cannot both be near, if bound < |w| and |w| is centred. *)
Lemma near_apart (value w c bound : int) :
  2 * bound < q%:Z -> 2 * `|w| < q%:Z -> bound < `|w| ->
  near value c bound -> near (value + w) c bound -> False.
Proof.
move=> lt_b lt_w lt /nearP[t le] /nearP[t' le'].
have [d [le_d eq_d]] : exists d : int, `|d| <= bound /\ w = d + (t - t') * q%:Z.
  by exists (value + w + t' * q%:Z - (value + t * q%:Z)); split; lia.
have [eq0|[pos|neg]] : t - t' = 0 \/ 1 <= t - t' \/ t - t' <= -1 by lia.
- by rewrite eq0 in eq_d; lia.
- have : q%:Z <= (t - t') * q%:Z by nia.
  by lia.
- have : (t - t') * q%:Z <= - q%:Z by nia.
  by lia.
Qed.

(** Places of an interval of length bound: two of them differ by at most that. *)
Lemma near_close (value w c bound : int) :
  near value c bound -> near (value + w) c bound ->
  exists t d : int, `|d| <= bound /\ w = d + t * q%:Z.
Proof.
move=> /nearP[t le] /nearP[t' le'].
by exists (t - t'), (value + w + t' * q%:Z - (value + t * q%:Z)); split; lia.
Qed.

Lemma card_flips k (I : finType) (dir : I -> bool * bool) (A : {set bits}) :
  (forall i j p, i != j -> p \in A ->
    flip k ((dir i).1 (+) (dir j).1, (dir i).2 (+) (dir j).2) p \in A -> False) ->
  (#|A| * #|I| <= #|{: bits}|)%N.
Proof.
move=> apart; apply: (@card_translates _ _ _ (fun i => flip k (dir i))) => i j x y Ax Ay eq_xy.
have eq_x : x = flip k ((dir i).1 (+) (dir j).1, (dir i).2 (+) (dir j).2) y.
  by rewrite -flip_comp -eq_xy flipK.
have [eq_ij|ne] := eqVneq i j; last by case: (apart i j y ne Ay); rewrite -eq_x.
by subst j; move: eq_x; rewrite !addbb => ->; congr (_, _); apply/ffunP => e; rewrite ffunE !addbF;
   case: eqP => // _; case: (y e).
Qed.

Definition inside_re (c bound : int) : {set bits} := [set p | near (re p) c bound].
Definition inside_im (c bound : int) : {set bits} := [set p | near (im p) c bound].

Lemma half_re k (c bound : int) :
  2 * bound < q%:Z -> 2 * `|u k| < q%:Z -> 2 * `|v k| < q%:Z -> bound < `|u k| \/ bound < `|v k| ->
  (#|inside_re c bound| * 2 <= #|{: bits}|)%N.
Proof.
move=> lt_b lt_u lt_v large; rewrite -card_bool.
case: large => large; [apply: (@card_flips k _ (fun i => (i, false)))
                      |apply: (@card_flips k _ (fun i => (false, i)))] => i j p ne;
  rewrite !inE re_flip -addrA; apply: near_apart => //;
  by case: i j ne (p k) => [] [] //= _ [[] []]; rewrite /change /=; lia.
Qed.

Lemma half_im k (c bound : int) :
  2 * bound < q%:Z -> 2 * `|u k| < q%:Z -> 2 * `|v k| < q%:Z -> bound < `|u k| \/ bound < `|v k| ->
  (#|inside_im c bound| * 2 <= #|{: bits}|)%N.
Proof.
move=> lt_b lt_u lt_v large; rewrite -card_bool.
case: large => large; [apply: (@card_flips k _ (fun i => (false, i)))
                      |apply: (@card_flips k _ (fun i => (i, false)))] => i j p ne;
  rewrite !inE im_flip -addrA; apply: near_apart => //;
  by case: i j ne (p k) => [] [] //= _ [[] []]; rewrite /change /=; lia.
Qed.

(** "both are for at most two of four values": sums and differences of u_k and v_k cannot both be
    close to multiples of q. *)
Lemma sums_apart (a b s t d e l lam : int) :
  2 * (lam + l) < q%:Z -> `|a| <= lam -> `|b| <= lam -> l < `|a| \/ l < `|b| ->
  `|d| <= l -> `|e| <= l -> a + b = d + s * q%:Z -> a - b = e + t * q%:Z -> False.
Proof.
move=> lt_q le_a le_b large le_d le_e eq_d eq_e.
have eq_s : 2 * a = d + e + (s + t) * q%:Z by lia.
have eq_t : 2 * b = d - e + (s - t) * q%:Z by lia.
have le1 : - q%:Z < (s + t) * q%:Z < q%:Z by lia.
have le2 : - q%:Z < (s - t) * q%:Z < q%:Z by lia.
have st0 : s + t = 0 by nia.
have st1 : s - t = 0 by nia.
by rewrite st0 in eq_s; rewrite st1 in eq_t; lia.
Qed.

Lemma quarter k (c c' l lam : int) :
  2 * (lam + l) < q%:Z -> 2 * `|u k| < q%:Z -> 2 * `|v k| < q%:Z -> 0 <= l ->
  `|u k| <= lam -> `|v k| <= lam -> l < `|u k| \/ l < `|v k| ->
  (#|inside_re c l :&: inside_im c' l| * 4 <= #|{: bits}|)%N.
Proof.
move=> lt_q lt_u lt_v l0 le_u le_v large.
have lt_l : 2 * l < q%:Z by lia.
have -> : 4%N = #|{: bool * bool}| by rewrite card_prod card_bool.
apply: (@card_flips k _ id) => i j p ne; rewrite !inE => /andP[].
have : (i.1 (+) j.1, i.2 (+) j.2) != (false, false).
  by case: i j ne => [[] []] [[] []].
move: (i.1 (+) j.1) (i.2 (+) j.2) => f g ne_fg.
rewrite re_flip im_flip /= -!addrA => re0 im0 /andP[re1 im1].
have [s [d [le_d eq_d]]] := near_close re0 re1.
have [t [e [le_e eq_e]]] := near_close im0 im1.
have apart_re w : l < `|w| -> 2 * `|w| < q%:Z -> w = d + s * q%:Z -> False.
  by move=> lt_w le_w eq_w; apply: (near_apart lt_l le_w lt_w re0); rewrite eq_w -eq_d.
have apart_im w : l < `|w| -> 2 * `|w| < q%:Z -> w = e + t * q%:Z -> False.
  by move=> lt_w le_w eq_w; apply: (near_apart lt_l le_w lt_w im0); rewrite eq_w -eq_e.
have sums a b s' t' d' e' := @sums_apart a b s' t' d' e' l lam lt_q.
move: eq_d eq_e; rewrite /change; case: f g ne_fg {re0 im0 re1 im1} => [] [] //= _.
- case: (p k) => [[] []] /= eq_d eq_e.
  + by apply: (sums (- u k) (- v k) s (- t) d (- e)); lia.
  + by apply: (sums (- u k) (v k) s t d e); lia.
  + by apply: (sums (u k) (- v k) s t d e); lia.
  + by apply: (sums (u k) (v k) s (- t) d (- e)); lia.
- by case: (p k) => [[] []] /= eq_d eq_e; case: large => large;
    solve [apply: (apart_re _ _ _ eq_d); lia | apply: (apart_im _ _ _ eq_e); lia].
- by case: (p k) => [[] []] /= eq_d eq_e; case: large => large;
    solve [apply: (apart_re _ _ _ eq_d); lia | apply: (apart_im _ _ _ eq_e); lia].
Qed.

(** ** The two cases *)

Variable J : nat.
(** The bits of all J pairs. *)
Definition matrix := {ffun 'I_J -> bits}.
(** The bound 288 B^2 of the verifier. *)
Variable N : int.

Definition congruent (a b : int) : Prop := exists t : int, a = b + t * q%:Z.

(** Integers that satisfy (P) and that the verifier accepts. *)
Definition accepted_at (U V : int) (p : matrix) : Prop :=
  exists y y' : 'I_J -> int,
    [/\ forall j, congruent (y j) (re (p j)), forall j, congruent (y' j) (im (p j)) &
        \sum_j ((2 * y j - (U + V)) ^+ 2 + (2 * y' j - (V - U)) ^+ 2) <= N].

Definition is_i32 (a : int) : Prop := - 2 ^+ 31 <= a < 2 ^+ 31.

Definition accepted (p : matrix) : Prop :=
  exists U V : int, [/\ is_i32 U, is_i32 V, congruent U (\sum_k u k), congruent V (\sum_k v k) &
                     accepted_at U V p].

(** "U and V are functions of w: a residue has at most one representative of 32 bits." *)
Lemma i32_unique a b c :
  2 ^+ 32 <= q%:Z -> is_i32 a -> is_i32 b -> congruent a c -> congruent b c -> a = b.
Proof.
rewrite /is_i32 (exprS _ 31); move: (2 ^+ 31) => h le_q a32 b32 [s eq_a] [t eq_b].
have lt : - q%:Z < (s - t) * q%:Z < q%:Z by move: le_q a32 b32; rewrite eq_a eq_b; lia.
have st : s - t = 0 by nia.
by rewrite eq_a eq_b; have -> : s = t by lia.
Qed.

Lemma accepted_fixed (A : {set matrix}) :
  2 ^+ 32 <= q%:Z -> (forall p, p \in A -> accepted p) ->
  A = set0 \/ exists U V : int, forall p, p \in A -> accepted_at U V p.
Proof.
move=> le_q accA; have [->|[p0 Ap0]] := set_0Vmem A; [by left|right].
have [U [V [U32 V32 eq_U eq_V _]]] := accA p0 Ap0; exists U, V => p Ap.
have [U' [V' [U32' V32' eq_U' eq_V' acc]]] := accA p Ap.
by rewrite (i32_unique le_q U32 U32' eq_U eq_U') (i32_unique le_q V32 V32' eq_V eq_V').
Qed.

Hypothesis q_large : 2 ^+ 32 <= q%:Z.
Hypothesis centred : forall k, 2 * `|u k| < q%:Z /\ 2 * `|v k| < q%:Z.

(** "(a) Some |u_k| or |v_k| > Lambda. [...] So each pair has at most two of four values: 2^-136." *)
Theorem lemma5_a (lam : int) k (A : {set matrix}) :
  0 <= lam -> N < (lam + 1) ^+ 2 -> 2 * lam < q%:Z -> lam < `|u k| \/ lam < `|v k| ->
  (forall p, p \in A -> accepted p) ->
  (#|A| * 2 ^ J <= #|{: matrix}|)%N.
Proof.
move=> lam0 lt_N lt_q large /(accepted_fixed q_large)[->|[U [V accA]]]; first by rewrite cards0.
have [lt_u lt_v] := centred k.
rewrite [in leqRHS]card_ffun card_ord.
apply: leq_trans (_ : (#|inside_re (U + V) lam| ^ J * 2 ^ J <= _)%N); last first.
  by rewrite -expnMn; apply: leq_expr; apply: (@half_re k).
rewrite leq_mul2r; apply/orP; right.
rewrite -[J in (_ ^ J)%N]card_ord -card_ffun_on; apply: subset_leq_card; apply/subsetP => p Ap.
apply/ffun_onP => j; rewrite inE; apply/nearP.
have [y [y' [eq_y _ le]]] := accA p Ap; have [t eq_t] := eq_y j; exists t; rewrite -eq_t.
move: le; rewrite (bigD1 j) //= => le.
have rest : 0 <= \sum_(i | i != j) ((2 * y i - (U + V)) ^+ 2 + (2 * y' i - (V - U)) ^+ 2).
  by apply: sumr_ge0 => i _; rewrite addr_ge0 ?sqr_ge0.
move: le rest; move: (\sum_(i | i != j) _) (2 * y j - _) (2 * y' j - _) => r x x' le r0.
have : x ^+ 2 < (lam + 1) ^+ 2 by have := sqr_ge0 x'; lia.
rewrite !expr2; nia.
Qed.

(** Pairs whose rows are inside count 0, 1 or 2. *)
Definition inside (c c' l : int) (p : bits) : nat := (p \in inside_re c l) + (p \in inside_im c' l).

(** a^n b^(2-n), the weight of a pair with n rows inside: a/b is the s of Chernoff's bound. *)
Definition weight (a b : nat) (c c' l : int) (p : bits) : nat :=
  (a ^ inside c c' l p * b ^ (2 - inside c c' l p))%N.

(** "E s^n = 1 + (s-1)(P + P*) + (s-1)^2 P(both) <= ((1+s)/2)^2" *)
Lemma weight_sum a b k (c c' l lam : int) :
  (b <= a)%N -> 2 * (lam + l) < q%:Z -> 0 <= l -> `|u k| <= lam -> `|v k| <= lam ->
  l < `|u k| \/ l < `|v k| ->
  (4 * (\sum_(p : bits) weight a b c c' l p) <= #|{: bits}| * (a + b) ^ 2)%N.
Proof.
move=> le_ba lt_q l0 le_u le_v large; have [lt_u lt_v] := centred k.
have lt_l : 2 * l < q%:Z by lia.
have h1 := half_re c lt_l lt_u lt_v large.
have h2 := half_im c' lt_l lt_u lt_v large.
have h3 := quarter c c' lt_q lt_u lt_v l0 le_u le_v large.
have card_sum (X : {set bits}) : #|X| = (\sum_(p : bits) (p \in X))%N.
  by rewrite -sum1_card big_mkcond.
have [d eq_a] : exists d, a = (b + d)%N by exists (a - b)%N; lia.
have -> : (\sum_(p : bits) weight a b c c' l p)%N =
  (#|{: bits}| * b ^ 2 + (a - b) * b * (#|inside_re c l| + #|inside_im c' l|) +
  (a - b) ^ 2 * #|inside_re c l :&: inside_im c' l|)%N.
  rewrite !card_sum -sum1_card -big_split /= big_distrl /= !big_distrr /= -!big_split /=.
  apply: eq_bigr => p _; rewrite /weight /inside in_setI.
  have -> : (a - b = d)%N by lia.
  by case: (p \in inside_re c l); case: (p \in inside_im c' l) => /=;
    rewrite ?addn0 ?subn0 ?subnn ?expn0 ?expn1 ?eq_a ?expnS ?expn0; lia.
move: h1 h2 h3 le_ba; move: (#|inside_re c l|) (#|inside_im c' l|) => e1 e2.
move: (#|inside_re c l :&: inside_im c' l|) (#|{: bits}|) => e12 t h1 h2 h3 le_ba.
have -> : (a - b = d)%N by lia.
rewrite eq_a {eq_a le_ba}.
have k1 : (d * b * (e1 + e2) <= d * b * t)%N by rewrite leq_mul2l; apply/orP; right; lia.
have k2 : (d ^ 2 * (4 * e12) <= d ^ 2 * t)%N by rewrite leq_mul2l; apply/orP; right; lia.
nia.
Qed.

(** "At most 29 of 272 rows have |x| > l, since 30 of them would sum above 288 B^2." *)
Lemma outside_few (l : int) U V (p : matrix) :
  0 <= l -> N < 30%:Z * (l + 1) ^+ 2 -> accepted_at U V p ->
  (\sum_j (2 - inside (U + V) (V - U) l (p j)) <= 29)%N.
Proof.
move=> l0 lt_N [y [y' [eq_y eq_y' le]]].
have row c value z x : congruent z value -> x = 2 * z - c -> ~~ near value c l ->
    N + 1 <= 30%:Z * x ^+ 2.
  move=> [t eq_z] eq_x far; have lt_x : l < `|x|.
    rewrite ltNge eq_x eq_z; apply/negP => le_x.
    by move/negP: far; apply; apply/nearP; exists t.
  have : x ^+ 2 = `|x| ^+ 2 by rewrite real_normK ?num_real.
  by move: lt_N lt_x; rewrite !expr2; nia.
have N0 : 0 <= N.
  by apply: le_trans le; apply: sumr_ge0 => j _; rewrite addr_ge0 ?sqr_ge0.
have each j : (2 - inside (U + V) (V - U) l (p j))%N%:Z * (N + 1) <=
    30%:Z * ((2 * y j - (U + V)) ^+ 2 + (2 * y' j - (V - U)) ^+ 2).
  have := row _ _ _ _ (eq_y j) (erefl _); have := row _ _ _ _ (eq_y' j) (erefl _).
  move=> /(_ (V - U)) r1 /(_ (U + V)) r2; rewrite /inside !inE.
  have p1 := sqr_ge0 (2 * y j - (U + V)); have p2 := sqr_ge0 (2 * y' j - (V - U)).
  move: r1 r2 p1 p2; move: ((2 * y j - _) ^+ 2) ((2 * y' j - _) ^+ 2) => a b r1 r2 p1 p2.
  by case: (near (re _) _ _) r2 => r2; case: (near (im _) _ _) r1 => r1 /=;
     try (have {}r1 := r1 isT); try (have {}r2 := r2 isT); lia.
rewrite leqNgt; apply/negP => lt.
have : \sum_j (2 - inside (U + V) (V - U) l (p j))%N%:Z * (N + 1) <= 30%:Z * N.
  apply: le_trans (_ : \sum_j 30%:Z * ((2 * y j - (U + V)) ^+ 2 + (2 * y' j - (V - U)) ^+ 2) <= _).
    by apply: ler_sum => j _; exact: each.
  by rewrite -mulr_sumr ler_pmul2l.
rewrite -mulr_suml -(big_morph Posz PoszD (erefl _)).
move: lt; move: (\sum_j _)%N => n lt; nia.
Qed.

Lemma prod_weight a b c c' l (p : matrix) :
  (\prod_j weight a b c c' l (p j) =
   a ^ (\sum_j inside c c' l (p j)) * b ^ (\sum_j (2 - inside c c' l (p j))))%N.
Proof.
rewrite big_split /= (big_morph (expn a) (expnD a) (expn0 a)).
by rewrite (big_morph (expn b) (expnD b) (expn0 b)).
Qed.

Lemma inside_total c c' l (p : matrix) :
  ((\sum_j inside c c' l (p j)) + (\sum_j (2 - inside c c' l (p j))) = 2 * J)%N.
Proof.
rewrite -big_split /= -[in RHS](card_ord J) mulnC -sum_nat_const.
by apply: eq_bigr => j _; rewrite subnKC // /inside; case: (_ \in _); case: (_ \in _).
Qed.

(** Chernoff's bound, s = a/b, times b^(2J): of 2J rows all but 29 are inside. *)
Theorem lemma5_a' a b (l lam : int) k (A : {set matrix}) :
  (b <= a)%N -> (29 <= 2 * J)%N -> 0 <= l -> N < 30%:Z * (l + 1) ^+ 2 ->
  2 * (lam + l) < q%:Z -> (forall i, `|u i| <= lam /\ `|v i| <= lam) ->
  l < `|u k| \/ l < `|v k| -> (forall p, p \in A -> accepted p) ->
  (#|A| * (a ^ (2 * J - 29) * b ^ 29) * 4 ^ J <= #|{: matrix}| * (a + b) ^ (2 * J))%N.
Proof.
move=> le_ba J29 l0 lt_N lt_q not_a large /(accepted_fixed q_large)[->|[U [V accA]]].
  by rewrite cards0.
have [le_u le_v] := not_a k.
set w := weight a b (U + V) (V - U) l.
have each p : p \in A -> (a ^ (2 * J - 29) * b ^ 29 <= \prod_j w (p j))%N.
  move=> Ap; have few := outside_few l0 lt_N (accA p Ap).
  have := inside_total (U + V) (V - U) l p; rewrite /w prod_weight; move: few.
  move: (\sum_j (2 - _))%N => o; move: (\sum_j _)%N => i few tot.
  have -> : (i = (2 * J - 29) + (29 - o))%N by lia.
  have -> : (b ^ 29 = b ^ (29 - o) * b ^ o)%N by rewrite -expnD; congr (_ ^ _)%N; lia.
  rewrite expnD mulnA; apply: leq_mul => //; apply: leq_mul => //; exact: leq_expr.
have sum_le : (#|A| * (a ^ (2 * J - 29) * b ^ 29) <= (\sum_(p : bits) w p) ^ J)%N.
  rewrite -[in leqRHS](card_ord J) -prod_nat_const bigA_distr_bigA /= -sum_nat_const.
  rewrite [leqRHS](bigID (mem A)) /=; apply: leq_trans (leq_addr _ _).
  by apply: leq_sum => p; apply: each.
apply: leq_trans (_ : ((\sum_(p : bits) w p) ^ J * 4 ^ J <= _)%N).
  by rewrite leq_mul2r sum_le orbT.
rewrite [in leqRHS]card_ffun card_ord expnM -!expnMn leq_expr // mulnC.
exact: (@weight_sum a b k (U + V) (V - U) l lam).
Qed.

End Projection.
