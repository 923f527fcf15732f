#include "results/summary.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/json.hpp"

namespace mdpcosim {

namespace {

json iterations_json(const std::vector<run_summary::iteration>& all) {
    auto list = json::array();
    for (const auto& x : all)
        list.push_back({{"of", x.subject},
                        {"solver", x.solver},
                        {"variables", x.variables},
                        {"solutions", x.solutions},
                        {"iterations_mean", x.mean()},
                        {"iterations_largest", x.largest},
                        {"evaluations", x.evaluations},
                        {"last_residual", x.residual}});
    return list;
}

json verification_json(const verification& v) {
    auto variables = json::array();
    for (const auto& x : v.variables) {
        variables.push_back(
            {{"name", x.name}, {"error", x.error}, {"time", x.time}, {"relative", x.relative}, {"coupled", x.coupled}});
        if (x.order) variables.back()["order"] = *x.order;
    }
    json document{{"half_step", v.half}, {"twice_step", v.twice}, {"variables", variables}};
    if (v.order) document["order"] = *v.order;
    return document;
}

}  // namespace

std::string to_json(const run_summary& s) {
    json subsystems = json::array();
    for (const auto& x : s.subsystems) {
        subsystems.push_back({{"name", x.name},
                              {"type", x.type},
                              {"solver", x.solver},
                              {"micro_steps", x.micro_steps},
                              {"evaluations", x.evaluations},
                              {"rejected", x.rejected},
                              {"events", x.events},
                              {"seconds_per_macro_step", x.seconds_per_step},
                              {"worker", x.worker}});
        if (x.newton_iterations == 0 && x.factorisations == 0) continue;
        subsystems.back()["newton_iterations"] = x.newton_iterations;
        subsystems.back()["factorisations"] = x.factorisations;
    }
    const double simulated = s.reached - s.start;
    const auto coupling_json = [&](const run_summary::connection& x) {
        const double share = x.energy_peak > 0 ? x.energy_error / x.energy_peak : 0;
        return json{{"name", x.name},
                    {"law", x.law},
                    {"extrapolation", x.extrapolation},
                    {"unit", x.unit},
                    {"u_min", x.u_min},
                    {"u_max", x.u_max},
                    {"u_end", x.u_end},
                    {"jump_max", x.jump_max},
                    {"jump_rms", x.jump_rms},
                    {"energy_error", x.energy_error},
                    {"energy_exchanged", x.energy},
                    {"energy_peak", x.energy_peak},
                    {"energy_error_share", share},
                    {"energy_error_share_per_second", simulated > 0 ? share / simulated : 0},
                    {"unresolved", x.unresolved},
                    {"phase_error", x.phase},
                    {"amplitude_error", x.amplitude},
                    {"contacts", x.contacts}};
    };
    json connections = json::array(), signals = json::array();
    for (const auto& x : s.connections) connections.push_back(coupling_json(x));
    for (const auto& x : s.signals) signals.push_back(coupling_json(x));
    json document{{"scenario", s.scenario},
                  {"folder", s.folder},
                  {"status", s.status},
                  {"message", s.message},
                  {"method", s.method},
                  {"transport", s.transport},
                  {"time", {{"start", s.start}, {"end", s.end}, {"step", s.step}, {"reached", s.reached}}},
                  {"macro_steps", s.steps},
                  {"parallel_macro_steps", s.parallel_steps},
                  {"workers", s.workers},
                  {"rows", s.rows},
                  {"wall_seconds", s.wall_seconds},
                  {"setup_seconds", s.setup_seconds},
                  {"subsystems", std::move(subsystems)},
                  {"connections", std::move(connections)},
                  {"signals", std::move(signals)},
                  {"notes", s.notes}};
    for (const auto& x : s.bonds)
        document["bonds"].push_back({{"name", x.name},
                                     {"flow", x.flow},
                                     {"effort", x.effort},
                                     {"corrected", x.corrected},
                                     {"energy_error", x.energy_error},
                                     {"energy_exchanged", x.energy},
                                     {"energy_peak", x.energy_peak},
                                     {"energy_error_share", x.energy_peak > 0 ? x.energy_error / x.energy_peak : 0}});
    if (s.integrations > 0) document["integrations"] = s.integrations;
    if (s.initialisation)
        document["initialisation"] = {{"seconds", s.initialisation->seconds},
                                      {"evaluations", s.initialisation->evaluations},
                                      {"loops", iterations_json(s.initialisation->loops)}};
    if (!s.iterations.empty()) document["iterations"] = iterations_json(s.iterations);
    if (s.control)
        document["step_control"] = {{"estimate", s.control->estimate},
                                    {"rtol", s.control->rtol},
                                    {"atol", s.control->atol},
                                    {"accepted", s.steps},
                                    {"rejected", s.control->rejected},
                                    {"smallest", s.control->smallest},
                                    {"largest", s.control->largest},
                                    {"above_tolerance", s.control->above},
                                    {"largest_error", s.control->most_above}};
    if (s.work)
        document["work"] = {{"cpu_seconds", s.work->cpu_seconds},
                            {"work_seconds_per_macro_step", s.work->work_per_step},
                            {"advance_seconds_per_macro_step", s.work->advance_per_step},
                            {"master_seconds_per_macro_step", s.work->master_per_step},
                            {"idle_share", s.work->idle_share},
                            {"critical_path_seconds_per_macro_step", s.work->critical_path},
                            {"critical_subsystem", s.work->critical_subsystem},
                            {"speed_up", s.work->speed_up},
                            {"speed_up_of_perfect_balance", s.work->perfect_balance},
                            {"amdahl", s.work->amdahl},
                            {"gustafson", s.work->gustafson},
                            {"expected_speed_up", {{"4_cores", s.work->on_4}, {"8_cores", s.work->on_8}}}};
    if (s.judged) {
        json reasons = json::array();
        for (const auto& r : s.judged->reasons)
            reasons.push_back({{"level", name_of(r.level)}, {"text", r.text}, {"remedy", r.remedy}});
        if (s.verified) document["verification"] = verification_json(*s.verified);
        document["verdict"] = {{"level", name_of(s.judged->level)}, {"reasons", reasons}};
    }
    return document.dump(2) + "\n";
}

namespace {

std::string duration_text(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.3g} us", 1e6 * seconds);
    if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
    return fmt::format("{:.3g} s", seconds);
}

constexpr std::size_t most_rows = 12;

/// A small number as a share of the whole it belongs to.
std::string share_text(double part, double whole) {
    if (!(whole > 0)) return "-";
    const double percent = 100 * part / whole;
    return std::abs(percent) < 100 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0f} %", percent);
}

