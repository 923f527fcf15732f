#pragma once

/// What the plugins made of faulty.cpp can be asked for by their parameters `where` and `how`.
namespace mdpcosim::test {

enum class fault_place {
    nowhere,
    create,
    destroy,
    initialise,
    output_values,
    derivatives,
    jacobian,
    event_indicators,
    apply_event,
    next_time_event,
    advance,
    save_size,
    save,
    restore
};

enum class fault {
    none,
    segv,
    fpe,
    abort,
    stack,
    message,
    endless_message,
    no_message,
    exception,
    odd_exception,
    nan,
    exit,
    hang,
    as_told  ///< see commit_fault.h
};

}  // namespace mdpcosim::test
