#pragma once

#include "laws.hpp"
#include "subsystem/equations.hpp"

/// A valve train as equations:
///     q' = v,   M v' = sum of the terms (laws.hpp) + loads,   e' = flows into an adjuster,   V' = flow out of a gallery.
/// The Jacobian is exact: the terms', each in its place.
namespace mdpcosim::valve_train {

class train final : public equations {
   public:
    explicit train(train_data d);

    const subsystem_description& describe() const noexcept override { return description_; }
    int state_count() const override { return static_cast<int>(states_.size()); }
    void expect(const usage& used) override;
    void initial_state(double t0, double* x) const override;
    std::string state_name(int i) const override { return at(i).name; }
    double nominal(int i) const override { return at(i).nominal; }
    bool rests(int i) const override { return at(i).rests; }
    void derivatives(double t, const double* x, const double* u, double* dx) const override;
    void outputs(double t, const double* x, const double* u, double* y) const override;
    void port_outputs(double t, const double* x, const double* u, double* y) const override;

    const sparsity* structure() const override { return &structure_; }
    const sparsity* input_structure() const override { return &input_structure_; }
    const sparsity* output_structure() const override { return &output_structure_; }
    bool sparse_jacobian(double t, const double* x, const double* u, double* values) const override;

   private:
    struct state_data {
        std::string name;
        double nominal = 1;
        bool rests = true;
    };
    struct result_place {
        const term_group* group;
        int local;
    };
    struct destination {
        int result, row;
        double weight;
    };
    /// An output: a sum of states, of results and of rates of states.
    struct shown {
        int slot;
        std::vector<std::pair<int, double>> states = {}, results = {}, rates = {};
    };
    struct body {
        double mass;
        std::vector<int> speeds;  ///< whose sum is its own
    };
    struct shaft_states {
        int phi = 0;                  ///< speed behind it
        std::vector<int> twist = {};  ///< by disc, its speed behind it; of the end: nothing
        std::vector<double> inertia = {};
    };
    struct place_of_valve {
        int x;
        double mass;
    };

    const state_data& at(int i) const { return states_[static_cast<std::size_t>(i)]; }
    int add_state(std::string name, double nominal, bool rests = true);
    /// A position and, behind it, its velocity.
    int add_motion(const std::string& of, double size, double speed, bool rests = true);

    template <class Law>
    result_place put(group_of<Law>& group, const Law& law, std::array<int, Law::variables> states,
                     std::array<int, Law::inputs> inputs = {}) {
        return {&group, group.add(law, states, inputs)};
    }
    static result_place next(result_place first, int by) { return {first.group, first.local + by}; }
    void send(result_place result, int row, double weight) { sent_.push_back({result, row, weight}); }
    void send_to_disc(result_place result, const shaft_data& s, const shaft_states& at, int disc, double sign);

    void add_shafts();
    void add_followers();
    void add_adjusters();
    void add_valves();
    void add_springs();
    void add_energy();
    int show(const std::string& name, const std::string& unit, const std::string& what, shown what_of, int size = 1);
    void resolve();
    void make_structures();
    void evaluate(const double* x, const double* u, double* dx) const;
    double energy(const double* x) const;
    void begin(double* x) const;

    train_data d_;
    subsystem_description description_;
    std::vector<state_data> states_;
    std::vector<std::pair<int, int>> motions_;  ///< position, velocity
    std::vector<body> bodies_;

    group_of<torsion> torsions_;
    group_of<bearing> bearings_;
    group_of<applied> loads_;
    group_of<cam_contact> cams_;
    group_of<drag> drags_;
    group_of<tip_contact> tips_;
    group_of<adjuster_law<true>> adjusters_;
    group_of<adjuster_law<false>> light_adjusters_;
    group_of<seat_contact> seats_;
    group_of<coil> coils_;
    std::array<term_group*, 10> groups_{&torsions_, &bearings_,  &loads_,           &cams_,  &drags_,
                                        &tips_,     &adjusters_, &light_adjusters_, &seats_, &coils_};

    std::vector<shaft_states> shafts_;
    std::vector<int> followers_, plungers_, volumes_, oil_, balls_;  ///< first states; of galleries, of adjusters
    std::vector<result_place> cam_lifts_;
    std::vector<int> gallery_inputs_;
    std::vector<place_of_valve> valves_;
    std::vector<std::vector<int>> coil_masses_;  ///< by spring

    struct sent_result {
        result_place result;
        int row;
        double weight;
    };
    std::vector<sent_result> sent_;
    struct shown_result {
        std::size_t output;
        result_place result;
        double factor;
    };
    std::vector<shown_result> shown_results_;
    std::vector<destination> destinations_;
    std::vector<shown> shown_;
    std::vector<std::size_t>
        port_values_;  ///< of shown_: what ports give, all of it states; flows follow pressures at once
    int energy_slot_ = 0;
    bool energy_is_read_ = true, results_are_read_ = true;

    sparsity structure_, input_structure_, output_structure_;
    std::vector<int> ones_;  ///< slots of dq'/dv
    // Scratch; one thread at a time asks.
    mutable std::vector<double> results_, rates_, start_;
    mutable std::vector<char> shut_;  ///< adjusters, while the start is sought
};

}  // namespace mdpcosim::valve_train
