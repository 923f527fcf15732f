! mdpcosim/plugin.h for Fortran: the same structures, and functions that fill them. Rules and call order stand in plugin.h.
! Compile this file together with the plugin. Fill a table in static storage (save, target) and return its address:
!
!     function entry_point(version) bind(c, name="mdpcosim_plugin_entry") result(table)
!
! Procedures of the table are functions with bind(c) and the arguments of plugin.h: the instance is type(c_ptr), value; times are
! real(c_double), value; vectors are arrays of real(c_double). The inputs of advance are an array (0:6, number of inputs).
module mdpcosim_plugin_api
    use, intrinsic :: iso_c_binding
    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
    implicit none
    private
    public :: mdpcosim_input, mdpcosim_output, mdpcosim_port, mdpcosim_parameter, mdpcosim_layout, mdpcosim_plugin
    public :: make_input, make_output, make_port, make_parameter, make_layout, set_message, input_value

    integer(c_int), parameter, public :: mdpcosim_plugin_version = 1
    integer(c_int), parameter, public :: mdpcosim_message_size = 1024
    integer(c_int), parameter, public :: mdpcosim_constant = -1
    integer(c_int), parameter, public :: mdpcosim_real = 0, mdpcosim_integer = 1, mdpcosim_boolean = 2
    integer(c_int), parameter, public :: mdpcosim_string = 3, mdpcosim_binary = 4
    integer(c_int), parameter, public :: mdpcosim_any = 0, mdpcosim_positive = 1, mdpcosim_not_negative = 2, mdpcosim_whole = 3

    type, bind(c) :: mdpcosim_input
        type(c_ptr) :: name, unit, description
        integer(c_int) :: size, max_degree
        real(c_double) :: start
        integer(c_int) :: type
    end type

    type, bind(c) :: mdpcosim_output
        type(c_ptr) :: name, unit, description
        integer(c_int) :: size
        type(c_ptr) :: rate, direct
        integer(c_int) :: type
    end type

    type, bind(c) :: mdpcosim_port
        type(c_ptr) :: name, kind, causality, variables, description
    end type

    type, bind(c) :: mdpcosim_parameter
        type(c_ptr) :: name, unit, description
        real(c_double) :: default_value
        integer(c_int) :: allowed
    end type

    type, bind(c) :: mdpcosim_layout
        integer(c_int) :: version, plugin_size, input_size, output_size, port_size, parameter_size
    end type

    type, bind(c) :: mdpcosim_plugin
        type(mdpcosim_layout) :: layout
        type(c_ptr) :: inputs = c_null_ptr, outputs = c_null_ptr, ports = c_null_ptr, parameters = c_null_ptr
        integer(c_int) :: input_count = 0, output_count = 0, port_count = 0, parameter_count = 0
        integer(c_int) :: state_count = 0, event_count = 0
        type(c_funptr) :: create = c_null_funptr, destroy = c_null_funptr
        type(c_funptr) :: initialise = c_null_funptr, output_values = c_null_funptr
        type(c_funptr) :: derivatives = c_null_funptr, jacobian = c_null_funptr
        type(c_funptr) :: event_indicators = c_null_funptr, apply_event = c_null_funptr, next_time_event = c_null_funptr
        type(c_funptr) :: advance = c_null_funptr
        type(c_funptr) :: save_size = c_null_funptr, save = c_null_funptr, restore = c_null_funptr
        type(c_funptr) :: set_parameter = c_null_funptr
        type(c_funptr) :: set_text = c_null_funptr, get_text = c_null_funptr
    end type

contains

    ! What `layout` of a table has to hold.
    function make_layout() result(layout)
        type(mdpcosim_layout) :: layout
        type(mdpcosim_plugin) :: plugin
        type(mdpcosim_input) :: input
        type(mdpcosim_output) :: output
        type(mdpcosim_port) :: port
        type(mdpcosim_parameter) :: parameter
        layout = mdpcosim_layout(mdpcosim_plugin_version, int(c_sizeof(plugin), c_int), int(c_sizeof(input), c_int), &
                                 int(c_sizeof(output), c_int), int(c_sizeof(port), c_int), int(c_sizeof(parameter), c_int))
    end function

    function make_input(name, unit, description, size, max_degree, start, type) result(made)
        character(*), intent(in) :: name
        character(*), intent(in), optional :: unit, description
        integer, intent(in), optional :: size, max_degree
        real(c_double), intent(in), optional :: start
        integer(c_int), intent(in), optional :: type
        type(mdpcosim_input) :: made
        made = mdpcosim_input(c_text(name), c_text(unit), c_text(description), 1, 0, 0, mdpcosim_real)
        if (present(type)) made%type = type
        if (present(size)) made%size = size
        if (present(max_degree)) made%max_degree = max_degree
        if (present(start)) made%start = start
    end function

    function make_output(name, unit, description, size, rate, direct, type) result(made)
        character(*), intent(in) :: name
        character(*), intent(in), optional :: unit, description, rate, direct
        integer, intent(in), optional :: size
        integer(c_int), intent(in), optional :: type
        type(mdpcosim_output) :: made
        made = mdpcosim_output(c_text(name), c_text(unit), c_text(description), 1, c_text(rate), c_text(direct), mdpcosim_real)
        if (present(type)) made%type = type
        if (present(size)) made%size = size
    end function

    function make_port(name, kind, causality, variables, description) result(made)
        character(*), intent(in) :: name, kind
        character(*), intent(in), optional :: causality, variables, description
        type(mdpcosim_port) :: made
        made = mdpcosim_port(c_text(name), c_text(kind), c_text(causality), c_text(variables), c_text(description))
    end function

    ! Without a default the user has to set the parameter.
    function make_parameter(name, unit, description, default_value, allowed) result(made)
        character(*), intent(in) :: name
        character(*), intent(in), optional :: unit, description
        real(c_double), intent(in), optional :: default_value
        integer, intent(in), optional :: allowed
        type(mdpcosim_parameter) :: made
        made = mdpcosim_parameter(c_text(name), c_text(unit), c_text(description), 0, mdpcosim_any)
        made%default_value = ieee_value(made%default_value, ieee_quiet_nan)
        if (present(default_value)) made%default_value = default_value
        if (present(allowed)) made%allowed = allowed
    end function

    ! Writes the reason of a failure into the message that create was given.
    subroutine set_message(message, text)
        type(c_ptr), intent(in) :: message
        character(*), intent(in) :: text
        character(kind=c_char), pointer :: characters(:)
        integer :: i, length
        call c_f_pointer(message, characters, [mdpcosim_message_size])
        length = min(len_trim(text), mdpcosim_message_size - 1)
        do i = 1, length
            characters(i) = text(i:i)
        end do
        characters(length + 1) = c_null_char
    end subroutine

    ! An input of advance at the time t0 + s.
    pure function input_value(coefficients, s) result(value)
        real(c_double), intent(in) :: coefficients(0:6), s
        real(c_double) :: value
        integer :: k
        value = coefficients(6)
        do k = 5, 0, -1
            value = value * s + coefficients(k)
        end do
    end function

    ! A copy of the text as C wants it, which lives to the end of the program; NULL for a text that is not there.
    function c_text(text) result(address)
        character(*), intent(in), optional :: text
        type(c_ptr) :: address
        character(kind=c_char), pointer :: copy(:)
        integer :: i
        address = c_null_ptr
        if (.not. present(text)) return
        allocate (copy(len(text) + 1))
        do i = 1, len(text)
            copy(i) = text(i:i)
        end do
        copy(len(text) + 1) = c_null_char
        address = c_loc(copy)
    end function
end module
