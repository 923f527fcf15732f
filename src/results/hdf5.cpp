#include "results/hdf5.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <malloc.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.hpp"

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

class hdf5_sink final : public result_sink {
   public:
    hdf5_sink(std::filesystem::path path, const std::vector<recorded_column>& columns, std::int64_t most_rows)
        : path_(std::move(path)) {
        // A file that could not be written must not be tried again when the process ends; failures are told by our own messages.
        H5dont_atexit();
        // The library would keep what tens of thousands of datasets needed while they were made.
        H5set_free_list_limits(0, 0, 0, 0, 0, 0);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
        names_.emplace_back("time");
        units_.emplace_back("s");
        for (const auto& column : columns) {
            names_.push_back(column.name);
            units_.push_back(column.unit);
        }
        // A long run's file grows by copying when it is full: space for more than is ever written is no gift.
        const auto first = static_cast<std::int64_t>(first_size / names_.size());
        capacity_ = static_cast<hsize_t>(std::clamp<std::int64_t>(first, 1, std::max<std::int64_t>(most_rows, 1)));
        create(path_, capacity_);
        ::malloc_trim(0);
    }

    void write(std::span<const double> values, std::size_t row_length) override {
        buffer_.insert(buffer_.end(), values.begin(), values.end());
        pending_rows_ += values.size() / row_length;
        if (buffer_.size() >= block) drain();
    }

    void flush() override { drain(); }

    void finish() override {
        drain();
        if (rows_ < capacity_) resize(rows_);
    }

   private:
    static constexpr std::size_t block = 1 << 20;
    static constexpr std::size_t first_size = std::size_t{8} << 20;  ///< numbers

    hid_t checked(hid_t status, const char* what) const {
        if (status < 0) throw run_error(fmt::format("{}: the results cannot be {} (HDF5)", path_.string(), what));
        return status;
    }

    void create(const std::filesystem::path& path, hsize_t rows) const {
        const file_handle file(checked(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "created"));
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
        }
        const space_handle scalar(checked(H5Screate(H5S_SCALAR), "created"));
        const dataset_handle count(checked(
            H5Dcreate2(file.id(), "rows", H5T_STD_I64LE, scalar.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
            "created"));
        write_count(count.id());
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

    void write_count(hid_t set) const {
        const auto count = static_cast<std::int64_t>(rows_);
        checked(H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &count), "written");
    }

    /// The pending rows go into their places; `rows` follows last, so that it never promises too much.
    void drain() {
        if (pending_rows_ == 0) return;
        const hsize_t count = pending_rows_;
        if (rows_ + count > capacity_) resize(std::max(2 * capacity_, rows_ + count));
        const file_handle file(checked(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), "opened"));
        const std::size_t length = names_.size();
        const hsize_t total = count * length;
        const space_handle memory(checked(H5Screate_simple(1, &total, nullptr), "written"));
        const space_handle place(checked(H5Screate_simple(1, &capacity_, nullptr), "written"));
        checked(H5Sselect_hyperslab(place.id(), H5S_SELECT_SET, &rows_, nullptr, &count, nullptr), "written");
        for (std::size_t k = 0; k < length; ++k) {
            const hsize_t first = k, stride = length;
            checked(H5Sselect_hyperslab(memory.id(), H5S_SELECT_SET, &first, &stride, &count, nullptr), "written");
            const dataset_handle set(checked(H5Dopen2(file.id(), names_[k].c_str(), H5P_DEFAULT), "written"));
            checked(H5Dwrite(set.id(), H5T_NATIVE_DOUBLE, memory.id(), place.id(), H5P_DEFAULT, buffer_.data()),
                    "written");
        }
        rows_ += count;
        pending_rows_ = 0;
        buffer_.clear();
        const dataset_handle counter(checked(H5Dopen2(file.id(), "rows", H5P_DEFAULT), "written"));
        write_count(counter.id());
        checked(H5Fflush(file.id(), H5F_SCOPE_GLOBAL), "written");
    }

    /// Writes the file anew with another capacity; the old one stays until the new one is whole.
    void resize(hsize_t capacity) {
        const std::filesystem::path draft = path_.string() + ".part";
        copy_to(draft, capacity);
        std::filesystem::rename(draft, path_);
        capacity_ = capacity;
    }

    void copy_to(const std::filesystem::path& path, hsize_t capacity) const {
        create(path, capacity);
        const file_handle from(checked(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "read"));
        const file_handle to(checked(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), "written"));
        std::vector<double> column(rows_);
        const space_handle memory(checked(H5Screate_simple(1, &rows_, nullptr), "written"));
        const space_handle old_place(checked(H5Screate_simple(1, &capacity_, nullptr), "written"));
        const space_handle new_place(checked(H5Screate_simple(1, &capacity, nullptr), "written"));
        const hsize_t first = 0;
        for (const auto* place : {&old_place, &new_place})
            if (rows_ > 0)
                checked(H5Sselect_hyperslab(place->id(), H5S_SELECT_SET, &first, nullptr, &rows_, nullptr), "written");
        for (const auto& name : names_) {
            if (rows_ == 0) break;
            const dataset_handle source(checked(H5Dopen2(from.id(), name.c_str(), H5P_DEFAULT), "read"));
            checked(H5Dread(source.id(), H5T_NATIVE_DOUBLE, memory.id(), old_place.id(), H5P_DEFAULT, column.data()),
                    "read");
            const dataset_handle target(checked(H5Dopen2(to.id(), name.c_str(), H5P_DEFAULT), "written"));
            checked(H5Dwrite(target.id(), H5T_NATIVE_DOUBLE, memory.id(), new_place.id(), H5P_DEFAULT, column.data()),
                    "written");
        }
        const dataset_handle counter(checked(H5Dopen2(to.id(), "rows", H5P_DEFAULT), "written"));
        write_count(counter.id());
    }

    std::filesystem::path path_;
    hsize_t capacity_ = 0, rows_ = 0;
    std::vector<std::string> names_, units_;
    std::vector<double> buffer_;
    std::size_t pending_rows_ = 0;
};

}  // namespace

std::unique_ptr<result_sink> make_hdf5_sink(const std::filesystem::path& path,
                                            const std::vector<recorded_column>& columns, std::int64_t most_rows) {
    return std::make_unique<hdf5_sink>(path, columns, most_rows);
}

}  // namespace mdpcosim
