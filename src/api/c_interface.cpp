#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <sstream>

#include "api/kept_rows.hpp"
#include "api/version.hpp"
#include "core/arithmetic.hpp"
#include "core/files.hpp"
#include "mdpcosim/mdpcosim.h"
#include "results/summary.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

/// mdpcosim.h: a simulation behind C functions, out of which no exception leaves.
namespace mdpcosim {

namespace {

/// Without a destructor, so that it can be asked for to the very end of a thread.
struct last_failure {
    char text[4096];
    int status;
    void tell(int what, const char* words) {
        status = what;
        std::strncpy(text, words, sizeof text - 1);
    }
};

/// What stands behind a handle.
struct client {
    explicit client(simulation&& made) : object(std::move(made)) {}
    simulation object;
    std::vector<simulation::place> places;
    std::map<std::string, int> known_places;
    std::unique_ptr<kept_rows> rows;
    bool started = false;
    std::string text;  ///< handed out
    last_failure failure{};
    std::string why_failed;  ///< the run
};

/// Handles are numbers, not addresses: what is freed, or was never a handle, is found out. The lower half is the place in the table, counted
/// from 1, the upper half says how often that was used before.
class client_table {
   public:
    mdpcosim_simulation* add(std::shared_ptr<client> made) {
        const std::unique_lock lock(mutex_);
        auto free = std::ranges::find_if(entries_, [](const entry& e) { return !e.held; });
        if (free == entries_.end()) free = entries_.insert(free, entry{});
        free->held = std::move(made);
        const auto number = static_cast<std::uintptr_t>(free - entries_.begin()) + 1;
        return reinterpret_cast<mdpcosim_simulation*>(free->used << half | number);
    }
    std::shared_ptr<client> find(const mdpcosim_simulation* handle) const {
        const std::shared_lock lock(mutex_);
        const entry* found = at(handle);
        return found == nullptr ? nullptr : found->held;
    }
    std::shared_ptr<client> remove(const mdpcosim_simulation* handle) {
        const std::unique_lock lock(mutex_);
        auto* found = const_cast<entry*>(at(handle));
        if (found == nullptr) return nullptr;
        ++found->used;
        return std::exchange(found->held, nullptr);
    }

   private:
    static constexpr int half = std::numeric_limits<std::uintptr_t>::digits / 2;
    struct entry {
        std::shared_ptr<client> held = {};
        std::uintptr_t used = 0;
    };
    const entry* at(const mdpcosim_simulation* handle) const {
        const auto value = reinterpret_cast<std::uintptr_t>(handle);
        const std::uintptr_t number = value & ((std::uintptr_t{1} << half) - 1);
        if (number == 0 || number > entries_.size()) return nullptr;
        const entry& found = entries_[number - 1];
        return found.held && found.used == value >> half ? &found : nullptr;
    }

