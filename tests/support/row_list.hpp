#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "results/recorder.hpp"

namespace mdpcosim::test {

/// The user_error that the call ends with.
template <class Call>
std::string mistake(const Call& call) {
    try {
        call();
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "no mistake";
}

/// Rows as `run` records them.
struct row_list final : result_sink {
    explicit row_list(std::vector<std::vector<double>>& to) : rows(to) {}
    void write(std::span<const double> values, std::size_t length) override {
        for (std::size_t at = 0; at < values.size(); at += length)
            rows.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(at),
                              values.begin() + static_cast<std::ptrdiff_t>(at + length));
    }
    void flush() override {}
    std::vector<std::vector<double>>& rows;
};

}  // namespace mdpcosim::test
