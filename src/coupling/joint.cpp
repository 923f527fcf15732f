#include "coupling/joint.hpp"

namespace mdpcosim {

jet3 moving_frame::position() const {
    jet3 r;
    for (int i = 0; i < 3; ++i)
        r[i] = {motion_[frame_motion::position + i], motion_[frame_motion::velocity + i],
                motion_[frame_motion::acceleration + i]};
    return r;
}

jet3 moving_frame::turned(const std::array<double, 3>& fixed) const {
    using vector = std::array<double, 3>;
    const auto times = [](const double* p, const vector& q) -> vector {
        return {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
    };
    const double* q = motion_ + frame_motion::orientation;
    const double* omega = motion_ + frame_motion::angular_velocity;
    const double* alpha = motion_ + frame_motion::angular_acceleration;
    // R e = e + 2 w (n x e) + 2 n x (n x e) with n = (x, y, z) of the quaternion.
    const vector n_e = times(q + 1, fixed), n_n_e = times(q + 1, n_e);
    vector e;
    for (int i = 0; i < 3; ++i) e[i] = fixed[i] + 2 * (q[0] * n_e[i] + n_n_e[i]);
    const vector rate = times(omega, e), turning = times(omega, rate), speeding = times(alpha, e);
    jet3 r;
    for (int i = 0; i < 3; ++i) r[i] = {e[i], rate[i], turning[i] + speeding[i]};
    return r;
}

}  // namespace mdpcosim
