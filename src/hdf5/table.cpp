#include "hdf5/table.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

/// Closes what it holds; what could not be made ends the writing.
class held_id {
   public:
    held_id(const std::filesystem::path& path, hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
        if (id < 0) throw run_error(fmt::format("{}: the table cannot be written (HDF5)", path.string()));
    }
    held_id(const held_id&) = delete;
    held_id& operator=(const held_id&) = delete;
    ~held_id() { close_(id_); }
    hid_t get() const { return id_; }

   private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

void write_column(const std::filesystem::path& path, hid_t file, hid_t links, const table_column& column) {
    const auto check = [&](herr_t status) {
        if (status < 0) throw run_error(fmt::format("{}: the table cannot be written (HDF5)", path.string()));
    };
    const hsize_t rows = column.is_text ? column.texts.size() : column.numbers.size();
    const held_id space(path, H5Screate_simple(1, &rows, nullptr), H5Sclose);
    const held_id text(path, H5Tcopy(H5T_C_S1), H5Tclose);
    check(H5Tset_size(text.get(), H5T_VARIABLE));
    check(H5Tset_cset(text.get(), H5T_CSET_UTF8));
    const hid_t type = column.is_text ? text.get() : H5T_IEEE_F64LE;
    const held_id set(path, H5Dcreate2(file, column.name.c_str(), type, space.get(), links, H5P_DEFAULT, H5P_DEFAULT),
                      H5Dclose);
    if (column.is_text) {
        std::vector<const char*> lines;
        for (const std::string& line : column.texts) lines.push_back(line.c_str());
        if (rows > 0) check(H5Dwrite(set.get(), text.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, lines.data()));
    } else if (rows > 0) {
        check(H5Dwrite(set.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, column.numbers.data()));
    }
    if (column.unit.empty()) return;
    const held_id scalar(path, H5Screate(H5S_SCALAR), H5Sclose);
    const held_id unit_type(path, H5Tcopy(H5T_C_S1), H5Tclose);
    check(H5Tset_size(unit_type.get(), column.unit.size()));
    check(H5Tset_cset(unit_type.get(), H5T_CSET_UTF8));
    const held_id attribute(
        path, H5Acreate2(set.get(), "unit", unit_type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(H5Awrite(attribute.get(), unit_type.get(), column.unit.data()));
}

}  // namespace

void write_hdf5_table(const std::filesystem::path& path, const std::vector<table_column>& columns) {
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const std::filesystem::path draft = path.string() + ".part";
    ::unlink(draft.c_str());
    {
        const held_id file(path, H5Fcreate(draft.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
        const held_id links(path, H5Pcreate(H5P_LINK_CREATE), H5Pclose);
        H5Pset_create_intermediate_group(links.get(), 1);
        for (const table_column& column : columns) write_column(path, file.get(), links.get(), column);
        if (H5Fflush(file.get(), H5F_SCOPE_GLOBAL) < 0)
            throw run_error(fmt::format("{}: the table cannot be written (HDF5)", path.string()));
    }
    std::error_code problem;
    std::filesystem::rename(draft, path, problem);
    if (problem) throw run_error(fmt::format("{}: the table cannot be written: {}", path.string(), problem.message()));
}

}  // namespace mdpcosim
