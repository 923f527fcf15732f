#include "results/coupling_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t most_numbers = 1 << 14, most_channels = 512;

/// An even number: buckets are joined in pairs.
std::size_t bucket_count(std::size_t channels) {
    return 2 * std::clamp<std::size_t>(most_numbers / 2 / std::max<std::size_t>(1, channels), 16, 256);
}

}  // namespace

coupling_trace::coupling_trace(std::size_t channels, std::size_t bonds)
    : channels_(std::min(channels, most_channels)),
      columns_(channels_ + std::min(bonds, most_channels)),
      buckets_(bucket_count(columns_)),
      jump_(buckets_.size() * channels_),
      residual_(buckets_.size() * columns_),
      energy_(residual_.size()),
      before_(columns_) {}

void coupling_trace::attempt(double H, double error, bool accepted) {
    if (accepted) {
        waiting_.error = error;
        return;
    }
    ++waiting_.rejected;
    waiting_.H_rejected = std::max(waiting_.H_rejected, H);
}

void coupling_trace::follow_energy(std::size_t column, double error) {
    const std::size_t at = (used_ - 1) * columns_ + column;
    residual_[at] = std::max(residual_[at], std::abs(error - before_[column]));
    energy_[at] = before_[column] = error;
}

void coupling_trace::step(const macro_step& step, std::span<const double> jumps, std::span<const double> energy_errors,
                          std::span<const double> bond_errors) {
    if (used_ == 0 || in_last_ == stride_) {
        if (used_ == buckets_.size()) join_neighbours();
        buckets_[used_] = {step.end, step.end - step.begin};
        std::fill_n(jump_.begin() + static_cast<std::ptrdiff_t>(used_ * channels_), channels_, 0.0);
        std::fill_n(residual_.begin() + static_cast<std::ptrdiff_t>(used_ * columns_), columns_, 0.0);
        ++used_;
        in_last_ = 0;
    }
    ++in_last_;
    bucket& b = buckets_[used_ - 1];
    const double H = step.end - step.begin;
    b.end = step.end;
    b.H_min = std::min(b.H_min, H);
    b.H_max = std::max(b.H_max, H);
    b.rejected += waiting_.rejected;
    b.H_rejected = std::max(b.H_rejected, waiting_.H_rejected);
    b.error = std::max(b.error, waiting_.error);
    waiting_ = {};
    const std::size_t row = (used_ - 1) * channels_;
    for (std::size_t c = 0; c < channels_; ++c) {
        jump_[row + c] = std::max(jump_[row + c], std::abs(jumps[c]));
        follow_energy(c, energy_errors[c]);
    }
    for (std::size_t c = channels_; c < columns_; ++c) follow_energy(c, bond_errors[c - channels_]);
}

void coupling_trace::join_neighbours() {
    for (std::size_t k = 0; k < used_ / 2; ++k) {
        const bucket &first = buckets_[2 * k], &second = buckets_[2 * k + 1];
        buckets_[k] = {second.end,
                       std::min(first.H_min, second.H_min),
                       std::max(first.H_max, second.H_max),
                       std::max(first.H_rejected, second.H_rejected),
                       std::max(first.error, second.error),
                       first.rejected + second.rejected};
        for (std::size_t c = 0; c < channels_; ++c) {
            const std::size_t a = 2 * k * channels_ + c, b = a + channels_, to = k * channels_ + c;
            jump_[to] = std::max(jump_[a], jump_[b]);
        }
        for (std::size_t c = 0; c < columns_; ++c) {
            const std::size_t a = 2 * k * columns_ + c, b = a + columns_, to = k * columns_ + c;
            residual_[to] = std::max(residual_[a], residual_[b]);
            energy_[to] = energy_[b];
        }
    }
    used_ /= 2;
    stride_ *= 2;
}

namespace {

/// Nine digits are more than a picture shows, and half of what all digits take.
template <class Value>
std::string list_text(std::size_t count, const Value& value) {
    std::string out = "[";
    for (std::size_t k = 0; k < count; ++k) {
        const double v = value(k);
        if (k > 0) out += ',';
        out += std::isfinite(v) ? fmt::format("{:.9g}", v) : "null";
    }
    return out + "]";
}

}  // namespace

std::string coupling_trace::to_json(const std::vector<std::string>& names,
                                    const std::vector<std::string>& bonds) const {
    const auto of_steps = [this](auto member) {
        return list_text(used_, [&](std::size_t k) { return static_cast<double>(buckets_[k].*member); });
    };
    std::string out = fmt::format(
        "{{\"macro_steps_per_point\": {},\n\"time\": {},\n\"H_min\": {},\n\"H_max\": {},\n\"rejected\": "
        "{},\n\"H_rejected\": {},\n\"error\": {},\n\"connections\": [",
        stride_, of_steps(&bucket::end), of_steps(&bucket::H_min), of_steps(&bucket::H_max),
        of_steps(&bucket::rejected), of_steps(&bucket::H_rejected), of_steps(&bucket::error));
    const auto column = [this](const std::vector<double>& values, std::size_t columns, std::size_t c) {
        return list_text(used_, [&](std::size_t k) { return values[k * columns + c]; });
    };
    const auto energies = [&](std::size_t c) {
        return fmt::format("\"residual\": {}, \"energy_error\": {}}}", column(residual_, columns_, c),
                           column(energy_, columns_, c));
    };
    const char* separator = "\n";
    for (std::size_t c = 0; c < channels_; ++c) {
        if (names[c].empty()) continue;
        out += fmt::format("{}{{\"name\": {}, \"jump\": {}, {}", separator, json(names[c]).dump(),
                           column(jump_, channels_, c), energies(c));
        separator = ",\n";
    }
    out += "],\n\"bonds\": [";
    separator = "\n";
    for (std::size_t b = channels_; b < columns_; ++b) {
        out += fmt::format("{}{{\"name\": {}, {}", separator, json(bonds[b - channels_]).dump(), energies(b));
        separator = ",\n";
    }
    return out + "]}\n";
}

}  // namespace mdpcosim
