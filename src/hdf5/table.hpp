#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mdpcosim {

/// A column of numbers, or of texts.
struct table_column {
    std::string name;
    std::string unit = {};
    std::vector<double> numbers = {};
    std::vector<std::string> texts = {};
    bool is_text = false;
};

/// One dataset per column, with its unit as attribute `unit`; in place of an older file. Throws run_error when it cannot be written.
void write_hdf5_table(const std::filesystem::path& path, const std::vector<table_column>& columns);

}  // namespace mdpcosim
