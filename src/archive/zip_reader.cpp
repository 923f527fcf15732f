#include "archive/zip_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <set>

#include "core/error.hpp"

namespace mdpcosim::archive {

namespace {

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::size_t longest_name = 255;   // of a file, on all common file systems
constexpr std::size_t longest_path = 3000;  // leaves room for the folder before it
constexpr std::size_t chunk = 1 << 16;

/// For messages: names come from a stranger.
std::string printable(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    if (text.size() > 200) text = text.substr(0, 200) + "...";
    return text;
}

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

/// Closes the entry and the file that is written, whatever happens.
struct open_entry {
    zip_file_t* file;
    ~open_entry() {
        if (file != nullptr) ::zip_fclose(file);
    }
};
struct open_file {
    int descriptor;
    ~open_file() {
        if (descriptor >= 0) ::close(descriptor);
    }
};

}  // namespace

void zip_reader::refuse(const std::string& why) const { throw user_error(fmt::format("{}: {}", owner_, why)); }

zip_reader::zip_reader(const std::filesystem::path& archive, const archive_limits& limits, const std::string& kind)
    : owner_(fmt::format("{} '{}'", kind, archive.string())), file_(std::make_shared<local_file>(archive)) {
    const std::filesystem::path& path = file_->path();
    std::error_code status;
    const auto no_file = [&](const std::string& why) { throw no_archive(fmt::format("{}: {}", owner_, why)); };
    if (!std::filesystem::exists(path, status)) no_file("the file does not exist.");
    if (std::filesystem::is_directory(path, status))
        no_file("this is a folder; 'cd FOLDER && zip -r ../NAME .' packs what is in it.");
    if (!std::filesystem::is_regular_file(path, status)) no_file("this is not a file.");
    int code = 0;
    zip_ = ::zip_open(path.c_str(), ZIP_RDONLY, &code);
    if (zip_ == nullptr) {
        zip_error_t error;
        ::zip_error_init_with_code(&error, code);
        const std::string text = ::zip_error_strerror(&error);
        ::zip_error_fini(&error);
        no_file(fmt::format("it cannot be opened as a zip archive ({}). Is the file complete?", text));
    }
    try {
        const zip_int64_t count = ::zip_get_num_entries(zip_, 0);
        if (count < 0 || static_cast<std::uint64_t>(count) > limits.entries)
            refuse(fmt::format("the archive has {} entries; at most {} are allowed.", count, limits.entries));
        entries_.reserve(count);
        std::uint64_t total = 0;
        for (int i = 0; i < count; ++i) check_entry(i, limits, total);
        settle_twins();
    } catch (...) {
        ::zip_discard(zip_);
        throw;
    }
}

zip_reader::~zip_reader() { ::zip_discard(zip_); }

void zip_reader::check_name(const std::string& name) const {
    const auto wrong = [&](const char* why) {
        refuse(fmt::format("the archive's entry '{}' {}; it is not opened.", printable(name), why));
    };
    if (name.empty()) wrong("has no name");
    if (name.front() == '/' || (name.size() > 1 && name[1] == ':')) wrong("has an absolute path");
    if (name.find('\\') != std::string::npos) wrong("has a backslash in its name");
    if (name.size() > longest_path) wrong("has a name that is too long");
    if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
        wrong("has control characters in its name");
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t end = std::min(name.find('/', at), name.size());
        const std::string_view part = std::string_view(name).substr(at, end - at);
        if (part == ".." || part == ".") wrong("leaves the folder or names it anew");
        if (part.empty()) wrong("has an empty part in its path");
        if (part.size() > longest_name) wrong("has a name that is too long");
        at = end + 1;
    }
    for (const char* known : {"modelDescription.xml", "terminalsAndIcons/terminalsAndIcons.xml"})
        if (name != known && lower(name) == lower(known)) wrong(fmt::format("should be spelled '{}'", known).c_str());
}

