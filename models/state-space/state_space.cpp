#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// x' = A x + B u,  y = C x + D u; matrices row by row.
// An output without feed-through (its row of D is zero) offers its rate C A x + C B u.

namespace mdpcosim {

namespace {

struct matrices {
    std::size_t n, m, p;
    std::vector<double> A, B, C, D;
    std::vector<double> CA, CB;
};

std::vector<int> nonzeros(const std::vector<double>& matrix, std::size_t row, std::size_t columns) {
    std::vector<int> found;
    for (std::size_t j = 0; j < columns; ++j)
        if (matrix[row * columns + j] != 0) found.push_back(static_cast<int>(j));
    return found;
}

/// Outputs are described one by one, since each row of D and C B has a structure of its own.
subsystem_description describe_structure(const matrices& s) {
    subsystem_description d;
    d.type = "model state-space";
    add_input(d, "u", "", "input signals");
    d.inputs.back().size = static_cast<int>(s.m);
    const auto name = [&](std::size_t i) { return s.p == 1 ? std::string("y") : fmt::format("y[{}]", i); };
    for (std::size_t i = 0; i < s.p; ++i) {
        add_output(d, name(i), "", "output signal");
        d.outputs.back().direct = nonzeros(s.D, i, s.m);
    }
    for (std::size_t i = 0; i < s.p; ++i) {
        if (!d.outputs[i].direct.empty()) continue;
        d.outputs[i].rate_slot = add_output(d, fmt::format("der({})", name(i)), "", fmt::format("rate of {}", name(i)));
        d.outputs.back().direct = nonzeros(s.CB, i, s.m);
        d.outputs[i].rate_needs_input = !d.outputs.back().direct.empty();
    }
    return d;
}

std::string structure_key(const matrices& s) {
    std::string key = fmt::format("model state-space {} {} ", s.m, s.p);
    for (const auto* matrix : {&s.D, &s.CB})
        for (const double entry : *matrix) key += entry == 0 ? '0' : '1';
    return key;
}

std::size_t size_of(const parameter_values& p, const char* name) {
    const double value = p[name];
    if (value > 10000) throw std::invalid_argument(fmt::format("{} = {} is too large; at most 10000", name, value));
    return static_cast<std::size_t>(value);
}

/// A list of rows * columns numbers; a single zero stands for the whole matrix.
std::vector<double> matrix_of(const parameter_values& p, const char* name, std::size_t rows, std::size_t columns) {
    std::vector<double> values = p.list(name);
    if (values.size() == 1 && values[0] == 0) values.assign(rows * columns, values[0]);
    if (values.size() != rows * columns)
        throw std::invalid_argument(fmt::format("{} has {} numbers; {} rows of {} are {}, row by row", name,
                                                values.size(), rows, columns, rows * columns));
    return values;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::size_t rows,
                            std::size_t inner, std::size_t columns) {
    std::vector<double> c(rows * columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < inner; ++k)
            for (std::size_t j = 0; j < columns; ++j) c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    return c;
}

class state_space final : public equations {
   public:
    explicit state_space(const parameter_values& p) {
        s_.n = size_of(p, "n");
        s_.m = size_of(p, "m");
        s_.p = size_of(p, "p");
        s_.A = matrix_of(p, "A", s_.n, s_.n);
        s_.B = matrix_of(p, "B", s_.n, s_.m);
        s_.C = matrix_of(p, "C", s_.p, s_.n);
        s_.D = matrix_of(p, "D", s_.p, s_.m);
        x0_ = p.list("x0");
        if (x0_.size() == 1) x0_.assign(s_.n, x0_[0]);
        if (x0_.size() != s_.n)
            throw std::invalid_argument(
                fmt::format("x0 has {} values; one for all or {} are needed", x0_.size(), s_.n));
        s_.CA = product(s_.C, s_.A, s_.p, s_.n, s_.n);
        s_.CB = product(s_.C, s_.B, s_.p, s_.n, s_.m);
        description_ =
            &shared_description(structure_key(s_), [&](subsystem_description& d) { d = describe_structure(s_); });
    }

    const subsystem_description& describe() const noexcept override { return *description_; }
    int state_count() const override { return static_cast<int>(s_.n); }
    void initial_state(double /*t0*/, double* x) const override { std::copy(x0_.begin(), x0_.end(), x); }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        for (std::size_t i = 0; i < s_.n; ++i) dx[i] = row(s_.A, s_.n, x, i) + row(s_.B, s_.m, u, i);
    }

    void outputs(double /*t*/, const double* x, const double* u, double* y) const override {
        for (std::size_t i = 0; i < s_.p; ++i) {
            y[i] = row(s_.C, s_.n, x, i) + row(s_.D, s_.m, u, i);
            const int rate = description_->outputs[i].rate_slot;
            if (rate >= 0) y[rate] = row(s_.CA, s_.n, x, i) + row(s_.CB, s_.m, u, i);
        }
    }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* dfdx) const override {
        for (std::size_t i = 0; i < s_.n; ++i)
            for (std::size_t j = 0; j < s_.n; ++j) dfdx[i + j * s_.n] = s_.A[i * s_.n + j];
        return true;
    }

   private:
    static double row(const std::vector<double>& matrix, std::size_t columns, const double* v, std::size_t i) {
        double sum = 0;
        for (std::size_t j = 0; j < columns; ++j) {
            const double entry = matrix[i * columns + j];
            if (entry != 0) sum += entry * v[j];  // what the structure says is no dependence, whatever v holds
        }
        return sum;
    }

    matrices s_;
    std::vector<double> x0_;
    const subsystem_description* description_;
};

using range = parameter_info::range;

const model_registration registered{{
    "state-space",
    "linear system with several inputs and outputs given by matrices",
    {
        {.name = "n",
         .unit = "1",
         .description = "number of states",
         .default_value = 1,
         .allowed = range::whole,
         .most = 1e4},
        {.name = "m",
         .unit = "1",
         .description = "number of inputs",
         .default_value = 1,
         .allowed = range::whole,
         .most = 1e4},
        {.name = "p",
         .unit = "1",
         .description = "number of outputs",
         .default_value = 1,
         .allowed = range::whole,
         .most = 1e4},
        {"A", "", "n rows of n numbers, row by row", -1, range::any, false, true},
        {"B", "", "n rows of m numbers", 1, range::any, false, true},
        {"C", "", "p rows of n numbers", 1, range::any, false, true},
        {"D", "", "p rows of m numbers; 0 for none", 0, range::any, false, true},
        {"x0", "", "states at the start: one value for all, or a list", 0, range::any, false, true},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<state_space>(p); },
}};

}  // namespace

}  // namespace mdpcosim
