#pragma once

#include <string>
#include <vector>

#include "analysis/requests.hpp"
#include "analysis/stability_report.hpp"

/// Results of the analyses as web pages, in the manner of a run's report. Throws user_error where the file cannot be written.
namespace mdpcosim {

void write_html(const std::string& path, const stability_report& report, const std::vector<stability_map>& maps);
void write_html(const std::string& path, const std::vector<order_result>& results);
void write_html(const std::string& path, const std::vector<longtime_result>& results);

}  // namespace mdpcosim
