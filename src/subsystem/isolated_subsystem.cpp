#include "subsystem/isolated_subsystem.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "core/error.hpp"
#include "core/mailbox.hpp"
#include "subsystem/wire.hpp"

namespace mdpcosim {

namespace {

enum class command { initialise, outputs, advance, make_snapshot, save, restore, statistics, quit };

constexpr const char* name_of(command c) {
    constexpr const char* names[] = {"initialise", "outputs", "advance",    "make_snapshot",
                                     "save",       "restore", "statistics", "quit"};
    return names[static_cast<int>(c)];
}

/// What the two processes share; polynomials, input values and outputs follow it.
struct shared_header {
    mailbox request, reply;
    command what = command::quit;
    double t0 = 0;
    macro_step step;
    int snapshot = -1;
    bool failed = false;
    subsystem_statistics statistics;
    char message[8192] = {};
};

class shared_memory {
   public:
    shared_memory() = default;
    shared_memory(const shared_memory&) = delete;
    shared_memory& operator=(const shared_memory&) = delete;
    ~shared_memory() {
        if (memory_ != MAP_FAILED) munmap(memory_, size_);
    }

    void map(int file, const subsystem_description& d) {
        inputs_ = static_cast<std::size_t>(d.input_count());
        outputs_ = static_cast<std::size_t>(d.output_count());
        size_ = sizeof(shared_header) + inputs_ * (sizeof(polynomial) + sizeof(double)) + outputs_ * sizeof(double);
        if (ftruncate(file, static_cast<off_t>(size_)) != 0)
            throw run_error(fmt::format("no shared memory of {} bytes: {}", size_, std::strerror(errno)));
        memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory_ == MAP_FAILED)
            throw run_error(fmt::format("no shared memory of {} bytes: {}", size_, std::strerror(errno)));
    }
    void construct() {
        new (memory_) shared_header;
        for (std::size_t i = 0; i < inputs_; ++i) new (&polynomials()[i]) polynomial;
    }

    bool mapped() const { return memory_ != MAP_FAILED; }
    shared_header& header() { return *static_cast<shared_header*>(memory_); }
    std::span<polynomial> polynomials() {
        return {reinterpret_cast<polynomial*>(static_cast<char*>(memory_) + sizeof(shared_header)), inputs_};
    }
    std::span<double> inputs() { return {reinterpret_cast<double*>(polynomials().data() + inputs_), inputs_}; }
    std::span<double> outputs() { return {inputs().data() + inputs_, outputs_}; }

   private:
    void* memory_ = MAP_FAILED;
    std::size_t size_ = 0, inputs_ = 0, outputs_ = 0;
};

static_assert(sizeof(shared_header) % alignof(polynomial) == 0);

/// A file descriptor that is closed in the end.
class descriptor {
   public:
    explicit descriptor(int value = -1) : value_(value) {}
    descriptor(descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~descriptor() { close(); }
    void close() {
        if (value_ >= 0) ::close(std::exchange(value_, -1));
    }
    int get() const { return value_; }

   private:
    int value_;
};

descriptor memory_file(const char* name) {
    descriptor file(memfd_create(name, MFD_CLOEXEC));
    if (file.get() < 0) throw run_error(fmt::format("no shared memory: {}", std::strerror(errno)));
    return file;
}

bool more_than_one_core() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

void write_all(int file, const std::vector<char>& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno != EINTR) return;  // the other side has gone
        if (n > 0) done += static_cast<std::size_t>(n);
    }
}

enum class outcome : char { made, user_mistake, failure };

// --- the process of the subsystem --------------------------------------------------------------------------------------------

class host {
   public:
    host(std::unique_ptr<subsystem> model, shared_memory& memory)
        : model_(std::move(model)), memory_(memory), spin_(more_than_one_core()) {}

    void serve() {
        for (std::uint32_t round = 1;; ++round) {
            auto& h = memory_.header();
            h.request.wait_for(round, spin_);
            if (h.what == command::quit) {
                model_.reset();
                h.reply.post(round);
                return;
            }
            try {
                h.failed = false;
                carry_out(h);
            } catch (const std::exception& problem) {
                tell(h, problem.what());
            } catch (...) {
                tell(h, "an exception of unknown type");
            }
            h.reply.post(round);
        }
    }

   private:
    static void tell(shared_header& h, const char* reason) {
        h.failed = true;
        std::strncpy(h.message, reason, sizeof h.message - 1);
    }

