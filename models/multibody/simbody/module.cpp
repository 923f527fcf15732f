// The module for the model multibody: its engine on Simbody (Sherman, Seth, Delp, Procedia IUTAM 2 (2011) 241-261).
#include <Simbody.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "engine.hpp"

namespace mdpcosim::multibody {

namespace {

using namespace SimTK;

Vec3 vector(const triple& v) { return Vec3(v[0], v[1], v[2]); }

/// What wheels and balls stand on. Axes ahead, to the left and up follow each other in a circle.
class ground_surface {
   public:
    ground_surface(const road_data& road, const Vec3& up) : road_(road), up_(up) {
        for (int k = 0; k < 3; ++k)
            if (up[k] > 0.5) ahead_[(k + 1) % 3] = left_[(k + 2) % 3] = 1;
    }

    struct place {
        double depth = 0;  ///< of the point below it
        Vec3 normal{0};
    };
    /// std::out_of_range where the road is not known there.
    place at(const Vec3& point, const std::string& who) const {
        const double height = dot(point, up_);
        if (road_.x.empty()) return {-height, up_};
        const double x = dot(point, ahead_), y = dot(point, left_);
        const int i = interval(road_.x, x, who, "ahead");
        const std::size_t n = road_.y.size();
        const int k = n > 1 ? interval(road_.y, y, who, "to the left") : 0;
        const auto of = [&](int row, int column) {
            return road_.heights[static_cast<std::size_t>(row) * n + static_cast<std::size_t>(column)];
        };
        const double dx = road_.x[i + 1] - road_.x[i], s = (x - road_.x[i]) / dx;
        const double dy = n > 1 ? road_.y[k + 1] - road_.y[k] : 1, r = n > 1 ? (y - road_.y[k]) / dy : 0;
        const int next = n > 1 ? k + 1 : k;
        const double near = of(i, k) + r * (of(i, next) - of(i, k)),
                     far = of(i + 1, k) + r * (of(i + 1, next) - of(i + 1, k));
        const double across = ((of(i, next) - of(i, k)) * (1 - s) + (of(i + 1, next) - of(i + 1, k)) * s) / dy;
        Vec3 normal = up_ - (far - near) / dx * ahead_ - across * left_;
        normal /= normal.norm();
        return {(near + s * (far - near) - height) * dot(normal, up_), normal};
    }

   private:
    static int interval(const std::vector<double>& points, double at, const std::string& who, const char* direction) {
        if (!(at >= points.front() && at <= points.back())) {
            std::ostringstream text;
            text << who << " is at " << at << " m " << direction << ", and the road is known from " << points.front()
                 << " to " << points.back() << " m. Give more of the road, or end the run earlier";
            throw std::out_of_range(text.str());
        }
        const auto above = std::upper_bound(points.begin() + 1, points.end() - 1, at);
        return static_cast<int>(above - points.begin()) - 1;
    }

    const road_data& road_;
    Vec3 up_, ahead_{0}, left_{0};
};

/// Hunt and Crossley's force on a ball, with friction that is smooth in the speed of slip.
class ground_contact final : public Force::Custom::Implementation {
   public:
    ground_contact(MobilizedBody body, const contact_data& d, const ground_surface& ground)
        : body_(body), d_(d), ground_(ground) {}

    void calcForce(const State& state, Vector_<SpatialVec>& bodies, Vector_<Vec3>&, Vector&) const override {
        const ground_surface::place below = under(state);
        const double depth = d_.radius + below.depth;
        if (!(depth > 0)) return;
        const Vec3 station = vector(d_.at) - body_.expressGroundVectorInBodyFrame(state, d_.radius * below.normal);
        const Vec3 v = body_.findStationVelocityInGround(state, station);
        const double rate = -dot(v, below.normal);
        const double normal = d_.stiffness * depth * std::max(0.0, 1 + d_.damping * rate);
        const Vec3 slip = v + rate * below.normal;
        const double speed = std::sqrt(slip.normSqr() + d_.slip_speed * d_.slip_speed);
        body_.applyForceToBodyPoint(state, station, normal * below.normal - (d_.friction * normal / speed) * slip,
                                    bodies);
    }
    Real calcPotentialEnergy(const State& state) const override {
        const double depth = std::max(0.0, d_.radius + under(state).depth);
        return d_.stiffness * depth * depth / 2;
    }

