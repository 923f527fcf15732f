#include "subsystem/subsystem_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "core/error.hpp"
#include "core/mailbox.hpp"
#include "fmi/archive.hpp"
#include "subsystem/wire.hpp"

namespace mdpcosim {

/// Times and statistics of the members, polynomials, input values and outputs follow it.
struct subsystem_process::shared {
    mailbox request_box, reply_box;
    process_request request;
    int failed = -1;
    char message[8192] = {};
};

namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds look_after{20};

constexpr const char* name_of(process_command c) {
    constexpr const char* names[] = {"initialise", "outputs", "advance",    "make_snapshot",
                                     "save",       "restore", "statistics", "its end"};
    return names[static_cast<int>(c)];
}

enum class outcome : char { made, user_mistake, failure };

/// What one member reports besides its outputs.
struct alignas(64) report {
    subsystem_process::time_span times;
    subsystem_statistics statistics;
};

file_handle memory_file(const char* name) {
    file_handle file(memfd_create(name, MFD_CLOEXEC));
    if (file.get() < 0) throw run_error(fmt::format("no shared memory: {}", std::strerror(errno)));
    return file;
}

void write_all(int file, const std::vector<char>& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno != EINTR) return;  // the other side has gone
        if (n > 0) done += static_cast<std::size_t>(n);
    }
}

double now() { return std::chrono::duration<double>(clock::now().time_since_epoch()).count(); }

template <class T>
std::size_t take(std::size_t& at, std::size_t count) {
    const std::size_t place = (at + alignof(T) - 1) / alignof(T) * alignof(T);
    at = place + count * sizeof(T);
    return place;
}

template <class T>
T* at(void* memory, std::size_t place) {
    return reinterpret_cast<T*>(static_cast<char*>(memory) + place);
}

report* reports(void* memory, std::size_t header) {
    std::size_t end = header;
    return at<report>(memory, take<report>(end, 0));
}

}  // namespace

// --- the process of the subsystems ---------------------------------------------------------------------------------------

class subsystem_process::host {
   public:
    host(subsystem_process& outside, std::vector<std::unique_ptr<subsystem>> models)
        : outside_(outside), models_(std::move(models)), snapshots_(models_.size()) {}

    void serve() {
        auto& h = *outside_.memory_;
        for (std::uint32_t round = 1;; ++round) {
            h.request_box.wait_for(round, outside_.spin_);
            const process_request& r = h.request;
            h.failed = -1;
            if (r.what == process_command::quit) models_.clear();
            const auto first = r.subsystem < 0 ? 0 : static_cast<std::size_t>(r.subsystem);
            const auto last = r.subsystem < 0 ? models_.size() : first + 1;
            for (std::size_t i = first; i < last; ++i) attempt(h, r, i);
            h.reply_box.post(round);
            if (r.what == process_command::quit) return;
        }
    }

   private:
    void attempt(shared& h, const process_request& r, std::size_t i) {
        report& told = reports(&h, sizeof(shared))[i];
        if (r.timed) told.times.begin = now();
        try {
            carry_out(r, i, told);
        } catch (const std::exception& problem) {
            tell(h, i, problem.what());
        } catch (...) {
            tell(h, i, "an exception of unknown type");
        }
        if (r.timed) told.times.end = now();
    }

    /// The first failure stands: members are in the order of their numbers.
    static void tell(shared& h, std::size_t i, const char* reason) {
        if (h.failed >= 0) return;
        h.failed = static_cast<int>(i);
        std::strncpy(h.message, reason, sizeof h.message - 1);
    }

    void carry_out(const process_request& r, std::size_t i, report& told) {
        subsystem& model = *models_[i];
        switch (r.what) {
            case process_command::initialise:
                return model.initialise(r.t0);
            case process_command::outputs:
                return model.outputs(outside_.inputs(i), outside_.outputs(i));
            case process_command::advance:
                return model.advance(r.step, outside_.polynomials(i), outside_.outputs(i));
            case process_command::make_snapshot:
                if (snapshots_[i].size() <= static_cast<std::size_t>(r.snapshot))
                    snapshots_[i].resize(static_cast<std::size_t>(r.snapshot) + 1);
                snapshots_[i][static_cast<std::size_t>(r.snapshot)] = model.make_snapshot();
                return;
            case process_command::save:
                return model.save(*snapshots_[i].at(static_cast<std::size_t>(r.snapshot)));
            case process_command::restore:
                return model.restore(*snapshots_[i].at(static_cast<std::size_t>(r.snapshot)));
            case process_command::statistics:
                told.statistics = model.statistics();
                return;
            case process_command::quit:
                return;
        }
    }

