# Ways out of the sandbox, as a version's tests would try them. Each test fails if it escapes.
import ctypes
import os
import resource
import socket
import subprocess
import unittest

AGENT, OWN, PORT, DIRECTORY = @AGENT@, @OWN@, @PORT@, "@DIRECTORY@"


def writes(path):
    try:
        with open(path, "w") as file:
            file.write("1")
        return True
    except OSError:
        return False


def sh(line):
    return subprocess.run(["sh", "-c", line], capture_output=True, timeout=30)


class Ways(unittest.TestCase):
    def test_writing_outside(self):
        for path in ["/usr/x", "/etc/x", "/x", "/opt/x", "/var/x", "/home/x", "/root/x"]:
            self.assertFalse(writes(path), path)
        # The directories above are the sandbox's own, in memory; another test checks that nothing
        # arrived outside.
        for path in ["../x", "../../x", "../../beside/x", "../../bin/python3", "../../log"]:
            writes(path)

    def test_writing_to_the_agent_s_directory(self):
        for path in ["spool", "lock", "secret"]:
            self.assertFalse(os.path.exists(os.path.join(DIRECTORY, path)))
        for path in ["lock", "spool/x", "jobs/x", "secret", "x"]:
            writes(os.path.join(DIRECTORY, path))

    def test_other_users_processes(self):
        for process in [AGENT, OWN]:
            self.assertFalse(os.path.exists("/proc/%d" % process))
            with self.assertRaises(OSError):
                os.kill(process, 0)
        self.assertLess(sum(name.isdigit() for name in os.listdir("/proc")), 12)

    def test_the_network(self):
        for address in [("192.0.2.1", 80), ("8.8.8.8", 53)]:
            with self.assertRaises(OSError):
                socket.create_connection(address, 5)
        with self.assertRaises(OSError):
            socket.getaddrinfo("pypi.org", 443)

    def test_the_servers_api_on_loopback(self):
        for host in ["127.0.0.1", "::1"]:
            with self.assertRaises(OSError):
                socket.create_connection((host, PORT), 5)

    def test_fork_bomb(self):
        children = []
        try:
            for _ in range(300):
                children.append(subprocess.Popen(["sleep", "60"]))
        except OSError:
            pass
        count = len(children)
        for child in children:
            child.kill()
            child.wait()
        self.assertLess(count, 70)

    def test_setuid(self):
        self.assertFalse(sh("cp /bin/sh own && chmod 4755 own && test \"$(./own -p -c 'id -u')\" = 0").returncode == 0)
        self.assertNotEqual(sh("su -c id root < /dev/null").returncode, 0)
        self.assertNotEqual(os.getuid(), 0)
        with self.assertRaises(OSError):
            os.setuid(0)
        with open("/proc/self/status") as file:
            status = file.read()
        self.assertIn("NoNewPrivs:\t1", status)
        self.assertIn("CapEff:\t0000000000000000", status)

    def test_ptrace(self):
        library = ctypes.CDLL(None, use_errno=True)
        for process in [AGENT, OWN]:
            self.assertEqual(library.ptrace(16, process, 0, 0), -1, process)

    def test_proc_of_the_system(self):
        for path in ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches"]:
            self.assertFalse(writes(path), path)
        self.assertFalse(os.path.exists("/proc/1/root" + DIRECTORY + "/spool"))

    def test_the_agents_token(self):
        token = "@TOKEN@"
        # Except in this file, where the test wrote it.
        self.assertNotIn(token, "".join(os.environ.values()))
        self.assertFalse(os.path.exists(DIRECTORY + "/token-of-the-test"))
        for name in filter(str.isdigit, os.listdir("/proc")):
            for file in ["environ", "cmdline"]:
                try:
                    with open("/proc/%s/%s" % (name, file), "rb") as own:
                        self.assertNotIn(token.encode(), own.read())
                except OSError:
                    pass

    def test_devices(self):
        for path in ["/dev/mem", "/dev/kmem", "/dev/sda", "/dev/vda", "/dev/new"]:
            self.assertFalse(writes(path), path)
        with self.assertRaises(OSError):
            os.mknod("device", 0o600 | 0o060000, os.makedev(8, 0))

    def test_namespaces(self):
        for line in ["unshare -Ur id", "mount -t tmpfs none /mnt", "chroot / id", "mount --bind / /mnt", "hostname x"]:
            self.assertNotEqual(sh(line).returncode, 0, line)

    def test_control_groups(self):
        for path in ["/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/pids/cgroup.procs"]:
            self.assertFalse(writes(path), path)

    def test_the_terminal(self):
        import fcntl

        with self.assertRaises(OSError):
            with open("/dev/tty", "w") as terminal:
                fcntl.ioctl(terminal, 0x5412, b"x")

    def test_limits_by_a_program_of_its_own(self):
        self.assertNotEqual(resource.getrlimit(resource.RLIMIT_FSIZE)[1], resource.RLIM_INFINITY)
        self.assertEqual(resource.getrlimit(resource.RLIMIT_CORE)[1], 0)

    def test_leaving_a_process_behind(self):
        subprocess.Popen(["setsid", "sleep", "@LEFT@"])