   private:
    ground_surface::place under(const State& state) const {
        return ground_.at(body_.findStationLocationInGround(state, vector(d_.at)), "ground-contact '" + d_.name + "'");
    }

    MobilizedBody body_;
    contact_data d_;
    const ground_surface& ground_;
};

class simbody_engine final : public engine {
   public:
    explicit simbody_engine(const system_data& d)
        : data_(d),
          ground_(data_.road, vector(data_.up)),
          matter_(system_),
          forces_(system_),
          loads_(forces_, matter_) {
        Force::UniformGravity(forces_, matter_, vector(d.gravity));
        bodies_.resize(d.bodies.size());
        for (const auto& joint : d.joints) add_joint(joint);
        for (const auto& closure : d.closures) add_closure(closure);
        add_forces();
        state_ = system_.realizeTopology();
        system_.realizeModel(state_);
        body_loads_.resize(matter_.getNumBodies());
        mobility_loads_.resize(state_.getNU());
        tyres_.resize(d.tyres.size());
    }

    int coordinate_count() const override { return state_.getNQ(); }
    int speed_count() const override { return state_.getNU(); }
    bool has_constraints() const override { return state_.getNQErr() + state_.getNUErr() > 0; }

    void start(double* x) override {
        for (std::size_t i = 0; i < joints_.size(); ++i) place(data_.joints[i], joints_[i]);
        prescribe();
        if (!closures_.empty()) {
            assemble();
            adapt_speeds();
        }
        try {
            const auto check = [&](int body, const triple& at, const std::string& who) {
                ground_.at(body_at(body).findStationLocationInGround(state_, vector(at)), who);
            };
            for (const auto& t : data_.tyres) check(t.body, t.at, "tyre '" + t.name + "'");
            for (const auto& c : data_.contacts) check(c.body, c.at, "ground-contact '" + c.name + "'");
        } catch (const std::out_of_range& problem) {
            throw std::invalid_argument(problem.what());
        }
        give(x);
    }

    void look(double t, const double* x, const double* loads, bool accelerations) override {
        const int nq = state_.getNQ(), nu = state_.getNU();
        state_.setTime(t);
        std::copy(x, x + nq, &state_.updQ()[0]);
        if (nu > 0) std::copy(x + nq, x + nq + nu, &state_.updU()[0]);
        prescribe();
        for (std::size_t k = 0; k < tyres_.size(); ++k) roll(data_.tyres[k], x + nq + nu + tyre_states * k, tyres_[k]);
        if (!accelerations) return;
        body_loads_.setToZero();
        mobility_loads_.setToZero();
        for (std::size_t k = 0; k < tyres_.size(); ++k) {
            const rolling_tyre& t = tyres_[k];
            body_at(data_.tyres[k].body)
                .applyForceToBodyPoint(state_, t.station,
                                       t.force[0] * t.along + t.force[1] * t.across + t.force[2] * t.normal,
                                       body_loads_);
        }
        for (const auto& frame : data_.frames) {
            const MobilizedBody& body = body_at(frame.body);
            const Vec3 force(loads[0], loads[1], loads[2]), torque(loads[3], loads[4], loads[5]);
            body.applyForceToBodyPoint(state_, vector(frame.at), force, body_loads_);
            body.applyBodyTorque(state_, torque, body_loads_);
            loads += 6;
        }
        for (const auto& c : data_.coordinates)
            joints_[static_cast<std::size_t>(c.joint)].applyOneMobilityForce(state_, c.coordinate, *loads++,
                                                                             mobility_loads_);
        loads_.setAllBodyForces(state_, body_loads_);
        loads_.setAllMobilityForces(state_, mobility_loads_);
        system_.realize(state_, Stage::Acceleration);
    }

