#include <fmt/format.h>

#include <memory>

#include "cli/analysis_options.hpp"
#include "cli/commands.hpp"
#include "cli/numbers.hpp"
#include "report/analysis_page.hpp"

namespace mdpcosim {

namespace {

struct longtime_options {
    analysis_options common;
    std::optional<std::string> displacement_extrapolation, step, coupling_damping, periods;
};

longtime_request request(const longtime_options& o) {
    longtime_request r;
    r.extrapolations = o.common.extrapolations({"const-2-3-opt", "lin-2-3-opt"});
    r.variants = o.common.variants({});
    r.displacement_extrapolation = o.displacement_extrapolation;
    r.method = o.common.method();
    r.input_degree = o.common.input_degree();
    r.F = o.common.F({100});
    r.V = o.common.V();
    r.frequency_ratio = o.common.frequency_ratio();
    r.damping = o.common.damping();
    if (o.step) r.step = positive_number("--step", *o.step);
    if (o.coupling_damping) r.coupling_damping = number_not_negative("--coupling-damping", *o.coupling_damping);
    if (o.periods) r.periods = whole_number("--periods", *o.periods, 1, 10000);
    return r;
}

}  // namespace

void add_longtime(CLI::App& app, int& status) {
    auto o = std::make_shared<longtime_options>();
    CLI::App* command = app.add_subcommand(
        "longtime", "Frequency and damping errors of couplings over long times, by the modified equation");
    o->common.add_coupling(*command, "const-2-3-opt lin-2-3-opt");
    o->common.add_test_system(*command);
    command
        ->add_option("--displacement-extrapolation", o->displacement_extrapolation,
                     "Extrapolation where displacements are exchanged (default: poly-1, poly-2 ... of the same degree)")
        ->type_name("E");
    command
        ->add_option("--coupling-damping", o->coupling_damping,
                     "Damping ratio of the coupling where displacements are exchanged (default: the lowest stable one)")
        ->type_name("X");
    command
        ->add_option("--step", o->step,
                     "Macro step as omega_A H (default: a fifth of the force-force coupling's limit)")
        ->type_name("X");
    command->add_option("--periods", o->periods, "Length of the runs in the picture (default: 50)")->type_name("N");
    o->common.add_output(*command);
    command->callback([o, &status] {
        const auto results = longtime(request(*o));
        if (o->common.svg()) write_svg(*o->common.svg(), longtime_plot(results));
        if (o->common.html()) write_html(*o->common.html(), results);
        say("{}", o->common.json() ? to_json(results) : to_table(results));
        status = 0;
    });
}

}  // namespace mdpcosim
