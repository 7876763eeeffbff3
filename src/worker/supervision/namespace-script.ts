// The part of the fork server's program that creates the namespaces of a command itself.

/** The numbers of clone, mount, close_range, setpgid, getrusage, exit_group, capget and capset. */
export const namespaceCalls = {
  x64: [56, 165, 436, 109, 98, 231, 125, 126],
  arm64: [220, 40, 436, 154, 165, 94, 90, 91],
} as const;

/**
 * A namespace has one process of nacre, its init process, which is also the keeper. It is a fork of the fork server and executes
 * nothing: a fork of perl takes a tenth of the time of `bwrap` and a bash.
 * 1. `fork_namespace` creates the namespaces; from then on the process dies with the fork server.
 * 2. `enter` mounts layers over the workspace (`mountLayersScript`), covers nacre's own files, and mounts the /proc of its namespace.
 *    If one of its steps fails, the request has failed.
 * 3. `keep` starts the command's shell as the leader of a process group, reaps it and all orphans, and sends the messages that
 *    `parseKeeperMessage` reads. Then it waits until it is killed, or for EOF on descriptor 4, which means that the server is gone. If
 *    there is a guard, the fork that becomes the shell restricts itself with exec-guard.pl. The keeper is not restricted, and Landlock
 *    denies the shell ptrace() on it.
 * Descriptor 6 is the pipe on which `failed` reports to the fork server, and 7 the guard's ruleset.
 * Like `bwrap`, it sets PR_SET_NO_NEW_PRIVS (prctl 38). An ordinary user's keeper has capabilities in its user namespace, so that a
 * command, which has none, cannot open its descriptors. No signal from inside the namespace reaches it, not even SIGKILL.
 */