    mutable std::shared_mutex mutex_;
    std::vector<entry> entries_;
};

/// Never destroyed: a program may free its simulations while it ends.
client_table& clients() {
    static auto& one = *new client_table;
    return one;
}

/// Of calls without a valid handle.
last_failure& of_this_thread() {
    thread_local last_failure one{};
    return one;
}

/// What `work` throws becomes a status, and a text in `told`. The caller's arithmetic is his own.
template <class Work>
int guarded(last_failure& told, const Work& work) noexcept {
    const usual_arithmetic as_usual;
    try {
        work();
        return MDPCOSIM_OK;
    } catch (const user_error& problem) {
        told.tell(MDPCOSIM_MISTAKE, problem.what());
    } catch (const run_error& problem) {
        told.tell(MDPCOSIM_FAILED, problem.what());
    } catch (const std::bad_alloc&) {
        told.tell(MDPCOSIM_FAILED, "there is not enough memory");
    } catch (const std::exception& problem) {
        told.tell(MDPCOSIM_DEFECT, problem.what());
    } catch (...) {
        told.tell(MDPCOSIM_DEFECT, "an exception of unknown type");
    }
    return told.status;
}

/// Work with the simulation behind the handle.
template <class Work>
int with(const mdpcosim_simulation* handle, const Work& work) noexcept {
    std::shared_ptr<client> found;
    const int known = guarded(of_this_thread(), [&] {
        found = clients().find(handle);
        if (!found)
            throw user_error(handle == nullptr ? "the simulation is NULL"
                                               : "the simulation was freed before, or never was one");
    });
    if (known != MDPCOSIM_OK) return known;
    const bool failed_before = found->object.failed();
    const int status = guarded(found->failure, [&] { work(*found); });
    if (status == MDPCOSIM_OK || failed_before || !found->object.failed()) return status;
    guarded(found->failure, [&] { found->why_failed = found->failure.text; });
    return found->failure.status = status == MDPCOSIM_MISTAKE ? MDPCOSIM_FAILED : status;
}

template <class Value, class Work>
Value value_of(const mdpcosim_simulation* handle, Value otherwise, const Work& work) noexcept {
    Value result = otherwise;
    with(handle, [&](client& c) { result = work(c); });
    return result;
}

/// Arguments that must not be NULL.
template <class Pointer>
Pointer given(Pointer pointer, const char* name) {
    if (pointer == nullptr) throw user_error(std::string("argument '") + name + "' is NULL");
    return pointer;
}

struct read_options {
    simulation_options simulation;
    bool in_process = false;
    std::vector<scenario_override> settings;
};

read_options read(const mdpcosim_options* options) {
    mdpcosim_options o{};
    if (options != nullptr) {
        if (options->size < offsetof(mdpcosim_options, workers) || options->size > 4096)
            throw user_error("options: 'size' is " + std::to_string(options->size) +
                             "; set it to sizeof(mdpcosim_options)");
        std::memcpy(&o, options, std::min(options->size, sizeof o));
    }
    read_options made;
    if (o.workers < 0) throw user_error("options: 'workers' is " + std::to_string(o.workers));
    made.simulation.workers = o.workers;
    made.simulation.monolithic = o.monolithic != 0;
    made.in_process = o.in_process != 0;
    if (o.transport != nullptr) made.simulation.transport = transport_named(o.transport);
    if (o.message != nullptr)
        made.simulation.messages = [tell = o.message, context = o.context](const std::string& text) {
            tell(context, text.c_str());
        };
    if (o.setting_count > 0) given(o.settings, "settings");
    for (std::size_t i = 0; i < o.setting_count; ++i) {
        const std::string setting = given(o.settings[i], "settings[i]");
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            throw user_error("setting '" + setting + "' is not 'object.parameter=value'");
        made.settings.push_back({setting.substr(0, equals), setting.substr(equals + 1), "setting '" + setting + "'"});
    }
    return made;
}

/// Nothing guards this process, which is the caller's, against foreign code: that runs elsewhere unless the caller declines.
scenario with_foreign_code_apart(scenario s, const read_options& o) {
    using kind = subsystem_spec::source_kind;
    if (o.in_process) return s;
    for (auto& entry : s.subsystems) {
        if (entry.kind != kind::fmu && entry.kind != kind::plugin) continue;
        if (o.simulation.monolithic)
            throw user_error(
                entry.where,
                "subsystem '" + entry.name +
                    "': as part of one system of equations (options: 'monolithic') an FMU or a plugin runs in "
                    "this process, which ends where it crashes. Set 'in_process' of the options, too, to allow that.");
        entry.fmu.isolate = true;
    }
    return s;
}

template <class Read>
mdpcosim_simulation* load(const mdpcosim_options* options, const Read& read_it) {
    mdpcosim_simulation* made = nullptr;
    guarded(of_this_thread(), [&] {
        const read_options o = read(options);
        made = clients().add(
            std::make_shared<client>(simulation(with_foreign_code_apart(read_it(o.settings), o), o.simulation)));
    });
    return made;
}

}  // namespace

}  // namespace mdpcosim

using namespace mdpcosim;

const char* mdpcosim_version() { return version(); }

