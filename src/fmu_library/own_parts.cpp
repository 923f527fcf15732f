// What the FMU's library has instead of shared libraries that a foreign machine may not have and that have no static form: the two functions
// of fmt that are no templates of headers, and a libzip that knows no archives. What an FMU contains is unpacked when it is exported.
#include <fmt/format-inl.h>
#include <unwind.h>
#include <zip.h>

namespace fmt {
inline namespace v9 {
namespace detail {
template char decimal_point_impl<char>(locale_ref);
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
}  // namespace detail
}  // namespace v9
}  // namespace fmt

namespace {
/// An exception that a contained FMU lets out is thrown by another copy of the unwinder, and asks ours about registers: ours has to know them by then.
[[gnu::constructor]] void prepare_unwinder() {
    _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_END_OF_STACK; }, nullptr);
}

constexpr const char* why = "archives cannot be opened from inside an exported FMU";
}  // namespace

extern "C" {

zip_t* zip_open(const char*, int, int* error) {
    if (error != nullptr) *error = ZIP_ER_OPNOTSUPP;
    return nullptr;
}
void zip_error_init_with_code(zip_error_t*, int) {}
const char* zip_error_strerror(zip_error_t*) { return why; }
void zip_error_fini(zip_error_t*) {}

// Nothing is ever open, so that nobody calls the others.
const char* zip_strerror(zip_t*) { return why; }
const char* zip_file_strerror(zip_file_t*) { return why; }
void zip_discard(zip_t*) {}
int zip_close(zip_t*) { return -1; }
zip_int64_t zip_get_num_entries(zip_t*, zip_flags_t) { return 0; }
int zip_stat_index(zip_t*, zip_uint64_t, zip_flags_t, zip_stat_t*) { return -1; }
int zip_file_get_external_attributes(zip_t*, zip_uint64_t, zip_flags_t, zip_uint8_t*, zip_uint32_t*) { return -1; }
zip_file_t* zip_fopen_index(zip_t*, zip_uint64_t, zip_flags_t) { return nullptr; }
zip_int64_t zip_fread(zip_file_t*, void*, zip_uint64_t) { return -1; }
int zip_fclose(zip_file_t*) { return -1; }
zip_source_t* zip_source_buffer(zip_t*, const void*, zip_uint64_t, int) { return nullptr; }
zip_source_t* zip_source_file(zip_t*, const char*, zip_uint64_t, zip_int64_t) { return nullptr; }
void zip_source_free(zip_source_t*) {}
zip_int64_t zip_file_add(zip_t*, const char*, zip_source_t*, zip_flags_t) { return -1; }
int zip_set_file_compression(zip_t*, zip_uint64_t, zip_int32_t, zip_uint32_t) { return -1; }
int zip_file_set_dostime(zip_t*, zip_uint64_t, zip_uint16_t, zip_uint16_t, zip_flags_t) { return -1; }

}  // extern "C"
