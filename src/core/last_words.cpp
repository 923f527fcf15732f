#include "core/last_words.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

namespace mdpcosim {

namespace {

last_words* shared_words = nullptr;
std::mutex words_mutex;

/// False where it does not fit.
bool copy_text(char* to, std::size_t room, const std::string& text) {
    if (text.size() >= room) return false;
    std::memcpy(to, text.c_str(), text.size() + 1);
    return true;
}

/// The first free line of a table, with this text; none where there is no room.
template <std::size_t Lines, std::size_t Length>
char* take_line(char (&table)[Lines][Length], const std::string& text) {
    const std::scoped_lock lock(words_mutex);
    for (auto& each : table)
        if (each[0] == '\0') return copy_text(each, sizeof each, text) ? each : nullptr;
    return nullptr;
}

}  // namespace

last_words* last_words::shared() noexcept { return shared_words; }

bool last_words::make() noexcept {
    void* memory =
        ::mmap(nullptr, sizeof(last_words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    shared_words = static_cast<last_words*>(memory);
    // Not by its constructor, which would touch all of it: zeros are what most members start with.
    new (&shared_words->status) std::atomic<int>(-1);
    new (&shared_words->exit_status) std::atomic<int>(-1);
    return true;
}

void last_words::drop() noexcept {
    ::munmap(shared_words, sizeof(last_words));
    shared_words = nullptr;
}

bool last_words::holds(const void* address) const noexcept {
    const auto* at = static_cast<const char*>(address);
    const auto* begin = reinterpret_cast<const char*>(this);
    return at >= begin && at < begin + sizeof *this;
}

std::string last_words::name_of(const foreign_place& place) const {
    const foreign_code* key = place.code;
    for (const named_code& each : codes)
        if (key != nullptr && each.key == key && holds(each.subsystem) && holds(each.file))
            return fmt::format("subsystem '{}' ({} {})", each.subsystem, each.kind, each.file);
    return "foreign code";
}

std::vector<double> row_journal::left() const {
    std::vector<double> all;
    const std::size_t newest = filling.load() % blocks.size();
    for (const block* each : {&blocks[1 - newest], &blocks[newest]})
        all.insert(all.end(), each->values.begin(),
                   each->values.begin() + static_cast<std::ptrdiff_t>(std::min(each->used.load(), capacity)));
    return all;
}

run_in_work::run_in_work(const std::filesystem::path& folder, const std::string& draft, open_run::state now) {
    last_words* words = last_words::shared();
    if (words == nullptr) return;
    const std::scoped_lock lock(words_mutex);
    for (open_run& run : words->runs) {
        if (run.now.load() != open_run::state::none) continue;
        if (!copy_text(run.folder, sizeof run.folder, std::filesystem::absolute(folder).string())) return;
        copy_text(run.draft, sizeof run.draft, draft);
        for (auto& block : run.journal.blocks) block.used = 0;
        run.journal.filling = run.journal.row_length = 0;
        run.journal.rows = run.journal.steps = 0;
        run.journal.reached = no_time;
        run.now = now;
        run_ = &run;
        return;
    }
}

/// Rows that could not be written (foreign code has closed our files, or taken the right to write them) and a summary that is missing are the parent's
/// to bring.
run_in_work::~run_in_work() {
    if (run_ == nullptr) return;
    const open_run::state now = run_->now;
    std::error_code unknown;
    const bool left = now == open_run::state::closing &&
                      (!run_->journal.empty() ||
                       !std::filesystem::exists(std::filesystem::path(run_->folder) / "summary.json", unknown));
    if (!left) enter(open_run::state::none);
}

void run_in_work::enter(open_run::state next) {
    if (run_ != nullptr) run_->now = next;
}

file_in_work::file_in_work(const std::filesystem::path& file) {
    if (last_words* words = last_words::shared())
        place_ = take_line(words->files, std::filesystem::absolute(file).string());
}

file_in_work::~file_in_work() {
    if (place_ != nullptr) place_[0] = '\0';
}

answer_in_work::answer_in_work(const std::string& text) {
    if (last_words* words = last_words::shared())
        place_ = take_line(words->awaited, text.substr(0, sizeof words->awaited[0] - 1));
}

answer_in_work::~answer_in_work() {
    if (place_ != nullptr) place_[0] = '\0';
}

}  // namespace mdpcosim
