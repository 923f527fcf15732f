/* A thermostat in C: steps scenario.yaml, reads the room's temperature after every macro step, switches the heater. */
#include <mdpcosim/mdpcosim.h>
#include <stdio.h>

int main(int count, char** arguments) {
    const double kelvin = 273.15;
    double temperature = 0, heat = 0, used = 0, before = 0;
    int place, switched = 0;
    mdpcosim_simulation* s = mdpcosim_load(count > 1 ? arguments[1] : "scenario.yaml", NULL);
    if (s == NULL) {
        fprintf(stderr, "%s\n", mdpcosim_last_error(NULL));
        return 2;
    }
    if (mdpcosim_initialise(s) != MDPCOSIM_OK) goto failed;
    place = mdpcosim_find(s, "room.body.temperature");
    if (place < 0) goto failed;
    while (mdpcosim_done(s) == 0) {
        if (mdpcosim_read(s, &place, 1, &temperature) != MDPCOSIM_OK) goto failed;
        if (temperature < 20 + kelvin && heat == 0) heat = 3000, ++switched;
        if (temperature > 21 + kelvin) heat = 0;
        if (mdpcosim_set(s, "room.heat", heat) != MDPCOSIM_OK) goto failed;
        before = mdpcosim_time(s);
        if (mdpcosim_step(s) != MDPCOSIM_OK) goto failed;
        used += heat * (mdpcosim_time(s) - before);
    }
    if (mdpcosim_read(s, &place, 1, &temperature) != MDPCOSIM_OK) goto failed;
    printf("%.1f min: %.17g degC in the room, the heater was switched on %d times and gave %.0f kJ\n",
           mdpcosim_time(s) / 60, temperature - kelvin, switched, used / 1000);
    mdpcosim_free(s);
    return 0;
failed:
    fprintf(stderr, "%s\n", mdpcosim_last_error(s));
    mdpcosim_free(s);
    return 1;
}
