#include "archive/zip_writer.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/error.hpp"

namespace mdpcosim::archive {

namespace {

constexpr zip_uint32_t quick = 3;               // of 9: half the time of the usual level, a twentieth more bytes
constexpr zip_uint16_t first_day = 1 << 5 | 1;  // 1 January 1980, where the times of archives begin

}  // namespace

zip_writer::zip_writer(const std::filesystem::path& archive) : path_(archive) {
    int code = 0;
    zip_ = ::zip_open(archive.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (zip_ != nullptr) return;
    zip_error_t error;
    ::zip_error_init_with_code(&error, code);
    const std::string text = ::zip_error_strerror(&error);
    ::zip_error_fini(&error);
    throw run_error(fmt::format("'{}' cannot be written: {}.", archive.string(), text));
}

zip_writer::~zip_writer() {
    if (zip_ != nullptr) ::zip_discard(zip_);
}

void zip_writer::fail() const {
    throw run_error(fmt::format("'{}' cannot be written: {}.", path_.string(), ::zip_strerror(zip_)));
}

void zip_writer::add(const std::string& name, std::string content) {
    void* bytes = std::malloc(content.size() + 1);  // the library frees it
    if (bytes == nullptr) fail();
    std::memcpy(bytes, content.data(), content.size());
    add_source(name, ::zip_source_buffer(zip_, bytes, content.size(), 1), true);
}

void zip_writer::add_file(const std::string& name, const std::filesystem::path& file, bool pack) {
    add_source(name, ::zip_source_file(zip_, file.c_str(), 0, -1), pack);
}

void zip_writer::add_source(const std::string& name, zip_source* source, bool pack) {
    if (source == nullptr) fail();
    const zip_int64_t index = ::zip_file_add(zip_, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        ::zip_source_free(source);
        fail();
    }
    const auto at = static_cast<zip_uint64_t>(index);
    if (::zip_set_file_compression(zip_, at, pack ? ZIP_CM_DEFLATE : ZIP_CM_STORE, pack ? quick : 0) != 0 ||
        ::zip_file_set_dostime(zip_, at, 0, first_day, 0) != 0)
        fail();
}

void zip_writer::close() {
    if (::zip_close(zip_) != 0) fail();
    zip_ = nullptr;
}

}  // namespace mdpcosim::archive
