#pragma once

/// Everything that the command line, and whoever links mdpcosim, calls.
#include "api/fmu.hpp"
#include "api/list.hpp"
#include "api/version.hpp"
#include "assembly/fmu_scenario.hpp"
#include "assembly/new_scenario.hpp"
#include "assembly/serve.hpp"
#include "export/fmu.hpp"
#include "export/ssp.hpp"
#include "results/compare.hpp"
#include "simulation/check.hpp"
#include "simulation/run.hpp"
#include "simulation/verify.hpp"
