#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// Zip archives made byte by byte, so that they can lie.
namespace mdpcosim::fmi {

struct test_entry {
    std::string name;
    std::string data;
    std::uint32_t mode = 0100644;
    int method = 0;          ///< 0: stored, 8: deflate (the data are deflated already)
    std::int64_t size = -1;  ///< unpacked, as declared; -1: the truth for stored data
    std::uint32_t crc = 0;   ///< of deflated data
    std::uint16_t flags = 0;
    std::int64_t packed = -1;  ///< as declared
};

inline std::uint32_t crc32_of(const std::string& data) {
    std::uint32_t crc = ~0u;
    for (const char c : data) {
        crc ^= static_cast<unsigned char>(c);
        for (int k = 0; k < 8; ++k) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

inline std::string zip_bytes(const std::vector<test_entry>& entries) {
    std::string out, table;
    const auto put = [](std::string& to, std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> 8 * i & 0xff);
    };
    for (const test_entry& e : entries) {
        const std::size_t at = out.size();
        const std::uint64_t size = e.size < 0 ? e.data.size() : static_cast<std::uint64_t>(e.size);
        const std::uint64_t packed = e.packed < 0 ? e.data.size() : static_cast<std::uint64_t>(e.packed);
        const auto common = [&](std::string& to) {
            put(to, 20, 2);
            put(to, e.flags, 2);
            put(to, static_cast<std::uint64_t>(e.method), 2);
            put(to, 0, 2);
            put(to, 0x5921, 2);
            put(to, e.method == 0 ? crc32_of(e.data) : e.crc, 4);
            put(to, packed, 4);
            put(to, size, 4);
            put(to, e.name.size(), 2);
            put(to, 0, 2);
        };
        put(out, 0x04034b50, 4);
        common(out);
        out += e.name + e.data;
        put(table, 0x02014b50, 4);
        put(table, 3 << 8 | 20, 2);  // Unix
        common(table);
        put(table, 0, 2);
        put(table, 0, 2);
        put(table, 0, 2);
        put(table, static_cast<std::uint64_t>(e.mode) << 16, 4);
        put(table, at, 4);
        table += e.name;
    }
    const std::size_t at = out.size();
    out += table;
    put(out, 0x06054b50, 4);
    put(out, 0, 4);
    put(out, entries.size(), 2);
    put(out, entries.size(), 2);
    put(out, table.size(), 4);
    put(out, at, 4);
    put(out, 0, 2);
    return out;
}

/// A folder for one test, removed with the object.
class test_folder {
   public:
    test_folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "fmi-test-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    test_folder(const test_folder&) = delete;
    test_folder& operator=(const test_folder&) = delete;
    ~test_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path write(const std::string& name, const std::string& bytes) const {
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return path_ / name;
    }

   private:
    std::filesystem::path path_;
};

}  // namespace mdpcosim::fmi
