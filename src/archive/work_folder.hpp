#pragma once

#include <filesystem>
#include <memory>

/// A private folder under $TMPDIR (or /tmp), removed with the object. The process holds a lock on it as long as it lives, so
/// that folders of processes that died are known by their free locks.
namespace mdpcosim::archive {

class work_folder {
   public:
    work_folder();  ///< throws user_error where no folder can be made
    work_folder(const work_folder&) = delete;
    work_folder& operator=(const work_folder&) = delete;
    ~work_folder();

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path add();  ///< a new folder inside
    void remove(const std::filesystem::path& inside) const;
    bool mine() const;  ///< false in a forked child, which leaves its parent's folder alone

   private:
    std::filesystem::path path_;
    int lock_ = -1;
    int process_ = 0;
    int added_ = 0;
};

/// The one folder of this process for whatever it unpacks; it lives as long as somebody holds it.
std::shared_ptr<work_folder> shared_work_folder();

/// Removes the folders that processes of this user left behind; says how many. Follows no links.
int remove_stale_folders(const std::filesystem::path& base);

/// Removes what processes that died have left in the usual place. Unpacking does it, too.
void remove_left_folders();

/// $TMPDIR, or /tmp.
std::filesystem::path work_base();

}  // namespace mdpcosim::archive
