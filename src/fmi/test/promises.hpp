#pragma once

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "fmi/archive.hpp"
#include "support/archives.hpp"

/// What must hold for any description and any archive, however broken.
namespace mdpcosim::fmi {

inline void expect_sound(const description& d) {
    const int n = static_cast<int>(d.variables.size());
    const auto within = [&](int index) { return index >= 0 && index < n; };
    for (int i = 0; i < n; ++i) {
        const variable& x = d.variables[i];
        EXPECT_TRUE(x.derivative_of == -1 || within(x.derivative_of));
        EXPECT_TRUE(x.alias_of == -1 || (within(x.alias_of) && x.alias_of != i));
        EXPECT_TRUE(x.alias_of == -1 || d.variables[x.alias_of].negated == x.negated);
        EXPECT_LE(x.element_count(), 1ULL << 31);
        EXPECT_NE(d.find(x.name), nullptr);
        EXPECT_EQ(d.find(x.name)->name, x.name);
    }
    for (const auto* list : {&d.outputs, &d.derivatives, &d.initial_unknowns, &d.event_indicators})
        for (const unknown& u : *list) {
            EXPECT_TRUE(within(u.variable));
            for (const int known : u.dependencies.value_or(std::vector<int>{})) EXPECT_TRUE(within(known));
        }
    for (const terminal& t : d.terminals)
        for (const terminal_member& member : t.members) EXPECT_TRUE(within(member.variable));
}

/// Reads the text as description, and as terminals of a sound description. Gives all that is told about it.
inline std::string try_description(const std::string& xml, const std::string& good) {
    std::vector<violation> violations;
    expect_sound(read_description(xml, "", "fuzz.fmu", &violations));
    bool fatal = false;
    std::string outcome;
    for (const violation& v : violations) {
        fatal = fatal || v.fatal;
        EXPECT_GE(v.line, 0);
        outcome += v.message + "\n";
    }
    try {
        read_description(xml, "", "fuzz.fmu");
        EXPECT_FALSE(fatal) << outcome;
    } catch (const user_error&) {
        EXPECT_TRUE(fatal) << outcome;
    }
    violations.clear();
    expect_sound(read_description(good, xml, "fuzz.fmu", &violations));
    for (const violation& v : violations) outcome += v.message + "\n";
    return outcome;
}

/// Opens the archive and closes it: whatever it holds, nothing is written elsewhere and nothing stays.
inline std::string try_archive(const std::string& bytes, const test_folder& folder) {
    const std::filesystem::path work = folder.path() / "work";
    std::filesystem::create_directory(work);
    ::setenv("TMPDIR", work.c_str(), 1);
    const std::filesystem::path path = folder.write("fuzz.fmu", bytes);
    archive_limits limits;
    limits.bytes = 1 << 20;
    limits.entries = 100;
    std::string outcome = "opened";
    try {
        const auto fmu = open_fmu(path, limits);
        std::uintmax_t total = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(fmu->folder())) {
            EXPECT_FALSE(entry.is_symlink());
            if (entry.is_regular_file()) total += entry.file_size();
        }
        EXPECT_LE(total, limits.bytes);
        expect_sound(fmu->description());
        EXPECT_EQ(read_fmu_texts(path, limits).entries.empty(), false);
    } catch (const user_error& error) {
        outcome = error.what();
    }
    EXPECT_TRUE(std::filesystem::is_empty(work)) << outcome;
    const auto count = std::distance(std::filesystem::directory_iterator(folder.path()), {});
    EXPECT_EQ(count, 2) << outcome;  // the archive and the empty folder
    ::unsetenv("TMPDIR");
    return outcome;
}

}  // namespace mdpcosim::fmi
