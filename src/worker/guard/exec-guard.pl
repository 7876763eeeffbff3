# Restricts its own process, then becomes another program: the same as exec-guard.js, but it starts in about a millisecond.
# It loads no module, and gets numbers that depend on the architecture as arguments (`toPerlArguments` in perl-guard.ts).
my (%option, %list);
while (defined(my $word = shift @ARGV)) {
    last if $word eq '--';
    my ($name, $value) = split /=/, $word, 2;
    $option{$name} = $value;
    push @{ $list{$name} }, $value;
}
my ($openat, $close, $prctl) = map { $_ + 0 } split /,/, $option{calls};
my ($create_ruleset, $add_rule, $restrict_self) = (444, 445, 446);

my $version = syscall($create_ruleset, 0, 0, 1);
fail("the kernel does not offer Landlock (landlock_create_ruleset: $!); Linux 5.19 or newer is needed, with landlock enabled")
    if $version < 0;
fail("Landlock is too old (version $version); Linux 5.19 or newer is needed") if $version < 2;
# Bitwise operators work on the characters of two strings, so every operand is made a number first.
my $handled = $option{handled} + 0;
for (@{ $list{since} }) {
    my ($since, $right) = split /,/;
    $handled &= ~($right + 0) if $version < $since;
}
my $attributes = pack 'Q', $handled;
$attributes = pack 'QQQ', $handled, 0, $option{scopes} + 0 if $option{scopes} && $version >= $option{scopesSince};
my $ruleset = checked('landlock_create_ruleset', syscall($create_ruleset, $attributes, length $attributes, 0));

for (@{ $list{grant} }) {
    my ($access, $path) = split /,/, $_, 2;
    grant($path, $access + 0);
}
for my $from (@{ $list{from} }) { grant($_, $option{read} + 0) for readable($from, @{ $list{hidden} }) }
# /dev/stdout and /dev/fd/6 open the file of a descriptor by its path again; Landlock rejects a rule for an anonymous pipe.
if ($option{descriptors}) {
    for my $fd (split /,/, $option{fds}) {
        stat "/proc/self/fd/$fd" or next;
        my $rule = pack 'Ql', ($option{descriptors} + 0) & $handled, $fd;
        syscall($add_rule, $ruleset, 1, $rule, 0) if -p _ || -f _ || -c _;
    }
}

# PR_CAPBSET_DROP, PR_CAP_AMBIENT_CLEAR_ALL, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER.
syscall($prctl, 24, $_ + 0, 0, 0, 0) for split /,/, $option{capabilities};
checked('ambient capabilities', syscall($prctl, 47, 4, 0, 0, 0));
# Three words for capabilities 0 to 31 (effective, permitted, inheritable), then three for 32 to 63.
my ($capget, $capset) = map { $_ + 0 } split /,/, $option{capabilityCalls};
my ($header, $sets) = (pack('LL', 0x20080522, 0), "\0" x 24);
checked('capget', syscall($capget, $header, $sets));
my $kept = $option{keptCapabilities} + 0;
my @words = unpack 'L6', $sets;
$sets = pack 'L6', map { $words[$_] & ($_ < 3 ? $kept & 0xffffffff : $kept >> 32) } 0 .. 5;
checked('capset', syscall($capset, $header, $sets));
checked('no_new_privs', syscall($prctl, 38, 1, 0, 0, 0));
checked('landlock_restrict_self', syscall($restrict_self, $ruleset, 0));
my $filter = pack 'H*', $version < $option{oldBelow} ? $option{oldFilter} : $option{filter};
my $program = pack 'S x6 P', length($filter) / 8, $filter;
checked('seccomp', syscall($prctl, 22, 2, $program, 0, 0));

delete $ENV{PERL_BADLANG};
for (@{ $list{env} }) {
    my ($name, $value) = split /=/, $_, 2;
    $ENV{$name} = $value;
}
if (defined $option{ready}) {
    open my $ready, '>&=', $option{ready} or fail("descriptor $option{ready}: $!");
    syswrite $ready, "ready $version\0";
    close $ready;
}
exec { $ARGV[0] } @ARGV;
fail("$ARGV[0]: $!");

# A path that no longer exists, or whose parent was replaced by a symlink meanwhile, is left out.
sub grant {
    my ($path, $access) = @_;
    my $fd = syscall($openat, -100, $path, $option{open} + 0, 0);
    return if $fd < 0;
    my $is_there = readlink("/proc/self/fd/$fd") eq $path;
    $access &= $option{ofFiles} + 0 unless -d "/proc/self/fd/$fd";
    my $rule = pack 'Ql', $access & $handled, $fd;
    checked("landlock_add_rule for $path", syscall($add_rule, $ruleset, 1, $rule, 0))
        if $is_there && ($access & $handled);
    syscall($close, $fd);
}

# The outermost files and folders that contain no hidden path, as `listReadable` in list-readable.ts.
sub readable {
    my ($folder, @hidden) = @_;
    my $prefix = $folder eq '/' ? '/' : "$folder/";
    return if grep { $_ eq $folder } @hidden;
    my @below = grep { index($_, $prefix) == 0 } @hidden;
    return $folder unless @below;
    my %names = map { (split m{/}, substr $_, length $prefix)[0] => 1 } @below;
    if (opendir my $entries, $folder) {
        $names{$_} = 1 for grep { $_ ne '.' && $_ ne '..' && !-l "$prefix$_" } readdir $entries;
    }
    return map { readable("$prefix$_", @below) } keys %names;
}

sub checked {
    my ($what, $result) = @_;
    fail("$what: $!") if $result < 0;
    return $result;
}

sub fail {
    print STDERR "$_[0]\n";
    exit 125;
}
