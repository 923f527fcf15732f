#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mdpcosim {

/// One parameter that a model, a law or a solver declares.
struct parameter_info {
    enum class range { any, positive, not_negative, whole };  ///< whole: an integer of at least 1

    std::string name;
    std::string unit;  ///< SI; "1" for a pure number; laws may use the patterns of unit_for()
    std::string description;
    double default_value = 0;
    range allowed = range::any;
    bool required = false;
    bool list = false;                      ///< takes a number or a list of numbers
    std::vector<std::string> choices = {};  ///< not empty: a word out of these, its value being the word's index
    std::string symbol = {};                ///< the letter of the formula, accepted as a second name
    double most = 1e9;                      ///< of a whole number

    bool is_called(std::string_view given) const { return given == name || (!symbol.empty() && given == symbol); }
};

/// Values for a list of declared parameters, in SI and in the declared order.
class parameter_values {
   public:
    explicit parameter_values(const std::vector<parameter_info>& infos);

    double operator[](std::string_view name) const { return values_[index(name)].front(); }
    const std::vector<double>& list(std::string_view name) const { return values_[index(name)]; }
    bool given(std::string_view name) const { return given_[index(name)]; }
    void set(std::string_view name, std::vector<double> values);

   private:
    std::size_t index(std::string_view name) const;

    const std::vector<parameter_info>* infos_;
    std::vector<std::vector<double>> values_;
    std::vector<bool> given_;
};

}  // namespace mdpcosim
