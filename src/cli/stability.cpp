#include <fmt/format.h>
#include <unistd.h>

#include <limits>
#include <memory>

#include "analysis/joint_stability_report.hpp"
#include "cli/analysis_options.hpp"
#include "cli/commands.hpp"
#include "cli/numbers.hpp"
#include "core/error.hpp"
#include "report/analysis_page.hpp"

namespace mdpcosim {

namespace {

const std::vector<std::string> shown_by_default{"const-2-3-opt", "lin-2-3-opt", "const-2-2-opt",
                                                "lin-2-2-opt",   "const-2-4",   "lin-3-3-b0"};

struct stability_settings {
    analysis_options common;
    std::optional<std::string> coupling_damping, table, figure, points, seed, damping_ratio, range;
    std::vector<std::string> weights;
    bool optimise = false, map = false;
};

/// Per curve, or per axis of a map.
int points(const stability_settings& o, int fallback) {
    return o.points ? whole_number("--points", *o.points, 2, 1000) : fallback;
}

/// One line on a terminal, rewritten as the search goes on.
void show_progress(double part, double best) {
    tell("\r{:3.0f} %  best so far {:.5g}\033[K", 100 * part, best);
    if (part >= 1) tell("\r\033[K");
    std::fflush(stderr);
}

test_system_parameters system_of(const stability_settings& o) {
    test_system_parameters p;
    p.method = o.common.method();
    p.V = o.common.V();
    p.frequency_ratio = o.common.frequency_ratio();
    p.damping = o.common.damping();
    if (o.coupling_damping) p.coupling_damping = number_not_negative("--coupling-damping", *o.coupling_damping);
    p.input_degree = o.common.input_degree();
    const auto variants = o.common.variants({"force-force"});
    if (variants.size() != 1) throw user_error("--variant: stability takes one variant at a time.");
    p.variant = read_coupling_variant(variants[0]);
    return p;
}

void optimise(const stability_settings& o) {
    const auto names = o.common.extrapolations({"lin-2-3"});
    if (names.size() != 1) throw user_error("--extrapolation: --optimise takes one extrapolation at a time.");
    for (const auto& [option, given] : {std::pair("--svg", o.common.svg().has_value()),
                                        std::pair("--html", o.common.html().has_value()), std::pair("--map", o.map)})
        if (given)
            throw user_error(
                fmt::format("{}: --optimise draws no picture; draw what it found by its coefficients.", option));
    const auto F = o.common.F(stiff_F());
    std::vector<double> weights;
    for (const auto& text : o.weights) weights.push_back(positive_number("--weight", text));
    const auto seed = o.seed ? whole_number("--seed", *o.seed, 0, std::numeric_limits<int>::max()) : 1;
    const bool shown = ::isatty(STDERR_FILENO) != 0;
    const optimum found = optimise_stability(names[0], F, weights, system_of(o), seed,
                                             shown ? show_progress : std::function<void(double, double)>{});
    say("{}", o.common.json() ? to_json(found, F) : to_table(found, F));
}

/// Joints have other parameters than springs, and a map instead of a limit.
void map_joints(const stability_settings& o) {
    if (o.map)
        throw user_error(fmt::format("--map: --method {} has a map of its own, drawn by --svg.", o.common.method()));
    joint_test_parameters p;
    p.method = o.common.method();
    p.frequency_ratio = o.common.frequency_ratio();
    p.mass_ratio = o.common.mass_ratio().value_or(1);
    if (o.damping_ratio) p.damping_ratio = positive_number("--damping-ratio", *o.damping_ratio);
    const double range = o.range ? positive_number("--range", *o.range) : 10;
    const auto maps = mdpcosim::map_joints(p, range, points(o, 41));
    if (o.common.svg()) write_svg(*o.common.svg(), joint_plot(maps));
    if (o.common.html()) throw user_error("--html: maps of joints are drawn by --svg.");
    say("{}", o.common.json() ? to_json(maps) : to_table(maps));
}

void analyse(const stability_settings& o) {
    if (holds_joints(o.common.method())) return map_joints(o);
    if (o.damping_ratio || o.range) throw user_error("--damping-ratio and --range belong to --method index-1.");
    if (o.table && o.figure) throw user_error("--table and --figure: give one of them.");
    if ((o.table || o.figure) && !(o.common.extrapolations({}).empty() && o.common.F({}).empty()))
        throw user_error(
            "--table and --figure have extrapolations and F of their own: leave --extrapolation and --F out.");
    const test_system_parameters system = system_of(o);
    const bool free = !o.table && !o.figure;
    if (o.map && !(free && o.common.svg()))
        throw user_error(
            "--map draws stable and unstable points over F and omega H: give --svg FILE, and neither --table nor "
            "--figure.");
    const auto maps = [&] { return map_stability(o.common.extrapolations(shown_by_default), system, points(o, 48)); };
    const stability_report report =
        o.table    ? analyse_published_table(*o.table, system)
        : o.figure ? analyse_published_figure(*o.figure, points(o, 60), system)
                   : analyse_stability(o.common.extrapolations(shown_by_default), o.common.F(published_F()), system);
    if (o.common.svg()) write_svg(*o.common.svg(), o.map ? map_plot(maps(), system) : stability_plot(report));
    if (o.common.html()) write_html(*o.common.html(), report, free ? maps() : std::vector<stability_map>{});
    say("{}", o.common.json() ? to_json(report) : to_table(report));
}

}  // namespace

void add_stability(CLI::App& app, int& status) {
    auto o = std::make_shared<stability_settings>();
    CLI::App* command = app.add_subcommand(
        "stability", "Largest stable macro step of a coupling on the two-mass test system; better coefficients");
    o->common.add_coupling(*command, "the recommended ones and their rivals");
    o->common.add_test_system(*command);
    command
        ->add_option("--coupling-damping", o->coupling_damping,
                     "Damping ratio of the coupling, d/(2 sqrt(c m)) with 1/m = 1/m_A + 1/m_B (default: 0)")
        ->type_name("X");
    command->add_option("--table", o->table, "Reproduce a table of Friedrich 2011: 2.4, 2.5, 2.6, 2.7 or 2.8")
        ->type_name("NUMBER");
    command->add_option("--figure", o->figure, "Reproduce Fig. 2.13: every extrapolation that has a limit, over F")
        ->type_name("NUMBER");
    command
        ->add_option("--points", o->points,
                     "Points per curve of a figure (default: 60), or per axis of a map (default: 48, of joints 41)")
        ->type_name("N");
    command->add_flag("--map", o->map,
                      "With --svg: draw where it is stable over F from 0.1 to 1e6 and omega_A H from 0.01 to 3");
    command
        ->add_option("--damping-ratio", o->damping_ratio,
                     "With --method index-1: real parts of the eigenvalues, Lambda_r2/Lambda_r1 (default: 1)")
        ->type_name("X");
    command
        ->add_option(
            "--range", o->range,
            "With --method index-1: the map covers Lambda_r H from -R to 0 and Lambda_i H from 0 to R (default: 10)")
        ->type_name("R");
    command->add_flag("--optimise", o->optimise,
                      "Find the free coefficients of const-K-R or lin-K-R (default lin-2-3) that allow the largest "
                      "steps; for several "
                      "F the best compromise (default 10^1/2, 10^5/4, 10^2)");
    command
        ->add_option(
            "--weight", o->weights,
            "With --optimise, one per F: the share of its own optimum that this F is to get, relative to the others "
            "(default: the same for all)")
        ->type_name("X ...");
    command->add_option("--seed", o->seed, "Of the search's random starts (default: 1)")->type_name("N");
    o->common.add_output(*command);
    command->callback([o, &status] {
        if (o->optimise)
            optimise(*o);
        else
            analyse(*o);
        status = 0;
    });
}

}  // namespace mdpcosim
