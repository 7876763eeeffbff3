# Restricts a process with Landlock and seccomp. Run as a program, it restricts itself and then executes another program: the same as
# exec-guard.js, but it starts in about a millisecond. The fork server loads this file with do(), to restrict the processes
# that it forks. It loads no module, and its rules contain the numbers that depend on the architecture (`toPerlWords` in perl-guard.ts).
package Guard;

my ($create_ruleset, $add_rule, $restrict_self) = (444, 445, 446);
become_program() unless caller;

sub become_program {
    my ($rules, @program) = parse(@ARGV);
    eval {
        restrict($rules, create_ruleset($rules));
        delete $ENV{PERL_BADLANG};
        for (@{ $rules->{all}{env} }) {
            my ($name, $value) = split /=/, $_, 2;
            $ENV{$name} = $value;
        }
        report_ready($rules) if defined $rules->{ready};
        exec { $program[0] } @program;
        die "$program[0]: $!\n";
    };
    print STDERR $@;
    exit 125;
}

# Returns the rules in the words before `--`, then the words after it.
sub parse {
    my %rules = (all => {});
    while (defined(my $word = shift)) {
        last if $word eq '--';
        my ($name, $value) = split /=/, $word, 2;
        $rules{$name} = $value;
        push @{ $rules{all}{$name} }, $value;
    }
    @rules{qw(openat close prctl)} = map { $_ + 0 } split /,/, $rules{calls};
    return (\%rules, @_);
}

# Returns the descriptor of a ruleset, which can restrict many processes. It grants inodes: a file that later replaces a granted one
# is not granted.
sub create_ruleset {
    my ($rules) = @_;
    my $version = $rules->{version} = syscall($create_ruleset, 0, 0, 1);
    die "the kernel does not offer Landlock (landlock_create_ruleset: $!); Linux 5.19 or newer is needed, with landlock enabled\n"
        if $version < 0;
    die "Landlock is too old (version $version); Linux 5.19 or newer is needed\n" if $version < 2;
    # Bitwise operators work on the characters of two strings, so every operand is made a number first.
    my $handled = $rules->{handled} + 0;
    for (@{ $rules->{all}{since} }) {
        my ($since, $right) = split /,/;
        $handled &= ~($right + 0) if $version < $since;
    }
    $rules->{rights} = $handled;
    my $attributes = pack 'Q', $handled;
    $attributes = pack 'QQQ', $handled, 0, $rules->{scopes} + 0 if $rules->{scopes} && $version >= $rules->{scopesSince};
    my $ruleset = checked('landlock_create_ruleset', syscall($create_ruleset, $attributes, length $attributes, 0));
    for (@{ $rules->{all}{grant} }) {
        my ($access, $path) = split /,/, $_, 2;
        grant($rules, $ruleset, $path, $access + 0);
    }
    for my $from (@{ $rules->{all}{from} }) {
        grant($rules, $ruleset, $_, $rules->{read} + 0) for readable($from, @{ $rules->{all}{hidden} });
    }
    grant_descriptors($rules, $ruleset) if $rules->{descriptors};
    return $ruleset;
}

sub restrict {
    my ($rules, $ruleset) = @_;
    my $prctl = $rules->{prctl};
    # PR_CAPBSET_DROP, PR_CAP_AMBIENT_CLEAR_ALL, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER.
    syscall($prctl, 24, $_ + 0, 0, 0, 0) for split /,/, $rules->{capabilities};
    checked('ambient capabilities', syscall($prctl, 47, 4, 0, 0, 0));
    # Three words for capabilities 0 to 31 (effective, permitted, inheritable), then three for 32 to 63.
    my ($capget, $capset) = map { $_ + 0 } split /,/, $rules->{capabilityCalls};
    my ($header, $sets) = (pack('LL', 0x20080522, 0), "\0" x 24);
    checked('capget', syscall($capget, $header, $sets));
    my $kept = $rules->{keptCapabilities} + 0;
    my @words = unpack 'L6', $sets;
    $sets = pack 'L6', map { $words[$_] & ($_ < 3 ? $kept & 0xffffffff : $kept >> 32) } 0 .. 5;
    checked('capset', syscall($capset, $header, $sets));
    checked('no_new_privs', syscall($prctl, 38, 1, 0, 0, 0));
    checked('landlock_restrict_self', syscall($restrict_self, $ruleset, 0));
    my $filter = pack 'H*', $rules->{version} < $rules->{oldBelow} ? $rules->{oldFilter} : $rules->{filter};
    my $program = pack 'S x6 P', length($filter) / 8, $filter;
    checked('seccomp', syscall($prctl, 22, 2, $program, 0, 0));
}

sub report_ready {
    my ($rules) = @_;
    open my $ready, '>&=', $rules->{ready} or die "descriptor $rules->{ready}: $!\n";
    syswrite $ready, "ready $rules->{version}\0";
    close $ready;
}

# A path that no longer exists, or whose parent has been replaced by a symlink, is left out.
sub grant {
    my ($rules, $ruleset, $path, $access) = @_;
    my $fd = syscall($rules->{openat}, -100, $path, $rules->{open} + 0, 0);
    return if $fd < 0;
    my $is_there = readlink("/proc/self/fd/$fd") eq $path;
    $access &= $rules->{ofFiles} + 0 unless -d "/proc/self/fd/$fd";
    my $rule = pack 'Ql', $access & $rules->{rights}, $fd;
    checked("landlock_add_rule for $path", syscall($add_rule, $ruleset, 1, $rule, 0))
        if $is_there && ($access & $rules->{rights});
    syscall($rules->{close}, $fd);
}

# /dev/stdout and /dev/fd/6 open the file of a descriptor by its path again; Landlock rejects a rule for an anonymous pipe.
sub grant_descriptors {
    my ($rules, $ruleset) = @_;
    for my $fd (split /,/, $rules->{fds}) {
        stat "/proc/self/fd/$fd" or next;
        my $rule = pack 'Ql', ($rules->{descriptors} + 0) & $rules->{rights}, $fd;
        syscall($add_rule, $ruleset, 1, $rule, 0) if -p _ || -f _ || -c _;
    }
}

# Lists the outermost files and folders that contain no hidden path, as does `listReadable` in list-readable.ts.
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
    die "$what: $!\n" if $result < 0;
    return $result;
}

1;
