#include "assembly/address_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "subsystem/description_parts.hpp"
#include "transport/threads.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Nothing but a description: a mass with a port, a vector in and out, a text.
class described final : public subsystem {
   public:
    described() {
        description_.type = "described";
        add_mechanical_port(description_, "mass", port_kind::translation, "");
        input_variable wind;
        wind.name = "wind";
        wind.size = 3;
        wind.slot = description_.input_count();
        description_.inputs.push_back(wind);
        output_variable field;
        field.name = "field";
        field.size = 2;
        field.slot = description_.output_count();
        description_.outputs.push_back(field);
        description_.text_inputs = {{"note", "", variable_type::string}};
        description_.text_outputs = {{"picture[0]", "", variable_type::binary},
                                     {"picture[1]", "", variable_type::binary}};
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override {
        return {.why_no_save_restore = {}, .parameters = {{"m", true, "mass"}, {"k", false}}};
    }
    void initialise(double) override {}
    void outputs(std::span<const double>, std::span<double>) override {}
    void advance(const macro_step&, std::span<const polynomial>, std::span<double>) override {}

   private:
    subsystem_description description_;
};

class address_book_of_two : public testing::Test {
   protected:
    address_book_of_two() {
        std::vector<named_subsystem> parts;
        for (const char* name : {"a", "engine"}) parts.push_back({name, std::make_unique<described>()});
        subsystems_ = make_thread_transport(std::move(parts), 1);
        book_ = std::make_unique<address_book>(*subsystems_);
    }
    template <class Call>
    static std::string refusal(const Call& call) {
        try {
            call();
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "no refusal";
    }
    std::string no_output(const std::string& address) {
        return refusal([&] { book_->find_output({address, {}}, "signal"); });
    }
    std::string no_input(const std::string& address) {
        return refusal([&] { book_->find_input({address, {}}, "signal"); });
    }

    std::unique_ptr<transport> subsystems_;
    std::unique_ptr<address_book> book_;
};

TEST_F(address_book_of_two, finds_variables_elements_and_those_of_ports) {
    const auto by_name = book_->find_output({"engine.mass.velocity", {}}, "");
    EXPECT_EQ(by_name.subsystem, subsystem_index(1));
    EXPECT_EQ(by_name.slot, output_slot(5 + 1));
    EXPECT_EQ(by_name.variable->name, "mass.velocity");
    EXPECT_EQ(book_->find_output({"engine.field[1]", {}}, "").slot, output_slot(5 + 4));
    EXPECT_EQ(book_->find_input({"engine.mass.force", {}}, "").slot, input_slot(4));
    EXPECT_EQ(book_->find_input({"a.wind[2]", {}}, "").slot, input_slot(3));
    EXPECT_EQ(book_->find_port({"engine.mass", {}}, "").port->name, "mass");
    EXPECT_TRUE(book_->has_input("a.wind[0]"));
    EXPECT_FALSE(book_->has_input("a.mass.position"));
}

TEST_F(address_book_of_two, slots_and_addresses_are_each_others_inverse) {
    for (std::size_t slot = 0; slot < subsystems_->outputs().size(); ++slot)
        EXPECT_EQ(book_->find_output({book_->output_address(output_slot(slot)), {}}, "").slot, output_slot(slot));
    for (std::size_t slot = 0; slot < subsystems_->inputs().size(); ++slot)
        EXPECT_EQ(book_->find_input({book_->input_address(input_slot(slot)), {}}, "").slot, input_slot(slot));
    EXPECT_EQ(book_->input_address(input_slot(6)), "engine.wind[1]");
}

TEST_F(address_book_of_two, parameters_are_found_by_name_and_symbol) {
    EXPECT_EQ(book_->find_parameter({"engine.m", {}}, "").number, 0);
    EXPECT_EQ(book_->find_parameter({"engine.mass", {}}, "").number, 0);
    EXPECT_FALSE(book_->find_parameter({"a.k", {}}, "").parameter.between_steps);
    EXPECT_THAT(refusal([&] {
                    book_->find_parameter({"a.kk", {}}, "simulation");
                }),
                AllOf(HasSubstr("'kk'"), HasSubstr("Did you mean 'k'?")));
}

TEST_F(address_book_of_two, texts_are_apart) {
    EXPECT_EQ(book_->text_output("engine.picture[1]")->slot, 1);
    EXPECT_EQ(book_->text_input("a.note")->subsystem, subsystem_index(0));
    EXPECT_FALSE(book_->text_input("a.picture[0]"));
    EXPECT_FALSE(book_->text_input("a.wind[0]"));
    EXPECT_FALSE(book_->text_input("nobody.note"));
    EXPECT_FALSE(book_->text_input("note"));
    EXPECT_THAT(no_output("a.picture[0]"), HasSubstr("is a binary, but a number is needed here"));
    EXPECT_THAT(refusal([&] {
                    book_->unknown_text({"a.wind[0]", {}}, "signal", true);
                }),
                HasSubstr("'a.wind[0]' is no input for strings or bytes. Subsystem 'a' has: note."));
}

TEST_F(address_book_of_two, mistakes_are_told_with_what_there_is) {
    EXPECT_THAT(no_output("engin.field[0]"), HasSubstr("subsystem 'engin' does not exist"));
    EXPECT_THAT(no_output("field"), HasSubstr("'field' is not an address. Write 'subsystem.output'"));
    EXPECT_THAT(no_output("a."), HasSubstr("is not an address"));
    EXPECT_THAT(no_output("a.field[2]"), HasSubstr("variable 'a.field[2]' does not exist"));
    EXPECT_THAT(no_output("a.field[-1]"), HasSubstr("does not exist"));
    EXPECT_THAT(no_output("a.field[1x]"), HasSubstr("does not exist"));
    EXPECT_THAT(no_output("a.field"), HasSubstr("variable 'a.field' does not exist"));
    EXPECT_THAT(no_output("a.mass.force"), HasSubstr("is an input, but an output is needed here"));
    EXPECT_THAT(no_input("a.mass.position"), HasSubstr("is an output, but an input is needed here"));
    EXPECT_THAT(no_input("a.mass.forc"), HasSubstr("Did you mean 'a.mass.force'?"));
    EXPECT_THAT(refusal([&] {
                    book_->find_port({"a.mas", {}}, "connection 'c'");
                }),
                AllOf(HasSubstr("connection 'c': port 'a.mas' does not exist"), HasSubstr("Did you mean 'a.mass'?")));
}

}  // namespace
}  // namespace mdpcosim
