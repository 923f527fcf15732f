#include "hdf5/hdf5.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/files.hpp"
#include "results/csv.hpp"

namespace mdpcosim {

namespace {

/// An identifier of the library that is closed when it goes.
template <herr_t (*Close)(hid_t)>
class handle {
   public:
    explicit handle(hid_t id) : id_(id) {}
    handle(handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    ~handle() {
        if (id_ >= 0) Close(id_);
    }
    hid_t id() const { return id_; }

   private:
    hid_t id_;
};

using file_handle = handle<H5Fclose>;
using space_handle = handle<H5Sclose>;
using dataset_handle = handle<H5Dclose>;
using attribute_handle = handle<H5Aclose>;
using type_handle = handle<H5Tclose>;
using list_handle = handle<H5Pclose>;

/// Numbers at known places of a file. Opening and writing datasets by the library costs 20 times as much, which counts where
/// there are tens of thousands of them.
class numbers_file {
   public:
    numbers_file() = default;
    explicit numbers_file(std::filesystem::path path)
        : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDWR | O_CLOEXEC)) {
        if (descriptor_ < 0) fail("opened");
    }
    numbers_file(numbers_file&& other) noexcept
        : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
    numbers_file& operator=(numbers_file&& other) noexcept {
        std::swap(path_, other.path_);
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~numbers_file() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    template <class T>
    void write(const T* from, std::size_t count, std::uint64_t place) const {
        transfer(::pwrite, reinterpret_cast<const char*>(from), count * sizeof(T), place, "written");
    }
    template <class T>
    void read(T* into, std::size_t count, std::uint64_t place) const {
        transfer(::pread, reinterpret_cast<char*>(into), count * sizeof(T), place, "read");
    }

   private:
    template <class Call, class Byte>
    void transfer(Call call, Byte* bytes, std::size_t left, std::uint64_t place, const char* attempted) const {
        while (left > 0) {
            const ssize_t done = call(descriptor_, bytes, left, static_cast<off_t>(place));
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) fail(attempted);
            bytes += done;
            left -= static_cast<std::size_t>(done);
            place += static_cast<std::uint64_t>(done);
        }
    }

    [[noreturn]] void fail(const char* attempted) const {
        throw run_error(fmt::format("{}: the results cannot be {}: {}", path_.string(), attempted,
                                    std::generic_category().message(errno)));
    }

    std::filesystem::path path_;
    int descriptor_ = -1;
};

class hdf5_sink final : public result_sink {
   public:
    hdf5_sink(std::filesystem::path path, const std::vector<recorded_column>& columns, std::int64_t most_rows)
        : path_(std::move(path)), most_rows_(static_cast<hsize_t>(std::max<std::int64_t>(most_rows, 1))) {
        // A file that could not be written must not be tried again when the process ends; failures are told by our own messages.
        H5dont_atexit();
        // The library would keep what tens of thousands of datasets needed while they were made.
        H5set_free_list_limits(0, 0, 0, 0, 0, 0);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
        names_.emplace_back("time");
        units_.emplace_back("s");
        for (const auto& column : columns) {
            names_.push_back(column.name);
            units_.push_back(column.unit_in_files());
        }
        // A long run's file grows by copying when it is full: space for more than is ever written is no gift.
        const auto first = static_cast<std::int64_t>(first_size / names_.size());
        resize(static_cast<hsize_t>(std::clamp<std::int64_t>(first, 1, std::max<std::int64_t>(most_rows, 1))));
    }

    void write(std::span<const double> values, std::size_t row_length) override {
        static_cast<void>(row_length);
        if (buffer_.size() + values.size() > block) drain();
        // A block that is full by itself need not be copied.
        if (values.size() > block / 2) return put(values);
        if (buffer_.capacity() == 0) buffer_.reserve(block);
        buffer_.insert(buffer_.end(), values.begin(), values.end());
    }

    std::size_t bytes_of(std::span<const double> row) const override { return row.size_bytes(); }

    void flush() override { drain(); }

    void finish() override {
        drain();
        if (rows_ < capacity_) resize(rows_);
    }

   private:
    static_assert(std::endian::native == std::endian::little, "numbers are written as the datasets declare them");
    static constexpr std::size_t block = 1 << 18;
    static constexpr std::size_t first_size = std::size_t{8} << 20;  ///< numbers

    hid_t checked(hid_t status, const char* attempted) const {
        if (status < 0) throw run_error(fmt::format("{}: the results cannot be {} (HDF5)", path_.string(), attempted));
        return status;
    }

    /// Where the numbers of the datasets begin in the file.
    struct places {
        std::vector<std::uint64_t> columns;
        std::uint64_t rows = 0;
    };

