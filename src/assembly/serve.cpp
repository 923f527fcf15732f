#include "assembly/serve.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "assembly/fingerprint.hpp"
#include "assembly/signal_targets.hpp"
#include "assembly/transports.hpp"
#include "core/files.hpp"
#include "core/messages.hpp"
#include "core/suggest.hpp"
#include "remote/host_task.hpp"
#include "remote/listener.hpp"
#include "remote/tcp.hpp"
#include "transport/affinity.hpp"

namespace mdpcosim {

namespace {

/// For a command that the user copies.
std::string quoted(const std::string& word) {
    const bool plain =
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:[]") ==
        std::string::npos;
    return plain && !word.empty() ? word : "'" + word + "'";
}

/// What the file holds, without the end of its last line; empty: nothing, or it cannot be read.
std::string text_in(const std::filesystem::path& file) {
    constexpr std::size_t most = 100'000;
    try {
        std::string text = read_input(file, most);
        while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
        return text;
    } catch (const file_problem&) {
        return {};
    }
}

std::string read_token(const std::string& file) {
    if (file.empty()) {
        std::string token = given_token();
        if (token.empty())
            throw user_error(
                fmt::format("the run's token is missing. Name its file with --token-file, or set the variable {}.",
                            token_variable));
        return token;
    }
    const std::string text = text_in(file);
    std::string token = text.substr(0, text.find_first_of(" \t\r\n"));
    if (token.empty())
        throw user_error(
            fmt::format("token file '{}' cannot be read or is empty. The run says where it left it.", file));
    return token;
}

struct served {
    std::string name;
    file_handle socket;
    std::unique_ptr<child_process> process;
};

}  // namespace

const subsystem_spec& subsystem_named(const std::string& name, const scenario& s) {
    const auto found = std::ranges::find(s.subsystems, name, &subsystem_spec::name);
    if (found != s.subsystems.end()) return *found;
    std::vector<std::string> names;
    for (const auto& spec : s.subsystems) names.push_back(spec.name);
    throw user_error(unknown_name("subsystem", name, "The scenario", names));
}

std::string given_token() {
    const char* token = std::getenv(token_variable);
    if (token == nullptr || *token == '\0') return {};
    constexpr std::size_t least = 16;
    if (std::strlen(token) < least || std::strlen(token) > longest_hello / 2)
        throw user_error(fmt::format("the token in {} has {} characters. Allowed are {} to {}.", token_variable,
                                     std::strlen(token), least, longest_hello / 2));
    return token;
}

token_file::token_file(std::filesystem::path path, const std::string& token) : path_(std::move(path)) {
    // What another run has left is replaced, since others might be able to read it; no other file is.
    const std::string there = text_in(path_);
    if (there.size() == token.size() && there.find_first_of(" \t\r\n") == std::string::npos) ::unlink(path_.c_str());
    const file_handle file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() >= 0) watched_.emplace(path_);
    const int code = file.get() < 0 ? errno : write_all(file.get(), token + "\n");
    if (code == 0) return;
    if (file.get() >= 0) ::unlink(path_.c_str());
    throw user_error(fmt::format("token file '{}' cannot be written: {}. Name another with --token-file.",
                                 path_.string(), std::strerror(code)));
}

token_file::~token_file() { ::unlink(path_.c_str()); }

std::unique_ptr<token_file> announce(const scenario& s, const remote_options& remote, const listener& door) {
    const std::string host = parse_tcp_address(remote.listen).host;
    std::string address = door.address();
    if (host == "0.0.0.0" || host == "::") {  // everywhere: the others know this machine by its name
        char name[256] = "HOST";
        ::gethostname(name, sizeof name - 1);
        address = fmt::format("{}:{}", name, door.port());
    }
    const bool told = !given_token().empty();
    const std::string file =
        !remote.token_file.empty() ? remote.token_file : fmt::format("mdpcosim-{}.token", door.port());
    auto left = told ? nullptr : std::make_unique<token_file>(file, door.token());
    messages().send(
        fmt::format("waiting for {} at {}; start where the scenario is, too:\n  mdpcosim serve {} {} --connect {}{}",
                    name_list(remote.names), address, quoted(s.path.string()), fmt::join(remote.names, " "), address,
                    told ? "" : fmt::format(" --token-file {}", quoted(file))));
    return left;
}

void serve_subsystems(const scenario& given, const serve_options& options) {
    const scenario s = with_signal_targets(given, true);
    const std::string token = read_token(options.token_file);
    std::vector<subsystem_text> texts;
    for (const auto& name : options.names) texts.push_back(text_for_process(subsystem_named(name, s), s));
    const bool spin = static_cast<int>(options.names.size()) < available_cores();
    std::vector<served> all;
    for (const auto& name : options.names)
        all.push_back(
            {name,
             greet_master(options.connect, {token, name, fingerprint(s, subsystem_named(name, s)), {}}, options.wait),
             nullptr});
    for (std::size_t i = 0; i < all.size(); ++i) all[i].process = start_linked(all[i].socket.get(), {texts[i]}, spin);
    for (auto& a : all) a.socket.close();
    std::string failure;
    while (std::ranges::any_of(all, [](const served& a) { return a.process->ended().empty(); })) ::usleep(10000);
    for (auto& a : all) {
        const std::string end = a.process->ended();
        a.process->show_text(a.name);
        if (failure.empty() && !a.process->succeeded())
            failure = fmt::format("subsystem '{}': its process {}", a.name, end);
    }
    if (!failure.empty()) throw run_error(failure);
}

}  // namespace mdpcosim