    subsystem_process& outside_;
    std::vector<std::unique_ptr<subsystem>> models_;
    std::vector<std::vector<std::unique_ptr<snapshot>>> snapshots_;
};

/// Never returns: the copy of the caller's process has nothing else to do, and must not run the caller's destructors.
void subsystem_process::live(int answer, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it died before the line above
    signal(SIGINT, SIG_IGN);            // Ctrl-C is for the master, which ends the run in order
    signal(SIGPIPE, SIG_IGN);
    dup2(text_.get(), STDOUT_FILENO);
    dup2(text_.get(), STDERR_FILENO);
    wire_writer said;
    const auto apologise = [&said](outcome what, const char* reason) {
        said = {};
        said.put(what);
        said.put(std::string(reason));
    };
    std::vector<std::unique_ptr<subsystem>> models;
    try {
        said.put(outcome::made);
        for (const auto& make : make_) {
            models.push_back(make());
            members_.push_back({models.back()->describe(), models.back()->offers()});
            put(said, members_.back().description);
            put(said, members_.back().offers);
        }
        map();
        new (memory_) shared;
        for (std::size_t i = 0; i < size(); ++i) {
            new (&reports(memory_, sizeof(shared))[i]) report;
            for (polynomial& p : polynomials(i)) new (&p) polynomial;
        }
    } catch (const user_error& problem) {
        apologise(outcome::user_mistake, problem.what());
    } catch (const std::exception& problem) {
        apologise(outcome::failure, problem.what());
    } catch (...) {
        apologise(outcome::failure, "an exception of unknown type");
    }
    write_all(answer, said.bytes());
    ::close(answer);
    if (memory_ != nullptr) host(*this, std::move(models)).serve();
    fflush(nullptr);
    _exit(0);
}

// --- the caller's process ------------------------------------------------------------------------------------------------

subsystem_process::subsystem_process(const process_options& how, std::vector<factory> make)
    : name_(how.name), limit_(how.limit), spin_(how.spin), make_(std::move(make)) {
    text_ = memory_file("mdpcosim-text");
    fcntl(text_.get(), F_SETFL, O_APPEND);
    memory_file_ = memory_file("mdpcosim-subsystems");
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw run_error(fmt::format("no pipe: {}", std::strerror(errno)));
    answer_ = file_handle(ends[0]);
    file_handle question(ends[1]);
    const pid_t parent = getpid();
    fflush(nullptr);
    process_ = fork();
    if (process_ == 0) live(question.get(), parent);
    question.close();
    if (process_ < 0) throw run_error(fmt::format("no process of its own: {}", std::strerror(errno)));
}

subsystem_process::~subsystem_process() {
    if (process_ > 0 && !gone_ && memory_ != nullptr) {
        try {
            call({.what = process_command::quit});
        } catch (const std::exception&) {
        }
    }
    end();
    if (memory_ != nullptr) munmap(memory_, memory_size_);
}

