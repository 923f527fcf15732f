#pragma once

#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

#include <memory>

/// Owners of SUNDIALS' objects.
namespace mdpcosim {

template <class T, void (*destroy)(T)>
struct sundials_deleter {
    using pointer = T;
    void operator()(T object) const { destroy(object); }
};
inline void free_context(SUNContext context) { SUNContext_Free(&context); }
inline void free_linear_solver(SUNLinearSolver object) { SUNLinSolFree(object); }
using context_handle = std::unique_ptr<SUNContext, sundials_deleter<SUNContext, free_context>>;
using vector_handle = std::unique_ptr<N_Vector, sundials_deleter<N_Vector, N_VDestroy>>;
using matrix_handle = std::unique_ptr<SUNMatrix, sundials_deleter<SUNMatrix, SUNMatDestroy>>;
using linear_solver_handle = std::unique_ptr<SUNLinearSolver, sundials_deleter<SUNLinearSolver, free_linear_solver>>;

}  // namespace mdpcosim
