! m x'' = F - c x - d x' with a solver of its own, in Fortran: the classical Runge-Kutta method with micro steps of at most
! `step`. The state lives in the instance; save and restore make trial steps possible.
module oscillator
    use, intrinsic :: iso_c_binding
    use, intrinsic :: ieee_arithmetic, only: ieee_is_finite
    use mdpcosim_plugin_api
    implicit none
    private

    type :: model
        real(c_double) :: m, c, d, step
        real(c_double) :: start(2), state(2)  ! position, velocity
        type(c_ptr) :: message
    end type

    type(mdpcosim_plugin), save, target :: plugin
    type(mdpcosim_parameter), save, target :: parameters(6)
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
                      make_parameter("v0", "m/s", "velocity at the start", 0.0_c_double), &
                      make_parameter("step", "s", "largest micro step", 1e-3_c_double, mdpcosim_positive)]
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
        plugin%create = c_funloc(create)
        plugin%destroy = c_funloc(destroy)
        plugin%initialise = c_funloc(initialise)
        plugin%output_values = c_funloc(output_values)
        plugin%advance = c_funloc(advance)
        plugin%save_size = c_funloc(save_size)
        plugin%save = c_funloc(save_state)
        plugin%restore = c_funloc(restore_state)
        table = c_loc(plugin)
    end function

    function create(p, message) bind(c, name="") result(instance)
        real(c_double), intent(in) :: p(6)
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
        made = model(p(1), p(2), p(3), p(6), [p(4), p(5)], [0.0_c_double, 0.0_c_double], message)
        instance = c_loc(made)
    end function

    subroutine destroy(instance) bind(c, name="")
        type(c_ptr), value :: instance
        type(model), pointer :: self
        call c_f_pointer(instance, self)
        deallocate (self)
    end subroutine

    integer(c_int) function initialise(instance, t0, x) bind(c, name="")
        type(c_ptr), value :: instance, x
        real(c_double), value :: t0
        type(model), pointer :: self
        call c_f_pointer(instance, self)
        self%state = self%start
        initialise = 0
    end function

    integer(c_int) function output_values(instance, t, x, u, y) bind(c, name="")
        type(c_ptr), value :: instance, x
        real(c_double), value :: t
        real(c_double), intent(in) :: u(1)
        real(c_double), intent(out) :: y(3)
        type(model), pointer :: self
        real(c_double) :: rate(2)
        call c_f_pointer(instance, self)
        rate = right_hand_side(self, self%state, u(1))
        y = [self%state(1), self%state(2), rate(2)]
        output_values = 0
    end function

    integer(c_int) function advance(instance, t0, t1, coefficients) bind(c, name="")
        type(c_ptr), value :: instance
        real(c_double), value :: t0, t1
        real(c_double), intent(in) :: coefficients(0:6, 1)
        type(model), pointer :: self
        real(c_double) :: h, s, k1(2), k2(2), k3(2), k4(2)
        integer :: i, n
        call c_f_pointer(instance, self)
        n = max(1, ceiling((t1 - t0) / self%step - 1e-9_c_double))
        h = (t1 - t0) / n
        do i = 0, n - 1
            s = i * h
            k1 = right_hand_side(self, self%state, input_value(coefficients(:, 1), s))
            k2 = right_hand_side(self, self%state + h / 2 * k1, input_value(coefficients(:, 1), s + h / 2))
            k3 = right_hand_side(self, self%state + h / 2 * k2, input_value(coefficients(:, 1), s + h / 2))
            k4 = right_hand_side(self, self%state + h * k3, input_value(coefficients(:, 1), s + h))
            self%state = self%state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        end do
        advance = 0
        if (all(ieee_is_finite(self%state))) return
        call set_message(self%message, "the state is no longer finite; take a smaller 'step'")
        advance = 1
    end function

    integer(c_size_t) function save_size(instance) bind(c, name="")
        type(c_ptr), value :: instance
        type(model), pointer :: self
        call c_f_pointer(instance, self)
        save_size = c_sizeof(self%state)
    end function

    integer(c_int) function save_state(instance, into) bind(c, name="")
        type(c_ptr), value :: instance
        real(c_double), intent(out) :: into(2)
        type(model), pointer :: self
        call c_f_pointer(instance, self)
        into = self%state
        save_state = 0
    end function

    integer(c_int) function restore_state(instance, from) bind(c, name="")
        type(c_ptr), value :: instance
        real(c_double), intent(in) :: from(2)
        type(model), pointer :: self
        call c_f_pointer(instance, self)
        self%state = from
        restore_state = 0
    end function

    pure function right_hand_side(self, state, force) result(rate)
        type(model), intent(in) :: self
        real(c_double), intent(in) :: state(2), force
        real(c_double) :: rate(2)
        rate = [state(2), (force - self%c * state(1) - self%d * state(2)) / self%m]
    end function
end module
