#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mdpcosim {

/// Things that register themselves by name from their own files, listed in the order of their names.
template <class Info>
class registry {
   public:
    static registry& instance() {
        static registry all;
        return all;
    }

    void add(Info info) {
        std::string name = info.name;
        entries_.emplace(std::move(name), std::move(info));
    }

    const Info* find(std::string_view name) const {
        const auto found = entries_.find(name);
        return found == entries_.end() ? nullptr : &found->second;
    }

    std::vector<const Info*> all() const {
        std::vector<const Info*> list;
        for (const auto& [name, info] : entries_) list.push_back(&info);
        return list;
    }

    std::vector<std::string> names() const {
        std::vector<std::string> list;
        for (const auto& [name, info] : entries_) list.push_back(name);
        return list;
    }

   private:
    std::map<std::string, Info, std::less<>> entries_;
};

/// `const registration<law_info> spring{{...}};` at namespace scope of the thing's own file.
template <class Info>
struct registration {
    explicit registration(Info info) { registry<Info>::instance().add(std::move(info)); }
};

}  // namespace mdpcosim