void append_rest(std::string& out, std::size_t count) {
    if (count > most_rows) out += fmt::format("  ... and {} more in summary.json\n", count - most_rows);
}

void append_notes(std::string& out, const run_summary& s) {
    for (const auto& note : s.notes) out += "\n  note: " + note;
    if (!s.notes.empty()) out += '\n';
}

/// The reference has one solver, no macro steps and no extrapolation.
std::string to_reference_table(const run_summary& s) {
    std::string out =
        fmt::format("{}: reference to t = {:.10g} s in {}\n", s.status, s.reached, duration_text(s.wall_seconds));
    for (const auto& x : s.subsystems)
        out += fmt::format("\n  {}: {} with {} micro steps, {} rejected, {} evaluations, {} events\n", x.type, x.solver,
                           x.micro_steps, x.rejected, x.evaluations, x.events);
    if (!s.connections.empty()) {
        out += fmt::format("\n  {:<16} {:<20} {:>12} {:>12} {:>12}\n", "connection", "law", "min u", "max u", "end u");
        for (std::size_t i = 0; i < std::min(most_rows, s.connections.size()); ++i) {
            const auto& x = s.connections[i];
            out += fmt::format("  {:<16} {:<20} {:>12.5g} {:>12.5g} {:>12.5g} {}\n", x.name, x.law, x.u_min, x.u_max,
                               x.u_end, x.unit);
        }
        append_rest(out, s.connections.size());
    }
    append_notes(out, s);
    return out;
}

}  // namespace