    void carry_out(shared_header& h) {
        switch (h.what) {
            case command::initialise:
                return model_->initialise(h.t0);
            case command::outputs:
                return model_->outputs(memory_.inputs(), memory_.outputs());
            case command::advance:
                return model_->advance(h.step, memory_.polynomials(), memory_.outputs());
            case command::make_snapshot:
                snapshots_[h.snapshot] = model_->make_snapshot();
                return;
            case command::save:
                return model_->save(*snapshots_.at(h.snapshot));
            case command::restore:
                return model_->restore(*snapshots_.at(h.snapshot));
            case command::statistics:
                h.statistics = model_->statistics();
                return;
            case command::quit:
                return;
        }
    }

    std::unique_ptr<subsystem> model_;
    shared_memory& memory_;
    bool spin_;
    std::map<int, std::unique_ptr<snapshot>> snapshots_;
};

/// Never returns: the copy of the caller's process has nothing else to do, and must not run the caller's destructors.
[[noreturn]] void live(const std::function<std::unique_ptr<subsystem>()>& make, int memory_descriptor, int text,
                       int answer, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it died before the line above
    signal(SIGINT, SIG_IGN);            // Ctrl-C is for the master, which ends the run in order
    signal(SIGPIPE, SIG_IGN);
    dup2(text, STDOUT_FILENO);
    dup2(text, STDERR_FILENO);
    wire_writer said;
    shared_memory memory;
    std::unique_ptr<subsystem> model;
    try {
        model = make();
        memory.map(memory_descriptor, model->describe());
        memory.construct();
        said.put(outcome::made);
        put(said, model->describe());
        put(said, model->offers());
    } catch (const user_error& problem) {
        said = {};
        said.put(outcome::user_mistake);
        said.put(std::string(problem.what()));
    } catch (const std::exception& problem) {
        said = {};
        said.put(outcome::failure);
        said.put(std::string(problem.what()));
    } catch (...) {
        said = {};
        said.put(outcome::failure);
        said.put(std::string("an exception of unknown type"));
    }
    write_all(answer, said.bytes());
    ::close(answer);
    if (model && memory.mapped()) host(std::move(model), memory).serve();
    fflush(nullptr);
    _exit(0);
}

// --- the caller's process ----------------------------------------------------------------------------------------------------

struct remote_snapshot final : snapshot {
    explicit remote_snapshot(int n) : number(n) {}
    int number;
};

class isolated_subsystem final : public subsystem {
   public:
    isolated_subsystem(const isolation& how, const std::function<std::unique_ptr<subsystem>()>& make)
        : name_(how.name), limit_(how.limit), spin_(more_than_one_core()), text_(memory_file("mdpcosim-text")) {
        fcntl(text_.get(), F_SETFL, O_APPEND);
        const descriptor memory = memory_file("mdpcosim-subsystem");
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw run_error(fmt::format("no pipe: {}", std::strerror(errno)));
        const descriptor answer(ends[0]);
        descriptor question(ends[1]);
        const pid_t parent = getpid();
        fflush(nullptr);
        process_ = fork();
        if (process_ < 0) throw run_error(fmt::format("no process of its own: {}", std::strerror(errno)));
        if (process_ == 0) live(make, memory.get(), text_.get(), question.get(), parent);
        question.close();
        try {
            introduce(answer.get());
            memory_.map(memory.get(), description_);
        } catch (...) {
            end();
            throw;
        }
    }

