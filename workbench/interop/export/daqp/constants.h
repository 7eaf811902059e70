#ifndef DAQP_CONSTANTS_H
#define DAQP_CONSTANTS_H

# ifdef __cplusplus
extern "C" {
# endif // ifdef __cplusplus

#include <stddef.h>

// Individual weights for the soft constraints, unless explicitly disabled
#ifndef DAQP_NO_SOFT_WEIGHTS
#define DAQP_SOFT_WEIGHTS
#endif

#define DAQP_EMPTY_IND -1
#define DAQP_UNCONSTRAINED_OPTIMAL -2
#define DAQP_INF ((c_float)1e30)

// DEFAULT SETTINGS
#define DAQP_DEFAULT_PRIM_TOL 1e-6
#define DAQP_DEFAULT_DUAL_TOL 1e-12
#define DAQP_DEFAULT_ZERO_TOL 1e-11
#define DAQP_DEFAULT_PROG_TOL 1e-14
#define DAQP_DEFAULT_PIVOT_TOL 1e-8
#define DAQP_DEFAULT_CYCLE_TOL 10
#define DAQP_DEFAULT_ETA -1.0
#define DAQP_AUTO_ETA_CAP 1e-6
#define DAQP_AUTO_ETA_FSCALE 1e4
#define DAQP_DEFAULT_ITER_LIMIT 10000
#define DAQP_DEFAULT_RHO_SOFT 1e-6
#define DAQP_DEFAULT_W_SOFT 0
#define DAQP_DEFAULT_REL_SUBOPT 0
#define DAQP_DEFAULT_ABS_SUBOPT 0
#define DAQP_DEFAULT_SING_TOL (3.7e-11)
// Weight of free soft slacks in a singular direction that is not rounding
#define DAQP_SOFT_CURV_TOL 1.5e-8
#define DAQP_DEFAULT_REFACTOR_TOL 1e-9
#define DAQP_DEFAULT_EPS_PROX (-1e-6)
// Smallest singularity tolerance in BnB (see daqp_bnb_sing_tol)
#define DAQP_BNB_MIN_SING_TOL 1e-14

// Equality-reduction policy (DAQPSettings.eq_reduction). AUTO only reduces
// solves that start from scratch, which the setup/update marks with
// DAQP_UPDATE_eliminate (daqp_quadprog, the interfaces' one-shot solves, and
// the Eigen interface without warm start); ON also reduces a warm-started
// workspace that is updated and solved repeatedly
#define DAQP_EQ_REDUCTION_OFF (-1)
#define DAQP_EQ_REDUCTION_AUTO 0
#define DAQP_EQ_REDUCTION_ON 1

// Minimum number of iterations for daqp_refine_primal to be applied (prox)
#define DAQP_REFINE_MIN_ITER 5
// A Hessian with a larger condition number (estimate) is refined (daqp_refine_primal)
#define DAQP_REFINE_COND 1e6
// Refine if the rounding errors (about DAQP_REFINE_GAIN*eps*max(|u|,|v|)/min(D))
// might exceed primal_tol
#define DAQP_REFINE_GAIN 1e3
// The active constraints are refined at a solution if a pivot of the LDL' is
// below this (independent of pivot_tol, since BnB does not refine x afterwards)
#define DAQP_REFINE_PIVOT 1e-6
// A new pivot of the LDL' is recomputed from an explicit residual (daqp_refine_pivot) if it
// might be dominated by rounding errors, which are amplified by small pivots of the working
// set: if it is below DAQP_PIVOT_REFINE_GAIN*eps/min(D) (the rows of M are normalized).
// Pivots below sing_tol are singular without refinement.
#define DAQP_PIVOT_REFINE_GAIN 1e2
// The working set is singular if the residual decreases by more than this factor when refined
#define DAQP_PIVOT_REFINE_DECREASE 0.1
// When cycling persists after the working set has been refactorized, a
// constraint is only added if its violation also exceeds the rounding level of
// u = -M'lam, about DAQP_ADD_NOISE_GAIN*eps*sum|lam| (the rows of M are
// normalized). Below it, the computed violation is rounding noise, on which a
// degenerate working set can swap constraints indefinitely
#define DAQP_ADD_NOISE_GAIN 10

// Presolve (settings->presolve): tightened bounds are relaxed by DAQP_PRESOLVE_MARGIN
// (relative), and only kept if they improve by DAQP_PRESOLVE_MIN_IMPROVEMENT (relative
// to the width). DAQP_PRESOLVE_FEAS_TOL is the tolerance for infeasibility
#define DAQP_PRESOLVE_MARGIN 1e-9
#define DAQP_PRESOLVE_MIN_IMPROVEMENT 1e-3
#define DAQP_PRESOLVE_FEAS_TOL 1e-6

// eps (relative to max(H_ii)) used when a semi-proximal inner problem fails
#define DAQP_PROX_EPS_MAX 1e-3
// Regularize a reduced Hessian of an H with zero rows if cond > DAQP_HESSIAN_COND_MAX,
// and any Hessian if n*eps*cond > DAQP_HESSIAN_COND_EPS
#define DAQP_HESSIAN_COND_MAX 1e8
#define DAQP_HESSIAN_COND_EPS 0.1
// The inverse of the Cholesky factor is deferred if the bound of cond(H) from
// its diagonal, times DAQP_COND_DEFER_MARGIN, is below the limits above
#define DAQP_COND_DEFER_MARGIN 100

// How the reduced problem of an equality elimination is posed
#define DAQP_EQ_PATH_LDP 0 // Identity Hessian, no linear term (H PD on the null space)
#define DAQP_EQ_PATH_QP 1  // Reduced Hessian W'HW (singular QP or AVI)
#define DAQP_EQ_PATH_LP 2  // No Hessian

// Equality constraints are eliminated if there are sufficiently many of them
// (neq > EQ_MIN_COUNT and EQ_MIN_RATIO*neq > n)
#define DAQP_EQ_MIN_COUNT 5
#define DAQP_EQ_MIN_RATIO 10
#define DAQP_EQ_MIN_DIM 12
// Diagonal Hessians require at least n/DAQP_EQ_DIAG_MIN_RATIO equalities
#define DAQP_EQ_DIAG_MIN_RATIO 4


// MACROS
#define DAQP_ARSUM(x) ((x)*(x+1)/2)
#define DAQP_R_OFFSET(X,Y) (((2*Y-X-1)*X)/2)

// EXIT FLAGS
// An integer-feasible solution is returned, but its optimality is not proven
// (branch and bound terminated early due to time/iteration limit or cycling)
#define DAQP_EXIT_FEASIBLE 5
// Optimal, but found after cycling with the rounding level as the tolerance for
// adding constraints, and the solution violates a constraint by more than
// primal_tol (see DAQP_ADD_NOISE_GAIN). Also for branch and bound with a singular
// Hessian, whose regularization can make the solution suboptimal by more than
// abs_subopt + rel_subopt*|J| (see daqp_bnb_prox)
#define DAQP_EXIT_OPTIMAL_INEXACT 4
// A hierarchical QP stopped early: the point satisfies the levels solved so far
#define DAQP_EXIT_CONSTRAINED_POINT 3
#define DAQP_EXIT_SOFT_OPTIMAL 2
#define DAQP_EXIT_OPTIMAL 1
#define DAQP_EXIT_INFEASIBLE -1
#define DAQP_EXIT_CYCLE -2
#define DAQP_EXIT_UNBOUNDED -3
#define DAQP_EXIT_ITERLIMIT -4
#define DAQP_EXIT_NONCONVEX -5
#define DAQP_EXIT_OVERDETERMINED_INITIAL -6
#define DAQP_EXIT_TIMELIMIT -7
#define DAQP_EXIT_UNSUPPORTED -8

// UPDATE LDP MASKS
#define DAQP_UPDATE_Rinv 1
#define DAQP_UPDATE_M 2
#define DAQP_UPDATE_v 4
#define DAQP_UPDATE_d 8
#define DAQP_UPDATE_sense 16
#define DAQP_UPDATE_hierarchy 32
#define DAQP_UPDATE_unconstrained 64
// Lets DAQP_EQ_REDUCTION_AUTO eliminate the equality constraints of the LDP
// that this setup/update forms (for a solve that starts from scratch)
#define DAQP_UPDATE_eliminate 128

// WORKSPACE STATE MASKS
// The DAQP_UPDATE_* bits in DAQP_STATE_PENDING mark the parts of the LDP that
// an earlier update did not form, which the next update then forms
#define DAQP_STATE_PENDING (DAQP_UPDATE_Rinv+DAQP_UPDATE_M+DAQP_UPDATE_v+DAQP_UPDATE_d+DAQP_UPDATE_sense+DAQP_UPDATE_hierarchy)
#define DAQP_STATE_UNCONSTRAINED 256 // The unconstrained optimum is the solution
#define DAQP_STATE_RINV_NORMALIZED 512 // The first ms rows of Rinv are normalized
#define DAQP_STATE_INCUMBENT 1024 // work->x holds a candidate solution for BnB
#define DAQP_STATE_ILL_CONDITIONED 2048 // cond(H) (estimate) above DAQP_REFINE_COND

// Rinv holds the Cholesky factor R (with reciprocal diagonal), not its inverse.
// Kept while the unconstrained optimum is optimal; inverted before a constrained solve.
#define DAQP_STATE_CHOLESKY_PENDING 4096
// Constraints are only added above the rounding level of u (set by daqp_ldp when
// cycling persists, see DAQP_ADD_NOISE_GAIN)
#define DAQP_STATE_NOISE_FLOOR 8192
// The LDP is formed from the presolved copy of qp (see daqp_presolve)
#define DAQP_STATE_PRESOLVED 16384

// CONSTRAINT MASKS
#define DAQP_ACTIVE 1
#define DAQP_IS_ACTIVE(x) (work->sense[x]&1)
#define DAQP_SET_ACTIVE(x) (work->sense[x]|=1)
#define DAQP_SET_INACTIVE(x) (work->sense[x]&=~1)

// marks if a constraints is active at its lower bound
#define DAQP_LOWER 2
#define DAQP_IS_LOWER(x) (work->sense[x]&2)
#define DAQP_SET_LOWER(x) (work->sense[x]|=2)
#define DAQP_SET_UPPER(x) (work->sense[x]&=~2)

// marks if a constraint cannot be activated/deactivated
#define DAQP_IMMUTABLE 4
#define DAQP_IS_IMMUTABLE(x) (work->sense[x]&4)
#define DAQP_SET_IMMUTABLE(x) (work->sense[x]|=4)
#define DAQP_SET_MUTABLE(x) (work->sense[x]&=~4)

// marks that a constraint might be violated (but the slack is penalized)
#define DAQP_SOFT 8
#define DAQP_IS_SOFT(x) (work->sense[x]&8)
#define DAQP_SET_SOFT(x) (work->sense[x]|=8)
#define DAQP_SET_HARD(x) (work->sense[x]&=~8)

// marks that a constraint has to be active at either its upper or lower bound
#define DAQP_BINARY 16
#define DAQP_IS_BINARY(x) (work->sense[x]&16)

// marks that the slack of a soft constraint is zero (see auxiliary.c)
#define DAQP_SLACK_FIXED 32
#define DAQP_IS_SLACK_FIXED(x) (work->sense[x]&32)
#define DAQP_IS_SLACK_FREE(x) ((work->sense[x]&32)==0)
#define DAQP_SET_SLACK_FIXED(x) (work->sense[x]|=32)
#define DAQP_SET_SLACK_FREE(x) (work->sense[x]&=~32)

// marks a constraint that is temporarily set aside (see gradient_step in daqp_prox.c)
#define DAQP_SET_ASIDE 64

// Internal marker: ACTIVE and IMMUTABLE were set by bound equality detection.
#define DAQP_AUTO_EQUALITY 128

// Internal marker: soft slack switched at w, no primal step since
#define DAQP_SLACK_SWITCHED 256

// Internal markers of a hierarchical QP (hierarchical.c): a constraint that a
// solved level made an equality, and one that is eliminated for the lower levels
#define DAQP_HQ_FROZEN 512
#define DAQP_HQ_ELIMINATED 1024

// Internal marker: a general constraint with a zero row, which daqp_normalize_M
// ignores (as IMMUTABLE) until the row becomes nonzero. Its ACTIVE, IMMUTABLE and
// SOFT bits are kept in bits 12-14 (LOWER in place), which also fits a 16-bit int.
// Read the sense of such a constraint only through DAQP_ZERO_ROW_SENSE
#define DAQP_ZERO_ROW 2048
#define DAQP_ZERO_ROW_MARK(s) (DAQP_IMMUTABLE | DAQP_ZERO_ROW | ((s) & DAQP_LOWER) | \
        (((s) & DAQP_ACTIVE) << 12) | (((s) & (DAQP_IMMUTABLE | DAQP_SOFT)) << 11))
#define DAQP_ZERO_ROW_SENSE(s) (((s) & DAQP_ZERO_ROW) ? ((s) & DAQP_LOWER) | \
        (((s) >> 12) & DAQP_ACTIVE) | (((s) >> 11) & (DAQP_IMMUTABLE | DAQP_SOFT)) : (s))

#define DAQP_IS_HIERARCHICAL(work) \
    ((work)->hierarchy != NULL && (work)->hierarchy->nh > 1)

# ifdef __cplusplus
}
# endif // ifdef __cplusplus

#endif //ifndef DAQP_CONSTANTS_H