    void rates(double* dx) override {
        const int nq = state_.getNQ(), nu = state_.getNU();
        if (nq > 0) std::copy(&state_.getQDot()[0], &state_.getQDot()[0] + nq, dx);
        if (nu > 0) std::copy(&state_.getUDot()[0], &state_.getUDot()[0] + nu, dx + nq);
        for (std::size_t k = 0; k < tyres_.size(); ++k)
            std::copy(tyres_[k].slip_rate, tyres_[k].slip_rate + 2, dx + nq + nu + tyre_states * k);
    }

    void tyre(int which, double* outputs) override {
        const rolling_tyre& t = tyres_[static_cast<std::size_t>(which)];
        outputs = std::copy(t.force, t.force + 3, outputs);
        std::copy(t.slip, t.slip + 2, outputs);
    }

    void frame(const frame_data& which, double* motion) override {
        const MobilizedBody& body = body_at(which.body);
        const Vec3 at = vector(which.at);
        const auto put = [&motion](const Vec3& v) {
            for (int k = 0; k < 3; ++k) *motion++ = v[k];
        };
        put(body.findStationLocationInGround(state_, at));
        const Quaternion q = body.getBodyRotation(state_).convertRotationToQuaternion();
        for (int k = 0; k < 4; ++k) *motion++ = q[k];
        put(body.findStationVelocityInGround(state_, at));
        put(body.getBodyAngularVelocity(state_));
        if (state_.getSystemStage() < Stage::Acceleration) return;
        put(body.findStationAccelerationInGround(state_, at));
        put(body.getBodyAngularAcceleration(state_));
    }

    void coordinate(const coordinate_data& which, double* motion) override {
        const MobilizedBody& joint = joints_[static_cast<std::size_t>(which.joint)];
        motion[0] = joint.getOneQ(state_, which.coordinate);
        motion[1] = joint.getOneU(state_, which.coordinate);
        if (state_.getSystemStage() >= Stage::Acceleration) motion[2] = joint.getOneUDot(state_, which.coordinate);
    }

    double energy() override {
        system_.realize(state_, Stage::Dynamics);
        double tyres = 0;
        for (std::size_t k = 0; k < tyres_.size(); ++k)
            tyres += data_.tyres[k].stiffness * tyres_[k].depth * tyres_[k].depth / 2;
        return system_.calcEnergy(state_) + tyres;
    }

    double drift() override {
        double most = 0;
        for (int i = 0; i < state_.getNQErr(); ++i) most = std::max(most, std::fabs(state_.getQErr()[i]));
        for (int i = 0; i < state_.getNUErr(); ++i) most = std::max(most, std::fabs(state_.getUErr()[i]));
        return most;
    }

    void close(double* x) override {
        system_.project(state_, 1e-12);
        give(x);
    }

   private:
    const MobilizedBody& body_at(int body) const {
        return body == ground ? static_cast<const MobilizedBody&>(matter_.getGround())
                              : bodies_[static_cast<std::size_t>(body)];
    }
    MobilizedBody& body_at(int body) {
        return body == ground ? static_cast<MobilizedBody&>(matter_.updGround())
                              : bodies_[static_cast<std::size_t>(body)];
    }