namespace {

void append_iterations(std::string& out, const run_summary& s) {
    if (s.initialisation) {
        out += fmt::format("  initialised in {}, {} evaluations\n", duration_text(s.initialisation->seconds),
                           s.initialisation->evaluations);
        for (const auto& x : s.initialisation->loops)
            out += fmt::format("    {}: {} iterations of {}, residual {:.1e}\n", x.subject, x.iterations, x.solver,
                               x.residual);
    }
    for (const auto& x : s.iterations)
        out += fmt::format("  {}: {:.3g} iterations of {} in the mean, {} at most\n", x.subject, x.mean(), x.solver,
                           x.largest);
}

/// One line where there was something to divide.
void append_work(std::string& out, const run_summary& s) {
    if (!s.work || s.subsystems.size() < 2 || s.parallel_steps == 0) return;
    out += fmt::format(
        "\n  {} workers: {:.2g} times as fast as one, {:.0f} % idle; longest is '{}'; expected {:.2g} times on 4 and "
        "{:.2g} "
        "times on 8 cores\n",
        s.workers, s.work->speed_up, 100 * s.work->idle_share, s.work->critical_subsystem, s.work->on_4, s.work->on_8);
}

}  // namespace

std::string to_table(const run_summary& s) {
    if (s.reference) return to_reference_table(s);
    std::string out = fmt::format(
        "{}: {} macro steps to t = {:.10g} s in {} ({} per step, {})\n", s.status, s.steps, s.reached,
        duration_text(s.wall_seconds), duration_text(s.steps > 0 ? s.wall_seconds / static_cast<double>(s.steps) : 0),
        s.parallel_steps > 0 ? fmt::format("{} workers, {} steps in parallel", s.workers, s.parallel_steps) : "serial");
    append_iterations(out, s);
    if (s.control)
        out += fmt::format("  macro steps from {} to {}, {} rejected\n", duration_text(s.control->smallest),
                           duration_text(s.control->largest), s.control->rejected);
    if (s.control && s.control->above > 0)
        out += fmt::format(
            "  {} macro steps stand with errors above the tolerance, up to {:.3g} times, at t = {:.6g} s: not all "
            "subsystems can go back\n",
            s.control->above, s.control->most_above, s.control->above_at);
    if (s.integrations > s.steps)
        out += fmt::format("  {:.3g} integrations per macro step\n",
                           static_cast<double>(s.integrations) / static_cast<double>(s.steps));
    if (!s.subsystems.empty()) {
        out += fmt::format("\n  {:<16} {:<28} {:<12} {:>12} {:>8} {:>12}\n", "subsystem", "type", "solver",
                           "micro steps", "events", "per step");
        for (std::size_t i = 0; i < std::min(most_rows, s.subsystems.size()); ++i) {
            const auto& x = s.subsystems[i];
            out += fmt::format("  {:<16} {:<28} {:<12} {:>12} {:>8} {:>12}\n", x.name, x.type, x.solver, x.micro_steps,
                               x.events, duration_text(x.seconds_per_step));
        }
        append_rest(out, s.subsystems.size());
    }
    if (!s.connections.empty()) {
        out += fmt::format("\n  {:<16} {:<20} {:<20} {:>12} {:>12} {:>6} {:>10} {:>12}\n", "connection", "law",
                           "extrapolation", "min u", "max u", "", "max jump", "energy error");
        for (std::size_t i = 0; i < std::min(most_rows, s.connections.size()); ++i) {
            const auto& x = s.connections[i];
            out += fmt::format("  {:<16} {:<20} {:<20} {:>12.5g} {:>12.5g} {:<6} {:>10} {:>12}\n", x.name, x.law,
                               x.extrapolation, x.u_min, x.u_max, x.unit, share_text(x.jump_max, x.u_max - x.u_min),
                               share_text(x.energy_error, x.energy_peak));
        }
        append_rest(out, s.connections.size());
    }
    if (!s.bonds.empty()) {
        out += fmt::format("\n  {:<16} {:<24} {:<24} {:<10} {:>12} {:>12}\n", "bond", "flow", "effort", "", "energy",
                           "energy error");
        for (std::size_t i = 0; i < std::min(most_rows, s.bonds.size()); ++i) {
            const auto& x = s.bonds[i];
            out +=
                fmt::format("  {:<16} {:<24} {:<24} {:<10} {:>10.4g} J {:>12}\n", x.name, x.flow, x.effort,
                            x.corrected ? "corrected" : "", x.energy_peak, share_text(x.energy_error, x.energy_peak));
        }
        append_rest(out, s.bonds.size());
    }
    append_work(out, s);
    append_notes(out, s);
    if (s.verified) out += "\n" + to_table(*s.verified);
    return out;
}

}  // namespace mdpcosim