export const namespaceScript = String.raw`
# Forks into new pid, mount and user namespaces; for root, the user namespace stays the same. The child dies with the fork server.
sub fork_namespace {
    my ($user) = @_;
    my $pid = syscall $clone, 0x20020011 | ($user eq '' ? 0 : 0x10000000), 0, 0, 0, 0;
    syscall $prctl, 1, 9, 0, 0, 0 unless $pid;
    return $pid < 0 ? undef : $pid;
}

sub enter {
    my ($report, $argv, $guard, $namespace) = @_;
    my ($user, $layers) = @$namespace{'user', 'layers'};
    failed($report, 'dup') if syscall($dup, $report, 6, 02000000) < 0;
    failed(6, 'dup') if $guard && syscall($dup, $guard->{ruleset}, 7, 02000000) < 0;
    failed(6, 'close_range') if close_fds($guard ? 8 : 7) < 0;
    map_user(split / /, $user) if $user ne '';
    failed(6, 'layer') if @$layers && defined mount_layers(@$layers);
    mount_at('none', '/', 0, 0x84000, 0);
    add_mount($_) for @{ $namespace->{mounts} };
    mount_at('proc', '/proc', 'proc', 14, 0);
    for my $path ($user eq '' ? ('/proc/sysrq-trigger', '/proc/irq', '/proc/bus') : ()) { bind_read_only($path, $path) if -e $path }
    syscall $prctl, 38, 1, 0, 0, 0;
    drop_bounding_set() if $user ne '';
    keep($argv, $guard, split / /, $namespace->{dropped});
}

sub keep {
    my ($argv, $guard, @dropped) = @_;
    my $shell = fork;
    failed(6, 'fork') unless defined $shell;
    unless ($shell) {
        syscall $setpgid, 0, 0;
        failed(6, 'capabilities') unless drop_capabilities(@dropped);
        failed(6, 'guard') if $guard && !eval { Guard::restrict($guard->{rules}, 7); 1 };
        close_fds(3, 5);
        close_fds(7);
        execute(@$argv);
        failed(6, 'exec');
    }
    close_fds(0, 2);
    close_fds(5);
    open my $status, '>&=', 3;
    open my $lifeline, '<&=', 4;
    syswrite $status, "ready\0";
    1 until waitpid(-1, 0) == $shell;
    my ($code, $signal, $usage) = ($? >> 8, $? & 127, "\0" x 144);
    $SIG{CHLD} = 'IGNORE';
    # WNOHANG with __WALL. Init has no child only if its namespace is empty. A command could unmount /proc or cover it.
    my $child;
    1 while ($child = waitpid -1, 0x40000001) > 0;
    my $count = $child < 0 ? 1 : 2;
    syscall $getrusage, -1, $usage;
    my ($user, $user_us, $system, $system_us) = unpack 'q4', $usage;
    my $ms = int(($user + $system) * 1000 + ($user_us + $system_us) / 1000);
    my $end = $signal ? 'killed ' . (128 + $signal) : "exited $code";
    # The first NUL ends what a command of root has written to the pipe.
    syswrite $status, "\0$end $count $ms\0";
    while (sysread $lifeline, my $ignored, 4096) { }
    quit($signal ? 128 + $signal : $code);
}

# Returns the parsed rules of a guard and a Landlock ruleset for them. Both are used for up to two seconds: a ruleset grants inodes, so
# it does not include a program that is replaced later.
sub find_guard {
    my ($path, @words) = @_;
    my $key = join "\0", @words;
    my $known = $guards{$key};
    return $known if $known && abs(time - $known->{made}) <= 1;
    defined &Guard::parse or do $path or die "$path: $!\n";
    %guards = () if keys %guards > 8;
    my ($rules) = Guard::parse(@words);
    my $created = Guard::create_ruleset($rules);
    # F_DUPFD_CLOEXEC: a number above those that programs get.
    my $ruleset = syscall $fcntl, $created, 1030, 20;
    syscall $close_range, $created, $created, 0;
    die "ruleset: $!\n" if $ruleset < 0;
    open my $owner, '<&=', $ruleset or die "ruleset: $!\n";
    return $guards{$key} = { rules => $rules, ruleset => $ruleset, owner => $owner, made => time };
}

sub map_user {
    my ($uid, $gid) = @_;
    for (['setgroups', 'deny'], ['uid_map', "$uid $uid 1"], ['gid_map', "$gid $gid 1"]) {
        my ($name, $text) = @$_;
        open my $file, '>', "/proc/self/$name" or failed(6, 'user');
        syswrite $file, $text or failed(6, 'user');
        close $file;
    }
}

sub drop_bounding_set {
    for (0 .. 63) { return if syscall($prctl, 24, $_, 0, 0, 0) < 0 }
}

# Drops capabilities of the shell and passes on the others, as bwrap --cap-drop does for root. Because of PR_SET_NO_NEW_PRIVS no program
# gets the dropped ones back. The keeper loses none, so that the command cannot trace it.
sub drop_capabilities {
    return 1 unless @_;
    my ($mask, $header, $data) = (0, pack('LL', 0x20080522, 0), "\0" x 24);
    $mask |= 1 << $_ for @_;
    return if syscall($capget, $header, $data) < 0;
    my ($low, $high) = (unpack 'L6', $data)[1, 4];
    my $kept = $low & ~$mask;
    my $sets = pack 'L6', ($kept) x 3, ($high) x 3;
    return if syscall($capset, $header, $sets) < 0;
    # PR_CAP_AMBIENT_RAISE.
    for (grep { ($kept | $high << 32) >> $_ & 1 } 0 .. 63) { syscall $prctl, 47, 2, $_, 0, 0 }
    return 1;
}

# Makes one of ForkNamespace.mounts.
sub add_mount {
    my ($kind, $path) = unpack 'a1 a*', $_[0];
    return make_read_only($path) if $kind eq 'r';
    return mount_at('tmpfs', $path, 'tmpfs', 6, 'mode=0555') if $kind eq 'd';
    bind_read_only('/dev/null', $path);
}

sub bind_read_only {
    my ($from, $to) = @_;
    mount_at($from, $to, 0, 0x1000, 0);
    mount_at('none', $to, 0, 0x102f, 0);
}

# Makes a path and all mounts below it read-only. It keeps the flag noexec (8), which a user namespace cannot remove.
sub make_read_only {
    my ($path) = @_;
    mount_at($path, $path, 0, 0x5000, 0);
    open my $mounts, '<', '/proc/self/mountinfo' or failed(6, 'mount');
    for (<$mounts>) {
        my ($at, $options) = (split / /)[4, 5];
        $at =~ s/\\([0-7]{3})/chr oct $1/ge;
        mount_at('none', $at, 0, 0x1027 | ($options =~ /\bnoexec\b/ ? 8 : 0), 0) if $at eq $path || index($at, "$path/") == 0;
    }
}

sub mount_at {
    my ($from, $to, $type, $flags, $options) = @_;
    failed(6, 'mount') if syscall($mount, $from, $to, $type, $flags, $options) < 0;
}

# Closes the descriptors from the first to the last, or all from the first.
sub close_fds {
    my ($first, $last) = (@_, 0x7fffffff);
    return syscall $close_range, $first, $last, 0;
}

sub quit { syscall $exit_group, $_[0] }
`;
