#pragma once

#include <string>
#include <vector>

#include "engine/analysis.hpp"
#include "engine/stability.hpp"

/// Results of the analyses as web pages, in the manner of a run's report. Throws user_error where the file cannot be written.
namespace mdpcosim {

void write_html(const std::string& path, const stability_report& report, const std::vector<stability_map>& maps);
void write_html(const std::string& path, const std::vector<order_result>& results);
void write_html(const std::string& path, const std::vector<longtime_result>& results);

}  // namespace mdpcosim
