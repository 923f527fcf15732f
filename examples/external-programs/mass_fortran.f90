! The mass of mass.c as a program that owns its main loop: it asks for the next macro step and sends its outputs when that is done.
program mass
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    use mdpcosim_subsystem
    implicit none
    integer, parameter :: dp = c_double
    real(dp) :: inverse_mass, stiffness, damping, x(2), t0, t1
    integer(c_int) :: force, position, velocity, status, what

    if (subsystem_open() /= 0) then
        write (error_unit, '(a)') 'mass_fortran: '//subsystem_message()
        stop 2
    end if
    inverse_mass = 1/subsystem_parameter('mass', 'kg', 1.0_dp, 'mass m')
    stiffness = subsystem_parameter('stiffness', 'N/m', 0.0_dp, 'stiffness c')
    damping = subsystem_parameter('damping', 'N.s/m', 0.0_dp, 'damping d')
    x(1) = subsystem_parameter('x0', 'm', 0.0_dp, 'position at the start')
    x(2) = subsystem_parameter('v0', 'm/s', 0.0_dp, 'velocity at the start')
    force = subsystem_input('mass.force', 'N', description='force on the mass')
    position = subsystem_output('mass.position', 'm')
    velocity = subsystem_output('mass.velocity', 'm/s')
    status = subsystem_rate(position, velocity)
    status = subsystem_port('mass', 'translation', description='the mass')

    call set_outputs()
    do
        what = subsystem_receive(t0, t1)
        if (what /= subsystem_step) exit
        call advance(t1 - t0)
        call set_outputs()
        status = subsystem_send()
    end do
    if (what < 0) stop 1

contains

    subroutine set_outputs()
        status = subsystem_set_output(position, x(1))
        status = subsystem_set_output(velocity, x(2))
    end subroutine

    ! One step of the classical Runge-Kutta method.
    subroutine advance(h)
        real(dp), intent(in) :: h
        real(dp) :: k(2), sum(2), z(2)
        k = derivatives(0.0_dp, x)
        sum = k
        z = x + 0.5_dp*h*k
        k = derivatives(0.5_dp*h, z)
        sum = sum + 2*k
        z = x + 0.5_dp*h*k
        k = derivatives(0.5_dp*h, z)
        sum = sum + 2*k
        z = x + h*k
        k = derivatives(h, z)
        x = x + h/6*(sum + k)
    end subroutine

    function derivatives(s, z) result(dz)
        real(dp), intent(in) :: s, z(2)
        real(dp) :: dz(2)
        dz(1) = z(2)
        dz(2) = (subsystem_input_after(force, s) - stiffness*z(1) - damping*z(2))*inverse_mass
    end function
end program
