#include "remote/system_calls.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t this_machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t this_machine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t this_machine = 0;
#endif

constexpr std::uint32_t ended = SECCOMP_RET_KILL_PROCESS;
constexpr std::uint32_t refused(int reason) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(reason); }

/// Stands for the process's own number until address_filter().
constexpr std::uint32_t own_process = 0x5e1fu << 8;

class filter_writer {
   public:
    filter_writer() {
        add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
        jump(BPF_JEQ, this_machine, 1, 0);
        add(BPF_RET | BPF_K, ended);
        load_number();
#if defined(__x86_64__)
        constexpr std::uint32_t other_numbers = 0x40000000;  // of the x32 interface
        jump(BPF_JGE, other_numbers, 0, 1);
        add(BPF_RET | BPF_K, ended);
#endif
    }

    void forbid(std::initializer_list<long> calls, std::uint32_t outcome) {
        for (const long call : calls) {
            jump(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 1);
            add(BPF_RET | BPF_K, outcome);
        }
    }
    /// Where the argument has any of these bits.
    void forbid_bits(long call, int argument, std::uint32_t bits, std::uint32_t outcome) {
        look_at(call, argument);
        jump(BPF_JSET, bits, 0, 1);
        add(BPF_RET | BPF_K, outcome);
        load_number();
    }
    /// Where the argument is this value, or, `but` set, any other.
    void forbid_value(long call, int argument, std::uint32_t value, std::uint32_t outcome, bool but = false) {
        look_at(call, argument);
        jump(BPF_JEQ, value, but ? 1 : 0, but ? 0 : 1);
        add(BPF_RET | BPF_K, outcome);
        load_number();
    }

    std::vector<sock_filter> end() {
        add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        return std::move(all_);
    }

   private:
    void add(int code, std::uint32_t k) { all_.push_back({static_cast<std::uint16_t>(code), 0, 0, k}); }
    void jump(int test, std::uint32_t k, std::uint8_t yes, std::uint8_t no) {
        all_.push_back({static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), yes, no, k});
    }
    void load_number() { add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)); }
    /// The low half of the argument where it is this call; else jumps over what forbid_bits() and forbid_value() add.
    void look_at(long call, int argument) {
        jump(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 4);
        add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8u * argument));
    }

    std::vector<sock_filter> all_;
};

void forbid_files(filter_writer& to) {
    constexpr std::uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
    const std::uint32_t no = refused(EACCES);
    to.forbid_bits(SYS_openat, 2, writing, no);
    to.forbid({SYS_openat2, SYS_mkdirat, SYS_mknodat, SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat,
               SYS_truncate, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr,
               SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr},
              no);
#if defined(SYS_renameat)
    to.forbid({SYS_renameat}, no);
#endif
#if defined(__x86_64__)
    to.forbid_bits(SYS_open, 1, writing, no);
    to.forbid({SYS_creat, SYS_mkdir, SYS_rmdir, SYS_mknod, SYS_unlink, SYS_rename, SYS_link, SYS_symlink, SYS_chmod,
               SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat},
              no);
#endif
}

/// Who cannot reach it cannot harm it: other processes of the user, the master among them.
void forbid_processes(filter_writer& to) {
    constexpr std::uint32_t new_namespaces = 0x7e020000;  // CLONE_NEW*, which ask for rights that nobody gave
    to.forbid({SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_open, SYS_pidfd_send_signal,
               SYS_pidfd_getfd, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_unshare, SYS_setns,
               SYS_process_madvise},
              ended);
    for (const long call : {SYS_kill, SYS_tgkill}) to.forbid_value(call, 0, own_process, ended, true);
    to.forbid_value(SYS_prlimit64, 0, 0, refused(EPERM), true);
    // A file can be told to send signals to anybody.
    for (const std::uint32_t command : {F_SETOWN, 15 /* F_SETOWN_EX */, 10 /* F_SETSIG */})
        to.forbid_value(SYS_fcntl, 1, command, refused(EPERM));
    for (const std::uint32_t command : {0x8901u /* FIOSETOWN */, 0x8902u /* SIOCSPGRP */})
        to.forbid_value(SYS_ioctl, 1, command, refused(EPERM));
    to.forbid_bits(SYS_clone, 0, new_namespaces, refused(EPERM));
    to.forbid({SYS_clone3}, refused(ENOSYS));  // its flags are out of sight; clone() takes its place
}

void forbid_network(filter_writer& to) {
    to.forbid({SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_shmget,
               SYS_msgget, SYS_semget, SYS_mq_open},
              refused(EACCES));
    to.forbid({SYS_io_uring_setup}, refused(ENOSYS));  // its operations pass by every filter
}

void forbid_kernel(filter_writer& to) {
    to.forbid({SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
               SYS_add_key, SYS_request_key, SYS_keyctl, SYS_init_module, SYS_finit_module, SYS_delete_module,
               SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_open_by_handle_at, SYS_fanotify_init},
              ended);
}

}  // namespace

bool can_restrict_system_calls() { return this_machine != 0; }

std::vector<sock_filter> compute_filter(bool may_execute) {
    if (!can_restrict_system_calls())
        throw user_error("'limits: system-calls' are there on x86-64 and arm64 only. Leave them out.");
    filter_writer to;
    forbid_files(to);
    forbid_processes(to);
    forbid_network(to);
    forbid_kernel(to);
    if (!may_execute) to.forbid({SYS_execve, SYS_execveat}, refused(EACCES));
    return to.end();
}

void address_filter(std::vector<sock_filter>& filter, int process) {
    for (auto& step : filter)
        if (step.k == own_process) step.k = static_cast<std::uint32_t>(process);
}

bool apply_filter(const std::vector<sock_filter>& filter) {
    const sock_fprog all{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &all) == 0;
}

}  // namespace mdpcosim
