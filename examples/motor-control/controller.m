% The sampled PI controller of scenario.yaml as a script of Octave that owns its main loop:
%   I_k = I_{k-1}^+ + ki T (r_k - m_k),  v_k = kp (r_k - m_k) + I_k,  y_k = v_k within the limits
%   I_k^+ = I_k + min(1, ki T/kp)(y_k - v_k)
1;  % a script, though it begins with functions

function v = unlimited(c, I, r, m)
  v = c.kp*(r - m) + (I + c.ki_T*(r - m));
end

function y = limited(c, v)
  y = min(max(v, c.lower), c.upper);
end

mdpcosim_subsystem("open");
c.kp = mdpcosim_subsystem("parameter", "kp", "", 1, "proportional gain");
ki = mdpcosim_subsystem("parameter", "ki", "", 0, "integral gain, per second");
c.lower = mdpcosim_subsystem("parameter", "lower", "", NaN, "lower limit of y");
c.upper = mdpcosim_subsystem("parameter", "upper", "", NaN, "upper limit of y");
T = mdpcosim_subsystem("parameter", "T", "s", NaN, "sample time");
c.ki_T = ki*T;
back = min(1, abs(c.ki_T/c.kp));
setpoint = mdpcosim_subsystem("input", "setpoint", "", 1, "the value that the measurement shall have");
measurement = mdpcosim_subsystem("input", "measurement", "", 1, "the measured value");
y = mdpcosim_subsystem("output", "y", "", 1, "control signal, held between samples");
mdpcosim_subsystem("direct", y, setpoint);
mdpcosim_subsystem("direct", y, measurement);
mdpcosim_subsystem("sampled");

I = 0;
held = limited(c, I);
k = 0;  % the sample to come
while true
  [what, t, t_end] = mdpcosim_subsystem("receive");
  if what == 0
    break
  end
  u = @(at) deal(mdpcosim_subsystem("input_at", setpoint, at), mdpcosim_subsystem("input_at", measurement, at));
  if what == 1 && t >= (k - 1e-9)*T  % a step that begins with a sample
    [r, m] = u(t);
    v = unlimited(c, I, r, m);
    held = limited(c, v);
    I = I + c.ki_T*(r - m) + back*(held - v);
    k = k + 1;
  end
  now = held;
  if t_end >= (k - 1e-9)*T  % the outputs of a sample time are made of the inputs there
    [r, m] = u(t_end);
    now = limited(c, unlimited(c, I, r, m));
  end
  mdpcosim_subsystem("set_output", y, now);
  mdpcosim_subsystem("send");
end