    void add_joint(const joint_data& d) {
        const body_data& b = data_.bodies[static_cast<std::size_t>(d.child)];
        const auto& i = b.inertia;
        const Vec3 c = vector(b.centre);
        const Inertia about_origin = Inertia(i[0], i[1], i[2], i[3], i[4], i[5]).shiftFromMassCenter(-c, b.mass);
        const Body::Rigid body{MassProperties(b.mass, c, about_origin)};
        const Rotation axes(UnitVec3(vector(d.x)), XAxis, vector(d.y), YAxis);
        const Transform F(axes, vector(d.at)), M(axes, vector(d.child_at));
        MobilizedBody& parent = body_at(d.parent);
        MobilizedBody made;
        switch (d.kind) {
            case joint_kind::weld:
                made = MobilizedBody::Weld(parent, F, body, M);
                break;
            case joint_kind::pin:
                made = MobilizedBody::Pin(parent, F, body, M);
                break;
            case joint_kind::slider:
                made = MobilizedBody::Slider(parent, F, body, M);
                break;
            case joint_kind::cylinder:
                made = MobilizedBody::Cylinder(parent, F, body, M);
                break;
            case joint_kind::universal:
                made = MobilizedBody::Universal(parent, F, body, M);
                break;
            case joint_kind::planar:
                made = MobilizedBody::Planar(parent, F, body, M);
                break;
            case joint_kind::ball:
                made = MobilizedBody::Ball(parent, F, body, M);
                break;
            case joint_kind::free:
                made = MobilizedBody::Free(parent, F, body, M);
                break;
        }
        if (d.motion == joint_data::motions::steady) Motion::Steady(made, d.speed[0]);
        if (d.motion == joint_data::motions::sine)
            Motion::Sinusoid(made, Motion::Position, d.amplitude, d.frequency, d.phase);
        bodies_[static_cast<std::size_t>(d.child)] = made;
        joints_.push_back(made);
    }

    void add_closure(const closure_data& c) {
        MobilizedBody &a = body_at(c.between.first), &b = body_at(c.between.second);
        const Vec3 p = vector(c.between.at_first), q = vector(c.between.at_second);
        switch (c.what) {
            case closure_data::kind::point:
                closures_.push_back(Constraint::Ball(a, p, b, q));
                break;
            case closure_data::kind::rod:
                closures_.push_back(Constraint::Rod(a, p, b, q, c.size));
                break;
            case closure_data::kind::weld:
                closures_.push_back(Constraint::Weld(a, Transform(p), b, Transform(q)));
                break;
            case closure_data::kind::rolling:
                closures_.push_back(Constraint::SphereOnPlaneContact(
                    a, Transform(Rotation(UnitVec3(vector(data_.up)), ZAxis), p), b, q, c.size, true));
                break;
        }
    }

    void add_forces() {
        for (const auto& s : data_.springs) {
            const MobilizedBody &a = body_at(s.between.first), &b = body_at(s.between.second);
            const Vec3 p = vector(s.between.at_first), q = vector(s.between.at_second);
            Force::TwoPointLinearSpring(forces_, a, p, b, q, s.stiffness, s.length);
            if (s.damping > 0) Force::TwoPointLinearDamper(forces_, a, p, b, q, s.damping);
        }
        for (const auto& s : data_.bushings) {
            Vec6 k, d;
            for (int i = 0; i < 6; ++i)
                k[i] = s.stiffness[static_cast<std::size_t>(i)], d[i] = s.damping[static_cast<std::size_t>(i)];
            Force::LinearBushing(forces_, body_at(s.between.first), Transform(vector(s.between.at_first)),
                                 body_at(s.between.second), Transform(vector(s.between.at_second)), k, d);
        }
        for (const auto& s : data_.joint_springs) {
            const MobilizedBody& joint = joints_[static_cast<std::size_t>(s.joint)];
            Force::MobilityLinearSpring(forces_, joint, s.coordinate, s.stiffness, s.rest);
            if (s.damping > 0) Force::MobilityLinearDamper(forces_, joint, s.coordinate, s.damping);
        }
        for (const auto& c : data_.contacts) Force::Custom(forces_, new ground_contact(body_at(c.body), c, ground_));
    }

