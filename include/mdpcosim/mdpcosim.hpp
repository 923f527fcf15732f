#pragma once

// mdpcosim as a library for C++17 and later: mdpcosim.h with exceptions instead of statuses and an object that frees itself. Call order and rules
// stand there. It needs nothing but that header and the library, whatever compiler made either.
//
//     mdpcosim::simulation s("scenario.yaml");
//     s.initialise();
//     while (!s.done()) {
//         s.step();
//         s.set("motor.demand", controller(s.get("motor.shaft.speed")));
//     }

#include <mdpcosim/mdpcosim.h>

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mdpcosim {
inline namespace c_interface_1 {

/// What went wrong, in words.
class failure : public std::runtime_error {
   public:
    failure(int status, const std::string& text) : std::runtime_error(text), status_(status) {}
    /// MDPCOSIM_FAILED, MDPCOSIM_MISTAKE or MDPCOSIM_DEFECT.
    int status() const { return status_; }

   private:
    int status_;
};

struct simulation_options {
    std::string transport = "threads";
    int workers = 0;
    bool monolithic = false;
    std::vector<std::string> settings = {};                   ///< "object.parameter=value"
    std::function<void(const std::string&)> message = {};     ///< is told what a user should know, from any thread
    bool in_process = false;                                  ///< FMUs and plugins, which end this process where they crash
};

class simulation {
   public:
    explicit simulation(const std::string& path, simulation_options options = {})   : simulation(std::move(options)) {
        take(mdpcosim_load(path.c_str(), &c_options()));
    }
    /// From a text; relative paths start at `folder`.
    static simulation from_text(const std::string& text, const std::string& folder = {}, simulation_options options = {}) {
        simulation made(std::move(options));
        made.take(mdpcosim_load_text(text.c_str(), folder.empty() ? nullptr : folder.c_str(), &made.c_options()));
        return made;
    }

    simulation(simulation&&) noexcept = default;
    simulation& operator=(simulation&& other) noexcept {
        handle_ = std::move(other.handle_);  // what is freed here may still send messages
        options_ = std::move(other.options_);
        return *this;
    }

    void initialise() { check(mdpcosim_initialise(get())); }
    void step() { check(mdpcosim_step(get())); }
    void advance_to(double t) { check(mdpcosim_advance_to(get(), t)); }
    /// Macro steps for so many seconds of wall time, or to the end.
    void run_for(double seconds) { check(mdpcosim_run_for(get(), seconds)); }
    void reset() { check(mdpcosim_reset(get())); }

    /// Keeps the rows of what the scenario records; before initialise().
    void record() { check(mdpcosim_record(get())); }
    std::size_t rows() const { return mdpcosim_row_count(get()); }
    std::size_t columns() const { return mdpcosim_column_count(get()); }
    /// Column 0 is the time.
    std::string column_name(std::size_t column) const { return checked(mdpcosim_column_name(get(), column)); }
    std::string column_unit(std::size_t column) const { return checked(mdpcosim_column_unit(get(), column)); }
    /// rows() numbers, there until the next step.
    const double* column(std::size_t column) { return checked(mdpcosim_column(get(), column)); }

    double time() const { return mdpcosim_time(get()); }
    double end() const { return mdpcosim_end(get()); }
    std::int64_t steps() const { return mdpcosim_steps(get()); }
    bool done() const {
        const int done = mdpcosim_done(get());
        if (done < 0) fail();
        return done != 0;
    }

    double get(const std::string& address) const {
        double value = 0;
        check(mdpcosim_get(get(), address.c_str(), &value));
        return value;
    }
    /// For values that are read often.
    int find(const std::string& address) const {
        const int place = mdpcosim_find(get(), address.c_str());
        if (place < 0) fail();
        return place;
    }
    double get(int place) const {
        double value = 0;
        check(mdpcosim_read(get(), &place, 1, &value));
        return value;
    }
    void get(const std::vector<int>& places, std::vector<double>& values) const {
        values.resize(places.size());
        check(mdpcosim_read(get(), places.data(), places.size(), values.data()));
    }
    void set(const std::string& address, double value) { check(mdpcosim_set(get(), address.c_str(), value)); }

    std::string text(const std::string& address) const {
        const char* text = nullptr;
        std::size_t size = 0;
        check(mdpcosim_get_text(get(), address.c_str(), &text, &size));
        return {text, size};
    }
    void set_text(const std::string& address, const std::string& text) {
        check(mdpcosim_set_text(get(), address.c_str(), text.data(), text.size()));
    }

    void save(const std::string& path) { check(mdpcosim_save(get(), path.c_str())); }
    void load_state(const std::string& path) { check(mdpcosim_load_state(get(), path.c_str())); }
    /// JSON, what summary.json of a run would hold.
    std::string summary() {
        const char* json = nullptr;
        check(mdpcosim_summary(get(), &json));
        return json;
    }

   private:
    struct kept_options {
        simulation_options given;
        std::vector<const char*> settings;
        mdpcosim_options c;
    };
    struct deleter {
        void operator()(mdpcosim_simulation* s) const { mdpcosim_free(s); }
    };

    explicit simulation(simulation_options options) : options_(std::make_unique<kept_options>()) {
        options_->given = std::move(options);
        const simulation_options& given = options_->given;
        for (const std::string& setting : given.settings) options_->settings.push_back(setting.c_str());
        mdpcosim_options& c = options_->c;
        c = {};
        c.size = sizeof c;
        c.transport = given.transport.c_str();
        c.workers = given.workers;
        c.monolithic = given.monolithic ? 1 : 0;
        c.in_process = given.in_process ? 1 : 0;
        c.settings = options_->settings.data();
        c.setting_count = options_->settings.size();
        if (!given.message) return;
        c.context = options_.get();
        c.message = [](void* context, const char* text) {
            try {
                static_cast<kept_options*>(context)->given.message(text);
            } catch (...) {  // none may pass through the library
            }
        };
    }
    const mdpcosim_options& c_options() const { return options_->c; }
    void take(mdpcosim_simulation* made) {
        if (made == nullptr) throw failure(mdpcosim_last_status(nullptr), mdpcosim_last_error(nullptr));
        handle_.reset(made);
    }
    mdpcosim_simulation* get() const { return handle_.get(); }
    void check(int status) const {
        if (status != MDPCOSIM_OK) fail();
    }
    template <class Pointer>
    Pointer checked(Pointer given) const {
        if (given == nullptr) fail();
        return given;
    }
    [[noreturn]] void fail() const {
        throw failure(mdpcosim_last_status(get()), mdpcosim_last_error(get()));
    }

    std::unique_ptr<kept_options> options_;  ///< the library may send messages as long as the simulation lives
    std::unique_ptr<mdpcosim_simulation, deleter> handle_;
};

}  // namespace c_interface_1
}  // namespace mdpcosim
