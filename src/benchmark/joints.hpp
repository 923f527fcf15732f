#pragma once

#include <functional>
#include <string>
#include <vector>

/// What a macro step of the index-1 method costs over the number of joints: a chain of planar rods that hangs by its first end, every rod a
/// subsystem, joined by planar revolute joints of two equations each.
namespace mdpcosim {

struct joints_result {
    int joints = 0;
    double seconds = 0;        ///< CPU time per macro step, on one worker
    double first_seconds = 0;  ///< of the first macro step, which measures how the joints answer
    double integrations = 0;   ///< per macro step, the first left out
};

/// `told` hears what comes next.
std::vector<joints_result> bench_joints(const std::vector<int>& joints,
                                        const std::function<void(const std::string&)>& told);

std::string to_table(const std::vector<joints_result>& results);
std::string to_json(const std::vector<joints_result>& results);

}  // namespace mdpcosim