mdpcosim_simulation* mdpcosim_load(const char* path, const mdpcosim_options* options) {
    return load(options, [&](const auto& settings) { return read_scenario(given(path, "path"), settings); });
}

mdpcosim_simulation* mdpcosim_load_text(const char* text, const char* folder, const mdpcosim_options* options) {
    return load(options, [&](const auto& settings) {
        return read_scenario_text(given(text, "text"), "scenario", folder == nullptr ? "" : folder, settings);
    });
}

void mdpcosim_free(mdpcosim_simulation* s) {
    if (s == nullptr) return;
    guarded(of_this_thread(), [&] {
        if (!clients().remove(s)) throw user_error("the simulation was freed before, or never was one");
    });
}

const char* mdpcosim_last_error(const mdpcosim_simulation* s) {
    const auto found = s == nullptr ? nullptr : clients().find(s);
    return found ? found->failure.text : of_this_thread().text;
}

int mdpcosim_last_status(const mdpcosim_simulation* s) {
    const auto found = s == nullptr ? nullptr : clients().find(s);
    return found ? found->failure.status : of_this_thread().status;
}

int mdpcosim_initialise(mdpcosim_simulation* s) {
    return with(s, [](client& c) {
        c.started = true;
        c.object.initialise();
    });
}

int mdpcosim_step(mdpcosim_simulation* s) {
    return with(s, [](client& c) { c.object.step(); });
}

int mdpcosim_advance_to(mdpcosim_simulation* s, double t) {
    return with(s, [t](client& c) { c.object.advance_to(t); });
}

int mdpcosim_reset(mdpcosim_simulation* s) {
    return with(s, [](client& c) {
        c.object.reset();
        if (c.rows) c.rows->forget();
    });
}

int mdpcosim_run_for(mdpcosim_simulation* s, double seconds) {
    return with(s, [seconds](client& c) {
        if (!std::isfinite(seconds) || seconds < 0) throw user_error("argument 'seconds' is no time");
        using clock = std::chrono::steady_clock;
        const clock::time_point begin = clock::now();
        constexpr int often = 8;  // reading the clock costs as much as a small step
        for (int n = 1; !c.object.done(); ++n) {
            c.object.step();
            if (seconds > 0 && n % often == 0 && std::chrono::duration<double>(clock::now() - begin).count() >= seconds)
                return;
        }
    });
}

int mdpcosim_record(mdpcosim_simulation* s) {
    return with(s, [](client& c) {
        if (c.rows) throw user_error("the rows are kept already");
        if (c.started) throw user_error("mdpcosim_record() belongs before mdpcosim_initialise()");
        c.rows = std::make_unique<kept_rows>(c.object);
    });
}

size_t mdpcosim_row_count(const mdpcosim_simulation* s) {
    return value_of(s, std::size_t{0}, [](const client& c) { return c.rows ? c.rows->rows() : 0; });
}

size_t mdpcosim_column_count(const mdpcosim_simulation* s) {
    return value_of(s, std::size_t{0}, [](const client& c) { return c.rows ? c.rows->columns() : 0; });
}

namespace mdpcosim {

namespace {

kept_rows& rows_with(const client& c, std::size_t column) {
    if (!c.rows) throw user_error("no rows are kept: mdpcosim_record() before mdpcosim_initialise()");
    if (column >= c.rows->columns())
        throw user_error("column " + std::to_string(column) + " of " + std::to_string(c.rows->columns()) +
                         " does not exist");
    return *c.rows;
}

}  // namespace

}  // namespace mdpcosim

const char* mdpcosim_column_name(const mdpcosim_simulation* s, size_t column) {
    return value_of<const char*>(s, nullptr,
                                 [&](const client& c) { return rows_with(c, column).name(column).c_str(); });
}

const char* mdpcosim_column_unit(const mdpcosim_simulation* s, size_t column) {
    return value_of<const char*>(s, nullptr,
                                 [&](const client& c) { return rows_with(c, column).unit(column).c_str(); });
}

