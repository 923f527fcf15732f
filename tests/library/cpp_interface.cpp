// mdpcosim.hpp as a user has it: built against the installed package; ends with the number of the first line that does not hold.
#include <cmath>
#include <cstdio>
#include <mdpcosim/mdpcosim.hpp>
#include <string>

#define HOLDS(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            std::printf("line %d: %s does not hold\n", __LINE__, #condition); \
            return 1;                                                         \
        }                                                                     \
    } while (false)

template <class Call>
std::string failure_of(const Call& call, int status) {
    try {
        call();
    } catch (const mdpcosim::failure& problem) {
        return problem.status() == status ? problem.what() : "another status";
    }
    return "no failure";
}

int main() {
    const std::string decay =
        "time: {end: 1 s, step: 10 ms}\nsubsystems:\n  a: {ode: {parameters: {k: 2}, states: {x: 1}, "
        "inputs: {v: 0}, equations: {x: -k*x + v}}}\n";
    mdpcosim::simulation_options options;
    options.settings = {"a.k=4"};
    auto s = mdpcosim::simulation::from_text(decay, "", options);
    s.initialise();
    const int place = s.find("a.x");
    s.set("a.v", 2);
    while (!s.done()) s.step();
    HOLDS(s.steps() == 100 && s.time() == 1 && s.end() == 1);
    HOLDS(s.get(place) == s.get("a.x"));
    HOLDS(std::abs(s.get("a.x") - (0.5 + 0.5 * std::exp(-4.0))) < 1e-6);
    auto kept = mdpcosim::simulation::from_text(decay, "", options);
    kept.record();
    kept.initialise();
    kept.run_for(0);
    HOLDS(kept.done() && kept.rows() == 101 && kept.columns() == 2 && kept.column_name(1) == "a.x");
    HOLDS(kept.column(0)[100] == 1 && kept.column(1)[100] == kept.get("a.x") && kept.column(1)[0] == 1);
    HOLDS(failure_of([&] { kept.column(9); }, MDPCOSIM_MISTAKE).find("column 9 of 2") != std::string::npos);
    std::vector<double> values;
    s.get(std::vector<int>{place, place}, values);
    HOLDS(values.size() == 2 && values[1] == s.get(place));
    HOLDS(s.summary().find("\"macro_steps\": 100") != std::string::npos);
    HOLDS(failure_of([&] { s.step(); }, MDPCOSIM_MISTAKE).find("after the end") != std::string::npos);
    HOLDS(failure_of([&] { s.get("a.y"); }, MDPCOSIM_MISTAKE).find("'a.y' does not exist") != std::string::npos);
    HOLDS(failure_of([&] { s.text("a.x"); }, MDPCOSIM_MISTAKE).find("strings or bytes") != std::string::npos);
    HOLDS(failure_of([] { mdpcosim::simulation("/nowhere.yaml"); }, MDPCOSIM_MISTAKE).find("/nowhere.yaml") !=
          std::string::npos);
    // What is assigned to ends before its options do.
    mdpcosim::simulation_options talking;
    talking.message = [](const std::string&) {};
    auto first = mdpcosim::simulation::from_text(decay, "", talking);
    first = mdpcosim::simulation::from_text(decay, "", talking);
    first.initialise();
    auto moved = std::move(s);
    HOLDS(moved.time() == 1);
    HOLDS(failure_of([&] { s.step(); }, MDPCOSIM_MISTAKE).find("NULL") != std::string::npos);
    HOLDS(failure_of([&] { s.done(); }, MDPCOSIM_MISTAKE).find("NULL") != std::string::npos);
    // In processes of their own, which need the installed host program.
    options.transport = "processes";
    auto apart = mdpcosim::simulation::from_text(decay, "", options);
    apart.initialise();
    apart.set("a.v", 2);
    apart.advance_to(1);
    HOLDS(apart.get("a.x") == moved.get("a.x"));
    std::printf("all holds with mdpcosim %s\n", mdpcosim_version());
    return 0;
}
