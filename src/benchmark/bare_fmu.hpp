#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "fmi/fmi2_functions.h"

/// Loops over FMUs as a textbook writes them, beside which mdpcosim is measured: no checks, no names, no types, no extrapolation.
namespace mdpcosim {

/// Values by their references.
struct bare_starts {
    std::vector<std::pair<unsigned, double>> reals = {};
    std::vector<std::pair<unsigned, int>> integers = {};
};

/// An FMU of FMI 2.0 for co-simulation, with one input and one output. Never freed.
struct bare_fmu {
    /// From its archive. Throws user_error where it cannot be used.
    bare_fmu(const std::filesystem::path& archive, unsigned input_reference, unsigned output_reference,
             const bare_starts& starts = {});

    unsigned input, output;
    fmi2Component instance = nullptr;
    fmi2SetRealTYPE* set_real = nullptr;
    fmi2GetRealTYPE* get_real = nullptr;
    fmi2DoStepTYPE* do_step = nullptr;

    void set(double value) const { set_real(instance, &input, 1, &value); }
    double get() const {
        double value = 0;
        get_real(instance, &output, 1, &value);
        return value;
    }
    void step(double t, double H) const { do_step(instance, t, H, fmi2True); }
};

/// The output of the first one goes through all others, one after the other.
class bare_chain {
   public:
    bare_chain(bare_fmu first, std::vector<bare_fmu> others)
        : first_(first), others_(std::move(others)), last_(others_.size()), before_(others_.size()) {}

    double step(double t, double H) {
        double value = first_.get();
        first_.step(t, H);
        for (const bare_fmu& f : others_) {
            f.set(value);
            f.step(t, H);
            value = f.get();
        }
        return value;
    }

    /// With the calls that mdpcosim makes of every feed-through FMU: the mean of the extrapolated input over the step, the step, the input at
    /// its end, the output.
    double step_with_all_calls(double t, double H) {
        first_.step(t, H);
        double value = first_.get();
        for (std::size_t i = 0; i < others_.size(); ++i) {
            const bare_fmu& f = others_[i];
            f.set(last_[i] + (last_[i] - before_[i]) / 2);
            f.step(t, H);
            f.set(value);
            before_[i] = last_[i];
            last_[i] = value;
            value = f.get();
        }
        return value;
    }

   private:
    bare_fmu first_;
    std::vector<bare_fmu> others_;
    std::vector<double> last_, before_;
};

/// Each one's output is the next one's input, the last one's that of the first.
class bare_ring {
   public:
    explicit bare_ring(std::vector<bare_fmu> all) : all_(std::move(all)), values_(all_.size()) {}

    double step(double t, double H) {
        for (std::size_t i = 0; i < all_.size(); ++i) values_[i] = all_[i].get();
        for (std::size_t i = 0; i < all_.size(); ++i) {
            all_[i].set(values_[i > 0 ? i - 1 : all_.size() - 1]);
            all_[i].step(t, H);
        }
        return values_[0];
    }

   private:
    std::vector<bare_fmu> all_;
    std::vector<double> values_;
};

}  // namespace mdpcosim
