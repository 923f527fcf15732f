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
        /// Drawn from one run alone: a second one with another step knows better. Where states jump at events it does not know all: an event
        /// near a macro point may lie before it in one run and behind it in the other.
        enum class basis { fact, guess, guess_with_events } drawn_from = basis::fact;
    };

    trust level = trust::good;
    std::vector<reason> reasons;  ///< the worst first
    bool measured = false;        ///< by runs with other steps, as far as they could; or there is nothing to measure

    void add(trust how, std::string text, std::string remedy, reason::basis drawn_from = reason::basis::fact);
    /// A second run knows better: guesses go, those with events become doubts.
    void drop_guesses();
};

/// "verdict: doubtful", then its reasons and what to do, one line each; how guesses are measured, where they were not.
std::string to_text(const verdict& v);

}  // namespace mdpcosim
