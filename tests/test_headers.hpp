// Precompiled for all test programs where MDPCOSIM_PRECOMPILE says so; every file still includes what it uses. What few tests use
// costs all the others: nlohmann/json would take from each more than half of what is gained.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>
