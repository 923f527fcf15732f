#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/file_handle.hpp"

/// Files that users name, read and written. What is read has an end and a bound; what is written is whole or not there.
namespace mdpcosim {

/// Why a file cannot be read or written, without its name: who asked for it says whose it is.
class file_problem : public std::runtime_error {
   public:
    explicit file_problem(const std::string& reason, int code = 0) : std::runtime_error(reason), code_(code) {}
    int code() const { return code_; }  ///< errno; 0: another reason

   private:
    int code_;
};

/// Opened for reading: a regular file, or what the caller hands over as /dev/stdin or /dev/fd/N. Devices have no end, and named pipes may
/// never begin. Throws file_problem.
file_handle open_input(const std::filesystem::path& path);

/// All of it; file_problem beyond `most` bytes.
std::string read_input(const std::filesystem::path& path, std::size_t most);

/// Lines of a file of any size; one longer than `longest` is a file_problem.
class line_reader {
   public:
    line_reader(const std::filesystem::path& path, std::size_t longest);
    /// The next line without its end, until there is none.
    bool next(std::string& line);
    /// The last line had no end.
    bool cut() const { return cut_; }

   private:
    bool fill();

    file_handle file_;
    std::size_t longest_;
    std::string buffer_;
    std::size_t at_ = 0;
    bool cut_ = false;
};

/// Under another name first: readers see the old or the new one. Follows no links; devices and pipes are written as they are.
/// Throws file_problem and leaves no draft.
void write_output(const std::filesystem::path& path, std::string_view content);

/// The same for SVG and HTML, which take the place of a document that begins with '<' and of no other file: who mistypes a name loses
/// no scenario.
void write_document(const std::filesystem::path& path, std::string_view content);

/// A new file for writing, in place of what had its name; a link is replaced, not followed (but under /dev, which
/// is written as it is). -1 and errno: it cannot be made.
file_handle create_file(const std::filesystem::path& path);
/// A new file is its owner's to read and write, whatever umask foreign code has left behind.
void keep_readable(int file);

/// To the last byte; the errno of the failure, 0: done.
int write_all(int file, std::string_view content);

/// The one of `inputs` that `path` is, by whatever name; nullptr: none.
const std::filesystem::path* find_same_file(const std::filesystem::path& path,
                                            const std::vector<std::filesystem::path>& inputs);

}  // namespace mdpcosim