const double* mdpcosim_column(mdpcosim_simulation* s, size_t column) {
    return value_of<const double*>(s, nullptr, [&](const client& c) { return rows_with(c, column).column(column); });
}

double mdpcosim_time(const mdpcosim_simulation* s) {
    return value_of(s, std::nan(""), [](const client& c) { return c.object.time(); });
}

double mdpcosim_end(const mdpcosim_simulation* s) {
    return value_of(s, std::nan(""), [](const client& c) { return c.object.end(); });
}

int64_t mdpcosim_steps(const mdpcosim_simulation* s) {
    return value_of(s, std::int64_t{-1}, [](const client& c) { return c.object.steps(); });
}

int mdpcosim_done(const mdpcosim_simulation* s) {
    return value_of(s, -1, [](const client& c) { return c.object.done() ? 1 : 0; });
}

int mdpcosim_get(const mdpcosim_simulation* s, const char* address, double* value) {
    return with(s, [&](client& c) { *given(value, "value") = c.object.value(given(address, "address")); });
}

int mdpcosim_find(const mdpcosim_simulation* s, const char* address) {
    return value_of(s, -1, [&](client& c) {
        if (const auto known = c.known_places.find(given(address, "address")); known != c.known_places.end())
            return known->second;
        c.places.push_back(c.object.find(address));
        return c.known_places[address] = static_cast<int>(c.places.size()) - 1;
    });
}

int mdpcosim_read(const mdpcosim_simulation* s, const int* places, size_t count, double* values) {
    return with(s, [&](client& c) {
        if (count == 0) return;
        given(places, "places");
        given(values, "values");
        for (std::size_t i = 0; i < count; ++i)
            if (places[i] < 0 || static_cast<std::size_t>(places[i]) >= c.places.size())
                throw user_error("place " + std::to_string(places[i]) + " is none that mdpcosim_find() gave");
        for (std::size_t i = 0; i < count; ++i)
            values[i] = c.object.value(c.places[static_cast<std::size_t>(places[i])]);
    });
}

int mdpcosim_set(mdpcosim_simulation* s, const char* address, double value) {
    return with(s, [&](client& c) { c.object.set(given(address, "address"), value); });
}

int mdpcosim_get_text(const mdpcosim_simulation* s, const char* address, const char** text, size_t* size) {
    return with(s, [&](client& c) {
        given(text, "text");
        c.text = c.object.text(given(address, "address"));
        *text = c.text.c_str();
        if (size != nullptr) *size = c.text.size();
    });
}

int mdpcosim_set_text(mdpcosim_simulation* s, const char* address, const char* text, size_t size) {
    return with(s, [&](client& c) {
        c.object.set_text(given(address, "address"),
                          size == 0 ? std::string() : std::string(given(text, "text"), size));
    });
}

int mdpcosim_save(mdpcosim_simulation* s, const char* path) {
    return with(s, [&](client& c) {
        std::ostringstream state;
        c.object.save(state);
        try {
            write_output(given(path, "path"), state.view());
        } catch (const file_problem& problem) {
            throw user_error(std::string("file '") + path + "' cannot be written: " + problem.what());
        }
    });
}

int mdpcosim_load_state(mdpcosim_simulation* s, const char* path) {
    return with(s, [&](client& c) {
        try {
            open_input(given(path, "path"));  // has an end
            std::ifstream from(path, std::ios::binary);
            c.object.load(from);
        } catch (const file_problem& problem) {
            throw user_error(std::string("file '") + path + "' cannot be read: " + problem.what());
        } catch (const user_error& problem) {
            throw user_error(std::string(path) + ": " + problem.what());
        }
    });
}

int mdpcosim_summary(mdpcosim_simulation* s, const char** json) {
    return with(s, [&](client& c) {
        given(json, "json");
        run_summary summary = c.object.finish();
        summary.status = c.object.failed() ? "failed" : c.object.done() ? "done" : "running";
        if (c.object.failed()) summary.message = c.why_failed;
        c.text = to_json(summary);
        *json = c.text.c_str();
    });
}