void zip_reader::check_entry(int index, const archive_limits& limits, std::uint64_t& total) {
    zip_stat_t about;
    if (::zip_stat_index(zip_, index, 0, &about) != 0 || about.name == nullptr)
        refuse(fmt::format("entry {} of the archive cannot be read ({}).", index + 1, ::zip_strerror(zip_)));
    zip_entry entry;
    entry.name = about.name;
    entry.place = index;
    if (entry.name == "./") return;  // the folder itself, which some tools pack
    if (entry.name.starts_with("./")) entry.name.erase(0, 2);
    if (entry.name.size() > 1 && entry.name.ends_with('/')) {
        entry.folder = true;
        entry.name.pop_back();
    }
    check_name(entry.name);

    zip_uint8_t system = ZIP_OPSYS_UNIX;
    zip_uint32_t attributes = 0;
    ::zip_file_get_external_attributes(zip_, index, 0, &system, &attributes);
    // Who writes a Unix mode does so whatever system the archive names.
    const mode_t mode = attributes >> 16;
    if ((mode & S_IFMT) != 0 && !S_ISREG(mode) && !S_ISDIR(mode))
        refuse(fmt::format("the archive's entry '{}' is a {}; it is not opened.", printable(entry.name),
                           S_ISLNK(mode) ? "link" : "special file"));
    entry.executable = (mode & S_IXUSR) != 0;
    if ((about.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && about.encryption_method != ZIP_EM_NONE)
        refuse(fmt::format("the archive's entry '{}' is encrypted.", printable(entry.name)));
    entry.size = about.size;
    const std::uint64_t packed = std::max<std::uint64_t>(about.comp_size, 1);
    if (entry.folder && entry.size != 0)
        refuse(fmt::format("the archive's folder '{}' has contents of its own.", printable(entry.name)));
    if (entry.size > mebibyte && entry.size / packed > limits.ratio)
        refuse(fmt::format("the archive's entry '{}' would grow from {} to {} bytes; at most {} times are allowed.",
                           printable(entry.name), about.comp_size, entry.size, limits.ratio));
    if (entry.size > limits.bytes - total)
        refuse(fmt::format("the archive unpacks to more than the {} bytes that are allowed.", limits.bytes));
    total += entry.size;
    if (entry.name == "modelDescription.xml" && entry.size > limits.description)
        refuse(
            fmt::format("modelDescription.xml has {} bytes; at most {} are allowed.", entry.size, limits.description));
    entries_.push_back(std::move(entry));
}

/// Of several files with one name the last one counts, as for whoever unpacks them in order. No file where another entry needs a folder.
void zip_reader::settle_twins() {
    std::set<std::string> later;
    std::vector<zip_entry> kept;
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
        if (entry->folder || later.insert(entry->name).second) kept.push_back(std::move(*entry));
    entries_.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
    std::map<std::string_view, bool> seen;  // name, folder
    for (const zip_entry& entry : entries_)
        if (const auto [place, is_new] = seen.emplace(entry.name, entry.folder);
            !is_new && entry.folder != place->second)
            refuse(fmt::format("the archive's entry '{}' is a file and a folder at once.", printable(entry.name)));
    for (const zip_entry& entry : entries_)
        for (std::size_t slash = entry.name.rfind('/'); slash != std::string::npos && slash > 0;
             slash = entry.name.rfind('/', slash - 1)) {
            const auto parent = seen.find(std::string_view(entry.name).substr(0, slash));
            if (parent != seen.end() && !parent->second)
                refuse(fmt::format("the archive's entry '{}' is a file and a folder at once.",
                                   printable(std::string(parent->first))));
        }
}

int zip_reader::find(std::string_view name) const {
    for (int i = 0; i < static_cast<int>(entries_.size()); ++i)
        if (entries_[i].name == name && !entries_[i].folder) return i;
    return -1;
}

void zip_reader::read(int index, const std::function<void(std::span<const char>)>& take) const {
    const zip_entry& entry = entries_[index];
    const open_entry opened{::zip_fopen_index(zip_, entry.place, 0)};
    if (opened.file == nullptr)
        refuse(
            fmt::format("the archive's entry '{}' cannot be read ({}).", printable(entry.name), ::zip_strerror(zip_)));
    std::array<char, chunk> buffer;
    std::uint64_t done = 0;
    for (;;) {
        const zip_int64_t count = ::zip_fread(opened.file, buffer.data(), buffer.size());
        if (count < 0)
            refuse(fmt::format("the archive's entry '{}' is damaged ({}).", printable(entry.name),
                               ::zip_file_strerror(opened.file)));
        if (count == 0) break;
        done += static_cast<std::uint64_t>(count);
        if (done > entry.size)
            refuse(fmt::format("the archive's entry '{}' holds more than the {} bytes it declares.",
                               printable(entry.name), entry.size));
        take({buffer.data(), static_cast<std::size_t>(count)});
    }
    if (done != entry.size)
        refuse(fmt::format("the archive's entry '{}' is damaged: it holds {} of {} bytes.", printable(entry.name), done,
                           entry.size));
}

std::string zip_reader::text(int index, std::uint64_t most) const {
    if (entries_[index].size > most)
        refuse(fmt::format("the archive's entry '{}' has {} bytes; at most {} are allowed.",
                           printable(entries_[index].name), entries_[index].size, most));
    std::string result;
    result.reserve(entries_[index].size);
    read(index, [&](std::span<const char> piece) { result.append(piece.data(), piece.size()); });
    return result;
}

void zip_reader::unpack(const std::filesystem::path& into) const {
    const auto make_folder = [&](const std::filesystem::path& folder) {
        std::error_code status;
        std::filesystem::create_directories(folder, status);
        if (status) refuse(fmt::format("cannot make the folder '{}' ({}).", folder.string(), status.message()));
    };
    for (int i = 0; i < static_cast<int>(entries_.size()); ++i) {
        const std::filesystem::path target = into / entries_[i].name;
        make_folder(entries_[i].folder ? target : target.parent_path());
        if (!entries_[i].folder) unpack(i, target);
    }
}

void zip_reader::unpack(int index, const std::filesystem::path& target) const {
    const auto failed = [&] {
        refuse(fmt::format("cannot write '{}' ({}). TMPDIR chooses another place.", target.string(),
                           std::strerror(errno)));
    };
    const open_file out{::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                               entries_[index].executable ? S_IRWXU : S_IRUSR | S_IWUSR)};
    if (out.descriptor < 0) failed();
    read(index, [&](std::span<const char> piece) {
        while (!piece.empty()) {
            const ssize_t written = ::write(out.descriptor, piece.data(), piece.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) failed();
            piece = piece.subspan(static_cast<std::size_t>(written));
        }
    });
}

}  // namespace mdpcosim::archive
