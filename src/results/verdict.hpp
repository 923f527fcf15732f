#pragma once

#include <string>
#include <vector>

/// How far a result can be trusted, in one word and in sentences.
namespace mdpcosim {

enum class trust { good, doubtful, wrong };

const char* name_of(trust level);

struct verdict {
    struct reason {
        trust level;
        std::string text;    ///< what was found, where and when
        std::string remedy;  ///< what to do about it
    };

    trust level = trust::good;
    std::vector<reason> reasons;  ///< the worst first

    void add(trust how, std::string text, std::string remedy);
};

/// "verdict: doubtful", then its reasons and what to do, one line each.
std::string to_text(const verdict& v);

}  // namespace mdpcosim