    void place(const joint_data& d, const MobilizedBody& joint) {
        const auto rotation = [](const double* v) {
            const Vec3 w(v[0], v[1], v[2]);
            const double angle = w.norm();
            return angle > 0 ? Rotation(angle, w / angle) : Rotation();
        };
        if (d.kind == joint_kind::ball) {
            joint.setQToFitRotation(state_, rotation(d.start.data()));
        } else if (d.kind == joint_kind::free) {
            joint.setQToFitTransform(state_,
                                     Transform(rotation(d.start.data()), Vec3(d.start[3], d.start[4], d.start[5])));
        } else {
            for (std::size_t k = 0; k < d.start.size(); ++k) joint.setOneQ(state_, static_cast<int>(k), d.start[k]);
        }
        for (std::size_t k = 0; k < d.speed.size(); ++k) joint.setOneU(state_, static_cast<int>(k), d.speed[k]);
    }

    /// To Stage::Velocity, with motions that are prescribed.
    void prescribe() {
        system_.realize(state_, Stage::Time);
        system_.prescribeQ(state_);
        system_.realize(state_, Stage::Position);
        system_.prescribeU(state_);
        system_.realize(state_, Stage::Velocity);
    }

    void give(double* x) const {
        const int nq = state_.getNQ(), nu = state_.getNU();
        if (nq > 0) std::copy(&state_.getQ()[0], &state_.getQ()[0] + nq, x);
        if (nu > 0) std::copy(&state_.getU()[0], &state_.getU()[0] + nu, x + nq);
    }

    // tyres

    struct rolling_tyre {
        Vec3 station{0}, along{0}, across{0}, normal{0};
        double depth = 0, force[3] = {}, slip[2] = {}, slip_rate[2] = {};
    };

    void roll(const tyre_data& d, const double* slip, rolling_tyre& t) const {
        const MobilizedBody& wheel = body_at(d.body);
        const Vec3 axis = wheel.expressVectorInGroundFrame(state_, vector(d.axis));
        const std::string who = "tyre '" + d.name + "'";
        const Vec3 normal = ground_.at(wheel.findStationLocationInGround(state_, vector(d.at)), who).normal;
        const Vec3 lying = normal - dot(normal, axis) * axis;  // zero for a wheel that lies flat
        const double upright = lying.norm();
        for (int k = 0; k < 2; ++k) t.slip[k] = slip[k], t.slip_rate[k] = -slip[k] / d.relaxation;
        std::fill(t.force, t.force + 3, 0.0);
        t.depth = 0;
        if (!(upright > 1e-3)) return;
        const Vec3 to_contact = -d.radius / upright * lying;
        t.normal = normal;
        t.along = cross(axis, normal) / upright;
        t.across = cross(normal, t.along);
        t.station = vector(d.at) + wheel.expressGroundVectorInBodyFrame(state_, to_contact);
        const Vec3 centre_speed = wheel.findStationVelocityInGround(state_, vector(d.at));
        const Vec3 slide = wheel.findStationVelocityInGround(state_, t.station);
        const double depth = ground_.at(wheel.findStationLocationInGround(state_, t.station), who).depth;
        const double speed = std::fabs(dot(centre_speed, t.along)) + d.slowest;
        t.slip_rate[0] = (dot(slide, t.along) - speed * slip[0]) / d.relaxation;
        t.slip_rate[1] = (dot(slide, t.across) - speed * slip[1]) / d.relaxation;
        if (!(depth > 0)) return;
        t.depth = depth;
        const double load = d.stiffness * depth * std::max(0.0, 1 - d.damping * dot(slide, normal));
        const double total = std::hypot(slip[0], slip[1]);
        const double per_slip = total > 1e-12 ? std::sin(d.C * std::atan(d.B * total)) / total : d.B * d.C;
        for (int k = 0; k < 2; ++k) t.force[k] = -d.friction * load * per_slip * slip[k];
        t.force[2] = load;
    }

    // loops

    /// Speeds, by number, of joints that are not held.
    template <class Held>
    std::vector<int> all_but(const Held& held) const {
        std::vector<int> free;
        for (std::size_t i = 0; i < joints_.size(); ++i) {
            if (held(data_.joints[i]) || data_.joints[i].motion != joint_data::motions::none) continue;
            for (int k = 0; k < joints_[i].getNumU(state_); ++k)
                free.push_back(static_cast<int>(joints_[i].getFirstUIndex(state_)) + k);
        }
        return free;
    }

