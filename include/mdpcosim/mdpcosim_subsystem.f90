! mdpcosim_subsystem.h for Fortran: the same functions, named subsystem_..., with Fortran's texts. Call order and rules stand in the
! header. Compile this file together with the program and link it with -lmdpcosim_subsystem.
!
! Numbers of inputs and outputs are those that subsystem_input and subsystem_output return. For subsystem_run fill a
! type(subsystem_calls) with c_funloc of functions with bind(c) and the arguments of the header: `own` is type(c_ptr), value; times are
! real(c_double), value.
module mdpcosim_subsystem
    use, intrinsic :: iso_c_binding
    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
    implicit none
    private
    public :: subsystem_open, subsystem_name, subsystem_parameter, subsystem_tunable, subsystem_list, subsystem_text
    public :: subsystem_tunable_value, subsystem_input, subsystem_output, subsystem_input_type, subsystem_output_type
    public :: subsystem_text_input, subsystem_text_output, subsystem_input_text, subsystem_set_output_text
    public :: subsystem_max_degree, subsystem_start, subsystem_rate, subsystem_direct, subsystem_sampled, subsystem_port
    public :: subsystem_input_at, subsystem_input_after, subsystem_polynomial, subsystem_set_output
    public :: subsystem_run, subsystem_receive, subsystem_send, subsystem_fail, subsystem_message

    ! What subsystem_receive returns; -1: a failure.
    integer(c_int), parameter, public :: subsystem_end = 0, subsystem_step = 1, subsystem_outputs = 2

    integer(c_int), parameter, public :: subsystem_real = 0, subsystem_integer = 1, subsystem_boolean = 2
    integer(c_int), parameter, public :: subsystem_string = 3, subsystem_binary = 4

    type, bind(c), public :: subsystem_calls
        type(c_funptr) :: initialise = c_null_funptr, advance = c_null_funptr, outputs = c_null_funptr
        type(c_funptr) :: save_size = c_null_funptr, save = c_null_funptr, restore = c_null_funptr
    end type

    interface
        function subsystem_open() bind(c, name="mdpcosim_subsystem_open") result(status)
            import :: c_int
            integer(c_int) :: status
        end function

        function subsystem_input_type(input, type) bind(c, name="mdpcosim_subsystem_input_type") result(status)
            import :: c_int
            integer(c_int), value :: input, type
            integer(c_int) :: status
        end function

        function subsystem_output_type(output, type) bind(c, name="mdpcosim_subsystem_output_type") result(status)
            import :: c_int
            integer(c_int), value :: output, type
            integer(c_int) :: status
        end function

        function c_text_input(name, type, description) bind(c, name="mdpcosim_subsystem_text_input") result(number)
            import :: c_ptr, c_int
            type(c_ptr), value :: name, description
            integer(c_int), value :: type
            integer(c_int) :: number
        end function

        function c_text_output(name, type, description) bind(c, name="mdpcosim_subsystem_text_output") result(number)
            import :: c_ptr, c_int
            type(c_ptr), value :: name, description
            integer(c_int), value :: type
            integer(c_int) :: number
        end function

        function c_input_text(text_input, size) bind(c, name="mdpcosim_subsystem_input_text") result(text)
            import :: c_ptr, c_int, c_size_t
            integer(c_int), value :: text_input
            integer(c_size_t), intent(out) :: size
            type(c_ptr) :: text
        end function

        function c_set_output_text(text_output, text, size) bind(c, name="mdpcosim_subsystem_set_output_text") result(status)
            import :: c_int, c_char, c_size_t
            integer(c_int), value :: text_output
            character(kind=c_char), intent(in) :: text(*)
            integer(c_size_t), value :: size
            integer(c_int) :: status
        end function

        function subsystem_max_degree(input, degree) bind(c, name="mdpcosim_subsystem_max_degree") result(status)
            import :: c_int
            integer(c_int), value :: input, degree
            integer(c_int) :: status
        end function

        function subsystem_start(input, start) bind(c, name="mdpcosim_subsystem_start") result(status)
            import :: c_int, c_double
            integer(c_int), value :: input
            real(c_double), value :: start
            integer(c_int) :: status
        end function

        function subsystem_rate(output, rate) bind(c, name="mdpcosim_subsystem_rate") result(status)
            import :: c_int
            integer(c_int), value :: output, rate
            integer(c_int) :: status
        end function

        function subsystem_direct(output, input) bind(c, name="mdpcosim_subsystem_direct") result(status)
            import :: c_int
            integer(c_int), value :: output, input
            integer(c_int) :: status
        end function

        function subsystem_sampled() bind(c, name="mdpcosim_subsystem_sampled") result(status)
            import :: c_int
            integer(c_int) :: status
        end function

        function subsystem_tunable_value(tunable) bind(c, name="mdpcosim_subsystem_tunable_value") result(value)
            import :: c_int, c_double
            integer(c_int), value :: tunable
            real(c_double) :: value
        end function

        function subsystem_input_at(input, t) bind(c, name="mdpcosim_subsystem_input_at") result(u)
            import :: c_int, c_double
            integer(c_int), value :: input
            real(c_double), value :: t
            real(c_double) :: u
        end function

        function subsystem_input_after(input, s) bind(c, name="mdpcosim_subsystem_input_after") result(u)
            import :: c_int, c_double
            integer(c_int), value :: input
            real(c_double), value :: s
            real(c_double) :: u
        end function

        function subsystem_set_output(output, y) bind(c, name="mdpcosim_subsystem_set_output") result(status)
            import :: c_int, c_double
            integer(c_int), value :: output
            real(c_double), value :: y
            integer(c_int) :: status
        end function

        function subsystem_run(calls, own) bind(c, name="mdpcosim_subsystem_run") result(status)
            import :: c_int, c_ptr, subsystem_calls
            type(subsystem_calls), intent(in) :: calls
            type(c_ptr), value :: own
            integer(c_int) :: status
        end function

        function subsystem_receive(begin, end) bind(c, name="mdpcosim_subsystem_receive") result(what)
            import :: c_int, c_double
            real(c_double), intent(inout) :: begin, end
            integer(c_int) :: what
        end function

        function subsystem_send() bind(c, name="mdpcosim_subsystem_send") result(status)
            import :: c_int
            integer(c_int) :: status
        end function

        function c_name() bind(c, name="mdpcosim_subsystem_name") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function

        function c_message() bind(c, name="mdpcosim_subsystem_message") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function

        function c_parameter(name, unit, default_value, description) &
            bind(c, name="mdpcosim_subsystem_parameter") result(value)
            import :: c_ptr, c_double
            type(c_ptr), value :: name, unit, description
            real(c_double), value :: default_value
            real(c_double) :: value
        end function

        function c_tunable(name, unit, default_value, description) &
            bind(c, name="mdpcosim_subsystem_tunable") result(number)
            import :: c_ptr, c_double, c_int
            type(c_ptr), value :: name, unit, description
            real(c_double), value :: default_value
            integer(c_int) :: number
        end function

        function c_list(name, unit, values, size, capacity, description) bind(c, name="mdpcosim_subsystem_list") result(count)
            import :: c_ptr, c_double, c_int
            type(c_ptr), value :: name, unit, description
            real(c_double), intent(inout) :: values(*)
            integer(c_int), value :: size, capacity
            integer(c_int) :: count
        end function

        function c_text_parameter(name, default_value, description) bind(c, name="mdpcosim_subsystem_text") result(text)
            import :: c_ptr
            type(c_ptr), value :: name, default_value, description
            type(c_ptr) :: text
        end function

        function c_input(name, unit, size, description) bind(c, name="mdpcosim_subsystem_input") result(number)
            import :: c_ptr, c_int
            type(c_ptr), value :: name, unit, description
            integer(c_int), value :: size
            integer(c_int) :: number
        end function

        function c_output(name, unit, size, description) bind(c, name="mdpcosim_subsystem_output") result(number)
            import :: c_ptr, c_int
            type(c_ptr), value :: name, unit, description
            integer(c_int), value :: size
            integer(c_int) :: number
        end function

        function c_port(name, kind, causality, variables, description) bind(c, name="mdpcosim_subsystem_port") result(status)
            import :: c_ptr, c_int
            type(c_ptr), value :: name, kind, causality, variables, description
            integer(c_int) :: status
        end function

        function c_polynomial(input) bind(c, name="mdpcosim_subsystem_polynomial") result(coefficients)
            import :: c_ptr, c_int
            integer(c_int), value :: input
            type(c_ptr) :: coefficients
        end function

        function c_fail(text) bind(c, name="mdpcosim_subsystem_fail") result(status)
            import :: c_ptr, c_int
            type(c_ptr), value :: text
            integer(c_int) :: status
        end function

        function c_length(text) bind(c, name="strlen") result(length)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function
    end interface

