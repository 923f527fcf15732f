#include "fmi/instance_base.hpp"

#include <algorithm>
#include <unordered_set>

#include "archive/utf8.hpp"
#include "core/error.hpp"
#include "fmi/log_text.hpp"

namespace mdpcosim::fmi {

namespace {

/// The instances whose address an FMU may hand back.
struct live_instances {
    std::recursive_mutex mutex;
    std::unordered_set<const void*> all;
    std::vector<void*> lost;  ///< what broken FMUs hold and may not be asked to free
};
live_instances& live() {
    static auto* instances = new live_instances;  // FMUs' threads may log until the very end
    return *instances;
}

void lose(void* memory) {
    const std::scoped_lock lock(live().mutex);
    live().lost.push_back(memory);
}

}  // namespace

/// A saved state and its owner; whichever goes first, the state is freed while the FMU can still do it.
struct state_handle : saved_state {
    explicit state_handle(instance_base* o) : owner(o) {}
    state_handle(const state_handle&) = delete;
    state_handle& operator=(const state_handle&) = delete;
    ~state_handle() override {
        if (owner == nullptr) return;
        std::erase(owner->states_, this);
        release();
    }
    void release() noexcept {
        try {
            if (state != nullptr && owner->phase_ == instance_base::phase::dead)
                lose(state);
            else if (state != nullptr)
                owner->free_state(state);
        } catch (const std::exception&) {  // nothing is left to be done with it
        }
        owner = nullptr;
    }
    instance_base* owner;
    mutable void* state = nullptr;
};

namespace {

constexpr std::size_t messages_kept = 3;
constexpr int most_warnings = 20;

const char* status_name(int status) {
    constexpr const char* names[] = {"ok", "warning", "discard", "error", "fatal", "pending"};
    return status >= 0 && status < static_cast<int>(std::size(names)) ? names[status] : "an unknown status";
}

std::size_t size_of(version v, base_type type) {
    switch (type) {
        case base_type::float64:
            return 0;  // no conversion
        case base_type::boolean:
            return v == version::v1   ? sizeof(fmi1Boolean)
                   : v == version::v2 ? sizeof(fmi2Boolean)
                                      : sizeof(fmi3Boolean);
        case base_type::int8:
        case base_type::uint8:
            return 1;
        case base_type::int16:
        case base_type::uint16:
            return 2;
        case base_type::float32:
        case base_type::int32:
        case base_type::uint32:
            return 4;
        default:
            return 8;
    }
}

}  // namespace

instance_base::instance_base(std::shared_ptr<fmu_library> library, const instance_options& options)
    : library_(std::move(library)),
      options_(options),
      offers_(options.kind == kind::co_simulation ? *description().co_simulation : *description().model_exchange),
      traced_(options.trace != nullptr),
      discard_in_access_(options.kind == kind::model_exchange ? discard::returned : discard::refused) {
    const std::scoped_lock lock(live().mutex);
    live().all.insert(this);
}

instance_base::~instance_base() {
    {
        const std::scoped_lock lock(live().mutex);
        live().all.erase(this);
    }
    // What a dead instance holds is never given back: it counts for good.
    if (phase_ == phase::dead)
        lose(component_);
    else if (claimed_)
        --library_->instances;
}

void instance_base::claim() {
    const int before = library_->instances++;
    claimed_ = true;
    if (offers_.once_per_process && before > 0)
        throw user_error(
            fmt::format("FMU '{}' allows one instance per process, and there is one already. With 'isolate: true' "
                        "it runs in a process of its own.",
                        library_->fmu->path().string()));
}

void instance_base::not_instantiated(const std::string& message) {
    throw user_error(fmt::format("FMU '{}': {} (token '{}', model identifier '{}').{}", library_->fmu->path().string(),
                                 message, description().token, offers_.model_identifier, last_messages()));
}

value_block instance_base::make_block(std::span<const int> variables) const {
    value_block block;
    if (variables.empty()) return block;
    block.type = description().variables[variables[0]].type;
    for (const int index : variables) {
        const variable& x = description().variables[index];
        if (x.type != block.type) throw std::logic_error("fmi: a block of variables of different types");
        block.references.push_back(x.reference);
        block.elements += elements_of(x);
    }
    block.raw.resize(block.elements * size_of(description().version, block.type));
    if (orders_.size() < block.references.size()) orders_.resize(block.references.size());
    return block;
}

void instance_base::declared_nominals(std::span<double> nominal) const {
    std::size_t at = 0;
    for (const unknown& u : description().derivatives) {
        const int state = description().variables[u.variable].derivative_of;
        const double value = state < 0 ? 1 : description().variables[state].nominal.value_or(1);
        for (std::size_t i = elements_of(description().variables[u.variable]); i > 0 && at < nominal.size(); --i)
            nominal[at++] = value;
    }
}

std::unique_ptr<saved_state> instance_base::make_state() {
    auto state = std::make_unique<state_handle>(this);
    states_.push_back(state.get());
    if (offers_.state) save(*state);  // the FMU takes the memory now; later it is used again
    return state;
}

void*& instance_base::handle(const saved_state& state) { return static_cast<const state_handle&>(state).state; }

void instance_base::finish() noexcept {
    for (state_handle* state : states_) state->release();
    states_.clear();
    if (component_ == nullptr || phase_ == phase::dead) return;
    try {
        if (phase_ == phase::running) terminate();
    } catch (const std::exception&) {  // the end comes anyway
    }
    if (phase_ == phase::dead) return;
    try {
        free_component();
    } catch (...) {
        phase_ = phase::dead;
    }
}

void instance_base::log(int status, std::string_view category, std::string_view text) {
    if (status > 0) {
        const std::scoped_lock lock(message_mutex_);
        messages_.emplace_back(text);
        if (messages_.size() > messages_kept) messages_.pop_front();
    }
    if (options_.log) options_.log({options_.name, category, text, status});
}

void instance_base::receive_log(void* environment, int status, const char* category, std::string text) {
    try {
        const std::scoped_lock lock(live().mutex);
        if (!is_live(environment)) return;
        auto* self = static_cast<instance_base*>(environment);
        if (self->description().version != version::v3) text = name_references(text, self->description());
        while (text.ends_with('\n')) text.pop_back();
        std::string kind = category == nullptr ? "" : read_text(category);
        for (std::string* part : {&text, &kind}) {
            archive::repair_utf8(*part);
            // Nothing that moves a terminal's cursor.
            std::replace_if(
                part->begin(), part->end(), [](char c) { return c >= 0 && c < ' ' && c != '\n' && c != '\t'; }, '?');
        }
        self->log(status, kind, text);
    } catch (...) {  // nothing may leave through the FMU
    }
}

bool instance_base::is_live(const void* environment) {
    const std::scoped_lock lock(live().mutex);
    return live().all.contains(environment);
}

std::string instance_base::last_messages() {
    const std::scoped_lock lock(message_mutex_);
    std::string text;
    for (const std::string& message : messages_)
        text += fmt::format("{}'{}'", text.empty() ? " The FMU says: " : ", ", message);
    if (!text.empty()) text += ".";
    return text;
}

void instance_base::fail(const std::string& message, bool fatal) {
    phase_ = fatal ? phase::dead : phase::failed;
    if (fatal) direct_ = {};
    throw fmu_failure(fmt::format("{}.{}", message, last_messages()), fatal);
}

void instance_base::does_not_fit(double x, base_type type) {
    throw fmu_failure(fmt::format("the value {} does not fit the type {}.", x, name(type)), false);
}

void instance_base::cannot_call(const char* function, bool exists) {
    if (exists) throw fmu_failure(fmt::format("{} is not called: the FMU broke down before.", function), true);
    throw fmu_failure(fmt::format("the FMU's library has no function {}.", function), false);
}

void instance_base::exception_left(const char* function) {
    try {
        throw;
    } catch (const std::exception& problem) {
        fail(fmt::format("an exception left {}: {}", function, problem.what()), true);
    } catch (...) {
        fail(fmt::format("an exception left {}", function), true);
    }
}

status instance_base::judge(const char* function, int result, discard d) {
    switch (result) {
        case fmi2Warning:
            if (++warnings_ <= most_warnings)
                log(result, "",
                    fmt::format("{} returned a warning{}", function,
                                warnings_ == most_warnings ? " (further ones are not told)" : ""));
            return status::ok;
        case fmi2Discard:
            if (d == discard::returned) return status::discard;
            fail(fmt::format("{} returned discard", function), false);
        case fmi2Error:
            fail(fmt::format("{} returned error", function), false);
        case fmi2Fatal:
            fail(fmt::format("{} returned fatal", function), true);
        case fmi2Pending:
            fail(
                fmt::format("{} returned pending: the FMU goes on in the background, which is not supported", function),
                false);
        default:
            fail(fmt::format("{} returned the status {}, which does not exist", function, result), true);
    }
}

status instance_base::judge_direct(direct_call which, int result) {
    if (result == broken_down) cannot_call(name_of(which), true);
    return judge(name_of(which), result, which == direct_call::step ? discard::returned : discard_in_access_);
}

void instance_base::exception_left_direct(direct_call which) { exception_left(name_of(which)); }

void instance_base::trace(const char* function, const std::string& arguments, int result) {
    options_.trace(fmt::format("{}({}) -> {}", function, arguments, status_name(result)));
}

}  // namespace mdpcosim::fmi
