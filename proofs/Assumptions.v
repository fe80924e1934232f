(** What every theorem rests on: the Makefile fails if one of these answers names an axiom. *)
From Falconry Require Import Scalars Projection Figures Units Zeros Quarters.
Print Assumptions difference_uniform.
Print Assumptions one_scalar_each.
Print Assumptions lift_error.
Print Assumptions lemma5_a.
Print Assumptions lemma5_a'.
Print Assumptions figure_138_82.
Print Assumptions short_unit.
Print Assumptions zeros_one.
Print Assumptions two_points.
Print Assumptions three_points.
Print Assumptions quarter_of_product.
Print Assumptions quarters_matrix.
Print Assumptions lemma6.