contains

    ! Without a default the user has to set the parameter.
    function subsystem_parameter(name, unit, default_value, description) result(value)
        character(*), intent(in) :: name
        character(*), intent(in), optional :: unit, description
        real(c_double), intent(in), optional :: default_value
        real(c_double) :: value, otherwise
        otherwise = ieee_value(otherwise, ieee_quiet_nan)
        if (present(default_value)) otherwise = default_value
        value = c_parameter(c_text(name), c_text(unit), otherwise, c_text(description))
    end function

    function subsystem_tunable(name, unit, default_value, description) result(number)
        character(*), intent(in) :: name
        character(*), intent(in), optional :: unit, description
        real(c_double), intent(in), optional :: default_value
        integer(c_int) :: number
        real(c_double) :: otherwise
        otherwise = ieee_value(otherwise, ieee_quiet_nan)
        if (present(default_value)) otherwise = default_value
        number = c_tunable(c_text(name), c_text(unit), otherwise, c_text(description))
    end function

    ! The first `count` of `values` are the defaults, none: the user has to set them; afterwards the first of as many as are returned.
    function subsystem_list(name, unit, values, count, description) result(number)
        character(*), intent(in) :: name
        character(*), intent(in), optional :: unit, description
        real(c_double), intent(inout) :: values(:)
        integer, intent(in) :: count
        integer(c_int) :: number
        real(c_double) :: room(size(values))
        room = values
        number = c_list(c_text(name), c_text(unit), room, int(count, c_int), int(size(values), c_int), c_text(description))
        values = room
    end function

    function subsystem_text(name, default_value, description) result(value)
        character(*), intent(in) :: name
        character(*), intent(in), optional :: default_value, description
        character(:), allocatable :: value
        value = f_text(c_text_parameter(c_text(name), c_text(default_value), c_text(description)))
    end function

    function subsystem_input(name, unit, size, description) result(number)
        character(*), intent(in) :: name
        character(*), intent(in), optional :: unit, description
        integer, intent(in), optional :: size
        integer(c_int) :: number, elements
        elements = 1
        if (present(size)) elements = size
        number = c_input(c_text(name), c_text(unit), elements, c_text(description))
    end function

    function subsystem_output(name, unit, size, description) result(number)
        character(*), intent(in) :: name
        character(*), intent(in), optional :: unit, description
        integer, intent(in), optional :: size
        integer(c_int) :: number, elements
        elements = 1
        if (present(size)) elements = size
        number = c_output(c_text(name), c_text(unit), elements, c_text(description))
    end function

    function subsystem_text_input(name, type, description) result(number)
        character(*), intent(in) :: name
        integer(c_int), intent(in) :: type
        character(*), intent(in), optional :: description
        integer(c_int) :: number
        number = c_text_input(c_text(name), type, c_text(description))
    end function

    function subsystem_text_output(name, type, description) result(number)
        character(*), intent(in) :: name
        integer(c_int), intent(in) :: type
        character(*), intent(in), optional :: description
        integer(c_int) :: number
        number = c_text_output(c_text(name), type, c_text(description))
    end function

    function subsystem_input_text(text_input) result(text)
        integer(c_int), intent(in) :: text_input
        character(:), allocatable :: text
        character(kind=c_char), pointer :: characters(:)
        type(c_ptr) :: address
        integer(c_size_t) :: length, i
        address = c_input_text(text_input, length)
        call c_f_pointer(address, characters, [length])
        allocate (character(length) :: text)
        do i = 1, length
            text(i:i) = characters(i)
        end do
    end function

    ! All characters, blanks at the end included.
    function subsystem_set_output_text(text_output, text) result(status)
        integer(c_int), intent(in) :: text_output
        character(*), intent(in) :: text
        integer(c_int) :: status
        status = c_set_output_text(text_output, text, len(text, c_size_t))
    end function

    function subsystem_port(name, kind, causality, variables, description) result(status)
        character(*), intent(in) :: name, kind
        character(*), intent(in), optional :: causality, variables, description
        integer(c_int) :: status
        status = c_port(c_text(name), c_text(kind), c_text(causality), c_text(variables), c_text(description))
    end function

    ! c(k) belongs to s^k.
    function subsystem_polynomial(input) result(c)
        integer(c_int), intent(in) :: input
        real(c_double) :: c(0:6)
        real(c_double), pointer :: coefficients(:)
        call c_f_pointer(c_polynomial(input), coefficients, [7])
        c = coefficients
    end function

    function subsystem_fail(text) result(status)
        character(*), intent(in) :: text
        integer(c_int) :: status
        status = c_fail(c_text(text))
    end function

    function subsystem_name() result(text)
        character(:), allocatable :: text
        text = f_text(c_name())
    end function

    function subsystem_message() result(text)
        character(:), allocatable :: text
        text = f_text(c_message())
    end function

    ! A copy of the text as C wants it, which lives to the end of the program; NULL for a text that is not there.
    function c_text(text) result(address)
        character(*), intent(in), optional :: text
        type(c_ptr) :: address
        character(kind=c_char), pointer :: copy(:)
        integer :: i
        address = c_null_ptr
        if (.not. present(text)) return
        allocate (copy(len_trim(text) + 1))
        do i = 1, len_trim(text)
            copy(i) = text(i:i)
        end do
        copy(len_trim(text) + 1) = c_null_char
        address = c_loc(copy)
    end function

    function f_text(address) result(text)
        type(c_ptr), intent(in) :: address
        character(:), allocatable :: text
        character(kind=c_char), pointer :: characters(:)
        integer :: i, length
        length = int(c_length(address))
        call c_f_pointer(address, characters, [length])
        allocate (character(length) :: text)
        do i = 1, length
            text(i:i) = characters(i)
        end do
    end function
end module
