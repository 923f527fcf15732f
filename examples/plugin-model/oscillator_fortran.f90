! m x'' = F - c x - d x' as equations, in Fortran: mdpcosim integrates them.
module oscillator
    use, intrinsic :: iso_c_binding
    use mdpcosim_plugin_api
    implicit none
    private

    type :: model
        real(c_double) :: m, c, d, x0, v0
    end type

    type(mdpcosim_plugin), save, target :: plugin
    type(mdpcosim_parameter), save, target :: parameters(5)
    type(mdpcosim_input), save, target :: inputs(1)
    type(mdpcosim_output), save, target :: outputs(3)
    type(mdpcosim_port), save, target :: ports(1)

contains

    function entry_point(version) bind(c, name="mdpcosim_plugin_entry") result(table)
        integer(c_int), value :: version
        type(c_ptr) :: table
        table = c_null_ptr
        if (version < mdpcosim_plugin_version) return
        parameters = [make_parameter("mass", "kg", "mass m", 1.0_c_double, mdpcosim_positive), &
                      make_parameter("stiffness", "N/m", "stiffness c", 0.0_c_double, mdpcosim_not_negative), &
                      make_parameter("damping", "N.s/m", "damping d", 0.0_c_double, mdpcosim_not_negative), &
                      make_parameter("x0", "m", "position at the start", 0.0_c_double), &
                      make_parameter("v0", "m/s", "velocity at the start", 0.0_c_double)]
        inputs = [make_input("mass.force", "N")]
        outputs = [make_output("mass.position", "m", rate="mass.velocity"), &
                   make_output("mass.velocity", "m/s", rate="mass.acceleration"), &
                   make_output("mass.acceleration", "m/s2", direct="mass.force")]
        ports = [make_port("mass", "translation")]
        plugin%layout = make_layout()
        plugin%parameters = c_loc(parameters)
        plugin%parameter_count = size(parameters)
        plugin%inputs = c_loc(inputs)
        plugin%input_count = size(inputs)
        plugin%outputs = c_loc(outputs)
        plugin%output_count = size(outputs)
        plugin%ports = c_loc(ports)
        plugin%port_count = size(ports)
        plugin%state_count = 2
        plugin%create = c_funloc(create)
        plugin%destroy = c_funloc(destroy)
        plugin%initialise = c_funloc(initialise)
        plugin%output_values = c_funloc(output_values)
        plugin%derivatives = c_funloc(derivatives)
        table = c_loc(plugin)
    end function

    function create(p, message) bind(c, name="") result(instance)
        real(c_double), intent(in) :: p(5)
        type(c_ptr), value :: message
        type(c_ptr) :: instance
        type(model), pointer :: made
        integer :: status
        instance = c_null_ptr
        allocate (made, stat=status)
        if (status /= 0) then
            call set_message(message, "out of memory")
            return
        end if
        made = model(p(1), p(2), p(3), p(4), p(5))
        instance = c_loc(made)
    end function

    subroutine destroy(instance) bind(c, name="")
        type(c_ptr), value :: instance
        type(model), pointer :: self
        call c_f_pointer(instance, self)
        deallocate (self)
    end subroutine

    integer(c_int) function initialise(instance, t0, x) bind(c, name="")
        type(c_ptr), value :: instance
        real(c_double), value :: t0
        real(c_double), intent(out) :: x(2)
        type(model), pointer :: self
        call c_f_pointer(instance, self)
        x = [self%x0, self%v0]
        initialise = 0
    end function

    integer(c_int) function derivatives(instance, t, x, u, dx) bind(c, name="")
        type(c_ptr), value :: instance
        real(c_double), value :: t
        real(c_double), intent(in) :: x(2), u(1)
        real(c_double), intent(out) :: dx(2)
        type(model), pointer :: self
        call c_f_pointer(instance, self)
        dx = [x(2), acceleration(self, x, u)]
        derivatives = 0
    end function

    integer(c_int) function output_values(instance, t, x, u, y) bind(c, name="")
        type(c_ptr), value :: instance
        real(c_double), value :: t
        real(c_double), intent(in) :: x(2), u(1)
        real(c_double), intent(out) :: y(3)
        type(model), pointer :: self
        call c_f_pointer(instance, self)
        y = [x(1), x(2), acceleration(self, x, u)]
        output_values = 0
    end function

    pure function acceleration(self, x, u) result(a)
        type(model), intent(in) :: self
        real(c_double), intent(in) :: x(2), u(1)
        real(c_double) :: a
        a = (u(1) - self%c * x(1) - self%d * x(2)) / self%m
    end function
end module
