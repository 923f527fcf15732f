#include <hdf5.h>

#include <limits>

#include "hdf5/hdf5.hpp"

namespace mdpcosim {

namespace {

/// Closes what it holds.
struct opened {
    hid_t id;
    herr_t (*close)(hid_t);
    opened(hid_t i, herr_t (*c)(hid_t)) : id(i), close(c) {}
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;
    ~opened() {
        if (id >= 0) close(id);
    }
};

bool transfer(hid_t set, hsize_t first, hsize_t count, double* read_into, const double* write_from) {
    const opened space(H5Dget_space(set), H5Sclose), memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
    hsize_t size = 0;
    if (space.id < 0 || memory.id < 0 || H5Sget_simple_extent_dims(space.id, &size, nullptr) != 1) return false;
    if (first + count > size || H5Sselect_hyperslab(space.id, H5S_SELECT_SET, &first, nullptr, &count, nullptr) < 0)
        return false;
    if (read_into != nullptr) return H5Dread(set, H5T_NATIVE_DOUBLE, memory.id, space.id, H5P_DEFAULT, read_into) >= 0;
    return H5Dwrite(set, H5T_NATIVE_DOUBLE, memory.id, space.id, H5P_DEFAULT, write_from) >= 0;
}

}  // namespace

bool append_hdf5_rows(const std::filesystem::path& path, const std::vector<std::string>& names,
                      std::span<const double> values) {
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const opened file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    if (file.id < 0) return false;
    const opened count(H5Dopen2(file.id, "rows", H5P_DEFAULT), H5Dclose);
    const opened time(H5Dopen2(file.id, "time", H5P_DEFAULT), H5Dclose);
    std::int64_t rows = 0;
    double last = -std::numeric_limits<double>::infinity();
    if (count.id < 0 || time.id < 0 || H5Dread(count.id, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &rows) < 0)
        return false;
    if (rows > 0 && !transfer(time.id, static_cast<hsize_t>(rows - 1), 1, &last, nullptr)) return false;
    std::size_t from = 0;
    while (from < values.size() && values[from] <= last) from += names.size();
    const std::size_t more = (values.size() - from) / names.size();
    if (more == 0) return true;
    std::vector<double> column(more);
    for (std::size_t k = 0; k < names.size(); ++k) {
        const opened set(H5Dopen2(file.id, names[k].c_str(), H5P_DEFAULT), H5Dclose);
        for (std::size_t i = 0; i < more; ++i) column[i] = values[from + i * names.size() + k];
        if (set.id < 0 || !transfer(set.id, static_cast<hsize_t>(rows), more, nullptr, column.data())) return false;
    }
    // Last, so that it never promises too much.
    rows += static_cast<std::int64_t>(more);
    return H5Dwrite(count.id, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &rows) >= 0;
}

}  // namespace mdpcosim