    places create(const std::filesystem::path& path, hsize_t rows) const {
        places at;
        at.columns.reserve(names_.size());
        const file_handle file(checked(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT), "created"));
        if (void* opened = nullptr; H5Fget_vfd_handle(file.id(), H5P_DEFAULT, &opened) >= 0)
            keep_readable(*static_cast<const int*>(opened));
        const list_handle properties(checked(H5Pcreate(H5P_DATASET_CREATE), "created"));
        checked(H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY), "created");
        checked(H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER), "created");
        // A '/' in a name makes a group.
        const list_handle links(checked(H5Pcreate(H5P_LINK_CREATE), "created"));
        checked(H5Pset_create_intermediate_group(links.id(), 1), "created");
        const space_handle space(checked(H5Screate_simple(1, &rows, nullptr), "created"));
        for (std::size_t k = 0; k < names_.size(); ++k) {
            const dataset_handle set(checked(H5Dcreate2(file.id(), names_[k].c_str(), H5T_IEEE_F64LE, space.id(),
                                                        links.id(), properties.id(), H5P_DEFAULT),
                                             "created"));
            add_unit(set.id(), units_[k]);
            at.columns.push_back(rows > 0 ? place_of(set.id()) : 0);
        }
        const space_handle scalar(checked(H5Screate(H5S_SCALAR), "created"));
        const dataset_handle count(checked(
            H5Dcreate2(file.id(), "rows", H5T_STD_I64LE, scalar.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
            "created"));
        const std::int64_t none = 0;
        checked(H5Dwrite(count.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &none), "written");
        at.rows = place_of(count.id());
        checked(H5Fflush(file.id(), H5F_SCOPE_GLOBAL), "written");
        return at;
    }

    std::uint64_t place_of(hid_t set) const {
        const haddr_t place = H5Dget_offset(set);
        if (place == HADDR_UNDEF) checked(-1, "created");
        return place;
    }

    void add_unit(hid_t set, const std::string& unit) const {
        if (unit.empty()) return;
        const type_handle text(checked(H5Tcopy(H5T_C_S1), "created"));
        checked(H5Tset_size(text.id(), unit.size()), "created");
        checked(H5Tset_cset(text.id(), H5T_CSET_UTF8), "created");
        const space_handle scalar(checked(H5Screate(H5S_SCALAR), "created"));
        const attribute_handle attribute(
            checked(H5Acreate2(set, "unit", text.id(), scalar.id(), H5P_DEFAULT, H5P_DEFAULT), "created"));
        checked(H5Awrite(attribute.id(), text.id(), unit.data()), "created");
    }

    void drain() {
        if (buffer_.empty()) return;
        put(buffer_);
        buffer_.clear();
    }

    /// Rows go into their places; `rows` follows last, so that it never promises too much.
    void put(std::span<const double> values) {
        const std::size_t length = names_.size(), count = values.size() / length;
        if (rows_ + count > capacity_) resize(std::max(2 * capacity_, rows_ + count));
        // As many columns at a time as a cache line has numbers.
        constexpr std::size_t together = 8;
        column_.resize(together * count);
        for (std::size_t k = 0; k < length; k += together) {
            const std::size_t some = std::min(together, length - k);
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t c = 0; c < some; ++c) column_[c * count + i] = values[i * length + k + c];
            for (std::size_t c = 0; c < some; ++c)
                file_.write(column_.data() + c * count, count, places_.columns[k + c] + rows_ * sizeof(double));
        }
        rows_ += count;
        write_count(file_, places_);
        // Who finishes the file for us, should we die, has room for as many again.
        if (capacity_ < most_rows_ && capacity_ - rows_ < count) resize(std::min(2 * capacity_, most_rows_));
    }

    void write_count(const numbers_file& file, const places& at) const {
        const auto count = static_cast<std::int64_t>(rows_);
        file.write(&count, 1, at.rows);
    }

    /// Writes the file anew with another capacity; the old one, if any, stays until the new one is whole.
    void resize(hsize_t capacity) {
        const std::filesystem::path draft = path_.string() + ".part";
        try {
            resize(capacity, draft);
        } catch (...) {  // on a full disk it would only take the place of others
            ::unlink(draft.c_str());
            throw;
        }
    }

    void resize(hsize_t capacity, const std::filesystem::path& draft) {
        ::unlink(draft.c_str());
        places to = create(draft, capacity);
        ::malloc_trim(0);  // what the library needed for tens of thousands of datasets
        numbers_file grown(draft);
        column_.resize(rows_);
        for (std::size_t k = 0; rows_ > 0 && k < names_.size(); ++k) {
            file_.read(column_.data(), rows_, places_.columns[k]);
            grown.write(column_.data(), rows_, to.columns[k]);
        }
        write_count(grown, to);
        std::filesystem::rename(draft, path_);
        file_ = std::move(grown);
        places_ = std::move(to);
        capacity_ = capacity;
    }

    std::filesystem::path path_;
    hsize_t most_rows_, capacity_ = 0, rows_ = 0;
    std::vector<std::string> names_, units_;
    places places_;
    numbers_file file_;
    std::vector<double> buffer_, column_;
};

}  // namespace

std::unique_ptr<result_sink> make_hdf5_sink(const std::filesystem::path& path,
                                            const std::vector<recorded_column>& columns, std::int64_t most_rows) {
    return std::make_unique<hdf5_sink>(path, columns, most_rows);
}

namespace {

const result_format_registration hdf5_format{{.name = "h5", .make = make_hdf5_sink}};

}  // namespace

}  // namespace mdpcosim