    ~isolated_subsystem() override {
        if (process_ > 0 && !broken_) {
            try {
                call(command::quit);
            } catch (const std::exception&) {
            }
        }
        end();
    }

    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return offers_; }

    void initialise(double t0) override {
        header().t0 = t0;
        call(command::initialise);
    }

    void outputs(std::span<const double> u, std::span<double> y) override {
        std::ranges::copy(u, memory_.inputs().begin());
        call(command::outputs);
        std::ranges::copy(memory_.outputs(), y.begin());
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        header().step = step;
        std::ranges::copy(inputs, memory_.polynomials().begin());
        call(command::advance);
        std::ranges::copy(memory_.outputs(), y.begin());
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        auto made = std::make_unique<remote_snapshot>(snapshots_++);
        const_cast<isolated_subsystem*>(this)->call(command::make_snapshot, made->number);
        return made;
    }
    void save(snapshot& into) override { call(command::save, static_cast<remote_snapshot&>(into).number); }
    void restore(const snapshot& from) override {
        call(command::restore, static_cast<const remote_snapshot&>(from).number);
    }

    subsystem_statistics statistics() const override {
        auto& self = *const_cast<isolated_subsystem*>(this);
        if (!broken_) self.call(command::statistics);
        return self.header().statistics;
    }

   private:
    using clock = std::chrono::steady_clock;

    shared_header& header() { return memory_.header(); }
    static constexpr std::chrono::milliseconds look_after{20};

    /// One request and its answer.
    void call(command what, int snapshot = -1) {
        if (broken_) throw run_error(gone_);
        auto& h = header();
        h.what = what;
        h.snapshot = snapshot;
        h.request.post(++round_);
        if (!h.reply.wait_for(round_, spin_, look_after)) wait_patiently(what);
        if (what != command::quit && h.failed) throw run_error(h.message);
    }

    /// A long call: looks now and then whether the process still lives.
    void wait_patiently(command what) {
        const auto begin = clock::now();
        while (!header().reply.wait_for(round_, false, look_after)) {
            if (const std::string how = ended(); !how.empty())
                give_up(fmt::format("its process {} in {}", how, name_of(what)));
            if (limit_ > 0 && clock::now() - begin > std::chrono::duration<double>(limit_)) {
                kill(process_, SIGKILL);
                give_up(
                    fmt::format("its process did not answer within {:g} s in {} and was ended", limit_, name_of(what)));
            }
        }
    }

    [[noreturn]] void give_up(const std::string& reason) {
        broken_ = true;
        const std::string text = last_text();
        gone_ = text.empty() ? reason : fmt::format("{}; it wrote last: {}", reason, text);
        throw run_error(gone_);
    }

    /// How the process ended; empty while it lives.
    std::string ended() {
        int status = 0;
        if (process_ <= 0 || waitpid(process_, &status, WNOHANG) != process_) return {};
        process_ = -1;
        if (WIFSIGNALED(status))
            return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
        return fmt::format("ended with status {}", WEXITSTATUS(status));
    }

    /// The end of what it wrote to standard output and error.
    std::string last_text() const {
        constexpr off_t most = 2000;
        const off_t size = lseek(text_.get(), 0, SEEK_END);
        const off_t from = std::max<off_t>(0, size - most);
        std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
        const ssize_t n = pread(text_.get(), text.data(), text.size(), from);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
        while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
        return text;
    }

    /// What the new process says about the subsystem it made.
    void introduce(int answer) {
        std::vector<char> bytes;
        char part[4096];
        const auto begin = clock::now();
        for (;;) {
            pollfd ready{answer, POLLIN, 0};
            if (poll(&ready, 1, static_cast<int>(look_after.count())) > 0) {
                const ssize_t n = read(answer, part, sizeof part);
                if (n < 0 && errno == EINTR) continue;
                if (n <= 0) break;
                bytes.insert(bytes.end(), part, part + n);
            } else if (limit_ > 0 && clock::now() - begin > std::chrono::duration<double>(limit_)) {
                kill(process_, SIGKILL);
                give_up(fmt::format("its process did not answer within {:g} s at its start and was ended", limit_));
            }
        }
        if (bytes.empty()) {
            std::string how;
            while ((how = ended()).empty()) usleep(1000);
            give_up(fmt::format("its process {} at its start", how));
        }
        wire_reader said(bytes);
        const auto what = said.get<outcome>();
        if (what == outcome::user_mistake) throw user_error(said.get_text());
        if (what == outcome::failure) throw run_error(said.get_text());
        description_ = get_description(said);
        offers_ = get_capabilities(said);
    }

    /// What it wrote goes to our standard error, line by line under its name; then it is gone.
    void end() {
        if (process_ > 0) {
            if (broken_ || !memory_.mapped()) kill(process_, SIGKILL);
            waitpid(process_, nullptr, 0);
            process_ = -1;
        }
        if (broken_) return;
        const std::string text = last_text();
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t newline = std::min(text.find('\n', at), text.size());
            fmt::print(stderr, "subsystem '{}': {}\n", name_, std::string_view(text).substr(at, newline - at));
            at = newline + 1;
        }
    }

    std::string name_;
    double limit_;
    bool spin_;
    descriptor text_;
    pid_t process_ = -1;
    shared_memory memory_;
    subsystem_description description_;
    capabilities offers_;
    std::uint32_t round_ = 0;
    mutable int snapshots_ = 0;
    bool broken_ = false;
    std::string gone_;  ///< why it is broken
};

}  // namespace

std::unique_ptr<subsystem> make_isolated_subsystem(const isolation& how,
                                                   const std::function<std::unique_ptr<subsystem>()>& make) {
    return std::make_unique<isolated_subsystem>(how, make);
}

}  // namespace mdpcosim