    /// The smallest change of the free ones that makes `rows` times it equal to `right`; redundant rows do no harm.
    static Vector least_change(const Matrix& rows, const Vector& right, const std::vector<int>& free, int speeds) {
        Vector change(speeds, 0.0), found;
        if (free.empty() || rows.nrow() == 0) return change;
        Matrix of(rows.nrow(), static_cast<int>(free.size()));
        for (int k = 0; k < of.ncol(); ++k) of(k) = rows(free[static_cast<std::size_t>(k)]);
        FactorQTZ(of, 1e-10).solve(right, found);
        if (!std::isfinite(found.norm())) return change;  // nothing free moves them
        for (int k = 0; k < of.ncol(); ++k) change[free[static_cast<std::size_t>(k)]] = found[k];
        return change;
    }

    /// Gauss and Newton, from where the joints start.
    void assemble() {
        const State before = state_;
        const std::vector<int> free = all_but([](const joint_data& d) { return d.start_given; });
        Matrix P;
        for (int n = 0; n < 60; ++n) {
            matter_.calcP(state_, P);
            const Vector open = state_.getQErr()(0, P.nrow());
            if (!(open.norm() > 1e-13)) return;
            const Vector change = least_change(P, Vector(-open), free, state_.getNU());
            Vector dq;
            matter_.multiplyByN(state_, false, change, dq);
            const Vector q = state_.getQ();
            for (double part = 1; part > 1e-3; part /= 2) {
                state_.updQ() = q + part * dq;
                prescribe();
                if (Vector(state_.getQErr()(0, P.nrow())).norm() < open.norm()) break;
            }
        }
        if (open_closures(true).empty()) return;
        state_ = before;
        prescribe();
        throw std::invalid_argument(
            "its loops cannot close: with the joints as they start " + open_closures(true) +
            ". Those whose 'start' is given keep it: change them, or lengths, or leave 'start' out where "
            "a joint shall follow");
    }

    std::string open_closures(bool position) {
        std::ostringstream text;
        for (std::size_t i = 0; i < closures_.size(); ++i) {
            const Vector open = position ? closures_[i].getPositionErrorsAsVector(state_)
                                         : closures_[i].getVelocityErrorsAsVector(state_);
            if (!(open.norm() > 1e-9)) continue;
            text << (text.str().empty() ? "" : ", ") << "'" << data_.closures[i].name << "' is open by " << open.norm()
                 << (position ? " m" : " m/s");
        }
        return text.str();
    }

    /// Speeds that are not given follow from those that are: G u = 0.
    void adapt_speeds() {
        Matrix G;
        matter_.calcG(state_, G);
        const std::vector<int> free = all_but([](const joint_data& d) { return d.speed_given; });
        Vector u = state_.getU();
        for (const int k : free) u[k] = 0;
        u += least_change(G, Vector(-(G * u)), free, state_.getNU());
        state_.updU() = u;
        prescribe();
        if (const std::string open = open_closures(false); !open.empty())
            throw std::invalid_argument("the speeds of its joints tear its loops: " + open +
                                        ". Leave 'speed' out where a joint shall follow");
    }

    system_data data_;
    ground_surface ground_;
    MultibodySystem system_;
    SimbodyMatterSubsystem matter_;
    GeneralForceSubsystem forces_;
    Force::DiscreteForces loads_;
    std::vector<MobilizedBody> bodies_, joints_;
    std::vector<Constraint> closures_;
    State state_;
    Vector_<SpatialVec> body_loads_;
    Vector mobility_loads_;
    std::vector<rolling_tyre> tyres_;
};

}  // namespace

}  // namespace mdpcosim::multibody

extern "C" __attribute__((visibility("default"))) mdpcosim::multibody::engine* mdpcosim_multibody(
    const mdpcosim::multibody::system_data& data, std::size_t size) {
    if (size != sizeof data) return nullptr;
    return new mdpcosim::multibody::simbody_engine(data);
}
