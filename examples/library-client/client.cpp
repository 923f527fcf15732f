// A thermostat in C++: the same as client.c.
#include <cstdio>
#include <mdpcosim/mdpcosim.hpp>

int main(int count, char** arguments) try {
    constexpr double kelvin = 273.15;
    mdpcosim::simulation s(count > 1 ? arguments[1] : "scenario.yaml");
    s.initialise();
    const int place = s.find("room.body.temperature");
    double heat = 0, used = 0;
    int switched = 0;
    while (!s.done()) {
        const double temperature = s.get(place);
        if (temperature < 20 + kelvin && heat == 0) heat = 3000, ++switched;
        if (temperature > 21 + kelvin) heat = 0;
        s.set("room.heat", heat);
        const double before = s.time();
        s.step();
        used += heat * (s.time() - before);
    }
    std::printf("%.1f min: %.17g degC in the room, the heater was switched on %d times and gave %.0f kJ\n", s.time() / 60,
                s.get(place) - kelvin, switched, used / 1000);
} catch (const mdpcosim::failure& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return problem.status();
}