void subsystem_process::introduce() {
    std::vector<char> bytes;
    char part[4096];
    const auto begin = clock::now();
    for (;;) {
        pollfd ready{answer_.get(), POLLIN, 0};
        if (poll(&ready, 1, static_cast<int>(look_after.count())) > 0) {
            const ssize_t n = read(answer_.get(), part, sizeof part);
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
    for (std::size_t i = 0; i < make_.size(); ++i) {
        members_.emplace_back();
        members_.back().description = get_description(said);
        members_.back().offers = get_capabilities(said);
    }
    map();
}

/// The same in both processes.
std::size_t subsystem_process::lay_out() {
    std::size_t end = sizeof(shared);
    take<report>(end, size());
    for (auto& m : members_) {
        const auto inputs = static_cast<std::size_t>(m.description.input_count());
        m.polynomials = take<polynomial>(end, inputs);
        m.inputs = take<double>(end, inputs);
        // Each side writes cache lines of its own.
        m.outputs = take<report>(end, 0);
        end = m.outputs;
        take<double>(end, static_cast<std::size_t>(m.description.output_count()));
    }
    return end;
}

void subsystem_process::map() {
    memory_size_ = lay_out();
    const auto fail = [&] {
        throw run_error(fmt::format("no shared memory of {} bytes: {}", memory_size_, std::strerror(errno)));
    };
    if (ftruncate(memory_file_.get(), static_cast<off_t>(memory_size_)) != 0) fail();
    void* mapped = mmap(nullptr, memory_size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_file_.get(), 0);
    if (mapped == MAP_FAILED) fail();
    memory_ = static_cast<shared*>(mapped);
}

std::span<polynomial> subsystem_process::polynomials(std::size_t i) {
    const auto& m = members_[i];
    return {at<polynomial>(memory_, m.polynomials), static_cast<std::size_t>(m.description.input_count())};
}

std::span<double> subsystem_process::inputs(std::size_t i) {
    const auto& m = members_[i];
    return {at<double>(memory_, m.inputs), static_cast<std::size_t>(m.description.input_count())};
}

std::span<double> subsystem_process::outputs(std::size_t i) {
    const auto& m = members_[i];
    return {at<double>(memory_, m.outputs), static_cast<std::size_t>(m.description.output_count())};
}

const subsystem_statistics& subsystem_process::statistics(std::size_t i) const {
    return reports(memory_, sizeof(shared))[i].statistics;
}

subsystem_process::time_span subsystem_process::times(std::size_t i) const {
    return reports(memory_, sizeof(shared))[i].times;
}

void subsystem_process::post(const process_request& request) {
    if (gone_) return;  // wait() tells
    asked_ = request.what;
    memory_->request = request;
    memory_->request_box.post(++round_);
}

void subsystem_process::wait() {
    if (gone_) throw run_error(why_gone_);
    failed_ = -1;
    if (!memory_->reply_box.wait_for(round_, spin_, look_after)) wait_patiently();
    if (memory_->failed < 0 || asked_ == process_command::quit) return;
    failed_ = memory_->failed;
    throw run_error(memory_->message);
}

/// A long request: looks now and then whether the process still lives.
void subsystem_process::wait_patiently() {
    const auto begin = clock::now();
    while (!memory_->reply_box.wait_for(round_, false, look_after)) {
        if (const std::string how = ended(); !how.empty())
            give_up(fmt::format("its process {} in {}", how, name_of(asked_)));
        if (limit_ > 0 && clock::now() - begin > std::chrono::duration<double>(limit_)) {
            kill(process_, SIGKILL);
            give_up(
                fmt::format("its process did not answer within {:g} s in {} and was ended", limit_, name_of(asked_)));
        }
    }
}

void subsystem_process::give_up(const std::string& reason) {
    gone_ = true;
    const std::string text = last_text();
    why_gone_ = text.empty() ? reason : fmt::format("{}; it wrote last: {}", reason, text);
    throw run_error(why_gone_);
}

/// How the process ended; empty while it lives.
std::string subsystem_process::ended() {
    int status = 0;
    if (process_ <= 0 || waitpid(process_, &status, WNOHANG) != process_) return {};
    process_ = -1;
    if (WIFSIGNALED(status))
        return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return fmt::format("ended with status {}", WEXITSTATUS(status));
}

/// The end of what it wrote to standard output and error.
std::string subsystem_process::last_text() const {
    constexpr off_t most = 2000;
    const off_t size = lseek(text_.get(), 0, SEEK_END);
    const off_t from = std::max<off_t>(0, size - most);
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
    const ssize_t n = pread(text_.get(), text.data(), text.size(), from);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    return text;
}

/// What it wrote goes to our standard error, line by line under its name; then it is gone.
void subsystem_process::end() {
    if (process_ > 0) {
        if (gone_ || memory_ == nullptr) kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    if (gone_) {
        fmi::remove_left_folders();  // a process that died could not do it
        return;
    }
    const std::string text = last_text();
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t newline = std::min(text.find('\n', from), text.size());
        fmt::print(stderr, "subsystem '{}': {}\n", name_, std::string_view(text).substr(from, newline - from));
        from = newline + 1;
    }
}

}  // namespace mdpcosim
