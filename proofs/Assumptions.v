(** What every theorem rests on: the Makefile fails if one of these answers names an axiom. *)
From Falconry Require Import Scalars.
Print Assumptions difference_uniform.
Print Assumptions one_scalar_each.
Print Assumptions lift_error.
From Falconry Require Import Projection Figures.
Print Assumptions lemma5_a.
Print Assumptions lemma5_a'.
Print Assumptions figure_138_82.
