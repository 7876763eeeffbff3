// The program of the `LayerHelper`: it compares a layer with the workspace, applies it, and removes layers. Node has no
// calls for extended attributes, device files, flock() and syncfs(), and its file calls block or cost a thread each.
import { toPerlCommand } from './layer-calls.ts';

/** The command line of the helper; undefined on a machine without perl. */
export function findLayerHelper(): readonly [string, ...string[]] | undefined {
  return toPerlCommand(script);
}

/**
 * A request and a reply are each a length in 4 bytes and words that NUL separates; the first word is an id. The second word of
 * a reply is `ok`, `failed` or, if a part of the changes is in the workspace, `unfinished`; the next call completes them.
 * - `scan STORE ENTRY LIMIT` lists the changes of a layer, and which of them are conflicts.
 * - `apply STORE ENTRY LIMIT WAY FORCE SYNC PATHS…` moves the changes of `new` into the workspace; WAY `undo` moves back
 *   those of the last `old-N`.
 * - `recover STORE` completes the interrupted work of a killed helper. `remove STORE PATH…` deletes folders of the
 *   store.
 * - `spread STORE` makes ext4 create the folders of layers apart from each other and from busy folders.
 *
 * An entry is a folder: `root-N` is a symlink to a folder of the workspace, `new/N` is its layer in the format of overlayfs,
 * `old-M/N` is a layer that undoes apply number M, `began` and `applied-M` are files whose ctime says when. `spare` has
 * empty files and folders that become parts of the first apply.
 *
 * `merge` is the only function that changes the workspace. It needs no journal besides `doing`, a symlink whose target
 * says which way: each name is moved by link() and rename(), in an order such that the names left in the layer are those
 * left to do. If a helper is killed at any step, calling `merge` again completes its work; if it fails (ENOSPC), calling
 * `merge` in the other direction reverts it. A loss of power was not tested.
 *
 * Folders of the workspace are opened with O_NOFOLLOW and used by descriptor: a command that runs at the same time may
 * replace one by a symlink.
 */
const script = String.raw`
use strict;
my ($openat, $fstatat, $mknodat, $utimensat, $lsetxattr, $lgetxattr, $lremovexattr, $syncfs, $renameat, $linkat, $llistxattr,
    $directory, $nofollow, $renameat2, $unlinkat) = map { $_ + 0 } (split /,/, $ARGV[0])[2 .. 14, 19, 20];
my ($order, $layout) = (split /,/, $ARGV[0])[15, 16];
my @fields = split ' ', $order;
my $is_root = $> == 0;
my $buffer = "\0" x 256;
my $step_at = $ARGV[1] || 0;
my $steps = 0;
my ($opaque, $origin) = ('user.overlay.opaque', 'user.overlay.origin');
my ($limit, $force, %selected, @found, %count, @conflicts, @consumed, @inodes, @saved_times, %skipped, %touched, $is_recovery, $is_unfinished,
    %modes, $modes_path, $is_reverting, @raced, @reached, $removed_folder);
my $moved_up = 0;
binmode $_ for *STDIN, *STDOUT;
$0 = 'nacre changes';

while (defined(my $request = receive())) {
    my ($id, $name, @words) = split /\0/, $request, -1;
    my @reply = eval { run($name, @words) };
    my $body = join "\0", $id, $@ eq '' ? ('ok', @reply) : ($is_unfinished ? 'unfinished' : 'failed', $@);
    syswrite_all(pack('N', length $body) . $body);
}

sub receive {
    my $head = read_bytes(4);
    return defined $head ? read_bytes(unpack 'N', $head) : undef;
}

sub read_bytes {
    my ($wanted, $bytes) = ($_[0], '');
    while (length $bytes < $wanted) { sysread STDIN, $bytes, $wanted - length $bytes, length $bytes or return undef }
    return $bytes;
}

sub syswrite_all {
    my ($bytes, $at) = ($_[0], 0);
    while ($at < length $bytes) {
        my $written = syswrite STDOUT, $bytes, 1048576, $at;
        exit 1 unless defined $written;
        $at += $written;
    }
}

sub run {
    my ($name, $store, @words) = @_;
    $is_unfinished = 0;
    my $lock = lock_store($store);
    $removed_folder = "$store/layers";
    return recover($store) if $name eq 'recover';
    if ($name eq 'remove') { remove(reach($_)) for @words; return () }
    return spread("$store/layers") if $name eq 'spread';
    my ($entry, $most, $way, $by_force, $sync, @paths) = @words;
    begin($most, $by_force, @paths);
    restore_modes($entry);
    complete($entry) if is_begun($entry);
    my @sides = sides($entry, $way || 'apply');
    my $since = since($entry, $sides[1]);
    my @listed = list_changes($entry, $way || 'apply', $sides[0], $since);
    my ($unmatched) = grep { !$selected{$paths[$_]} } 0 .. $#paths;
    return ('unmatched', $unmatched) if defined $unmatched;
    if ($name eq 'apply') {
        sync_file_system($entry) if $sync;
        carry_out($entry, $way, $by_force, $since, @sides);
        sync_file_system($entry) if $sync;
    }
    return (@listed, @raced);
}

sub begin {
    my ($most, $by_force, @paths) = @_;
    ($limit, $force) = ($most || 0, $by_force || 0);
    %selected = map { $_ => 0 } @paths;
    %count = map { $_ => 0 } qw(created changed deleted mode bytes);
    @found = @conflicts = @consumed = @inodes = @saved_times = @raced = ();
    %skipped = %touched = ();
    $is_recovery = $is_reverting = 0;
}

sub lock_store {
    open my $lock, '>>', "$_[0]/lock" or die "lock: $!";
    flock $lock, 2 or die "lock: $!";
    return $lock;
}

# Sets the attribute T (chattr +T), so that ext4 creates each subfolder in a block group of its own. ext4 allocates the inode of a new
# file in the group of its folder, and checks every inode there that was deleted in the last minutes. Without T, layers would share
# the group of the folder above, where other programs delete files. Other file systems refuse T.
sub spread {
    open my $folder, '<', $_[0] or return ();
    my $flags = pack 'L2', 0, 0;
    return () unless ioctl $folder, 0x80086601, $flags;
    my ($found) = unpack 'L', $flags;
    my $wanted = pack 'L2', $found | 0x20000, 0;
    ioctl $folder, 0x40086602, $wanted unless $found & 0x20000;
    return ();
}

sub sync_file_system {
    open my $folder, '<', $_[0] or return;
    syscall $syncfs, fileno $folder;
}

# dev, ino, nlink, mode, uid, gid, rdev, size, mtime, its nanoseconds, ctime, its nanoseconds; empty if there is no such file.
sub status { return status_at(-100, $_[0]) }

sub status_at {
    my ($at, $name) = @_;
    return () if syscall($fstatat, $at, $name, $buffer, 0x100) < 0;
    my @status = (unpack $layout, $buffer)[@fields];
    $status[3] = $modes{ $status[1] } if %modes && $modes{ $status[1] };
    return @status;
}

# The status of an open folder, also of one that cannot be searched.
sub status_of {
    my ($folder, $empty) = ($_[0], '');
    syscall($fstatat, fileno $folder, $empty, $buffer, 0x1000) == 0 or die "status: $!\n";
    my @status = (unpack $layout, $buffer)[@fields];
    $status[3] = $modes{ $status[1] } if %modes && $modes{ $status[1] };
    return @status;
}

sub kind { return $_[0] & 0170000 }
sub is_folder { return @_ && kind($_[3]) == 0040000 }
sub is_whiteout { return @_ && kind($_[3]) == 0020000 && $_[6] == 0 }

# Reading an attribute needs permission to read the folder.
sub is_opaque {
    my ($above, $name, @status) = @_;
    my ($path, $value) = (place($above) . "/$name", "\0" x 8);
    my $read = sub { syscall($lgetxattr, $path, $opaque, $value, 8) > 0 && $value =~ /^[yx]/ };
    return $read->() if is_accessible(@status);
    return while_readable(open_folder(fileno $above, $name), \@status, $read);
}

sub names {
    opendir my $folder, $_[0] or die "$_[0]: $!\n";
    return sort grep { $_ ne '.' && $_ ne '..' } readdir $folder;
}

# The names in a folder of the store, also if a command has made it unreadable.
sub names_in {
    my $folder = open_folder(-100, $_[0]);
    return while_readable($folder, [status_of($folder)], sub { names(place($folder)) });
}

sub is_accessible { return $is_root || ($_[3] & 0700) == 0700 }

# Calls a function while a folder is readable and writable for its owner: a command may have removed these permissions.
sub while_readable {
    my ($folder, $status, $call) = @_;
    return $call->() if is_accessible(@$status) || $status->[4] != $>;
    unlock($folder, @$status);
    my @result = eval { $call->() };
    my $reason = $@;
    chmod $status->[3] & 07777, place($folder);
    delete $modes{ $status->[1] };
    forget_modes() unless %modes;
    die $reason if $reason ne '';
    return wantarray ? @result : $result[-1];
}

sub unlock {
    my ($folder, @status) = @_;
    note_mode([place($folder)], @status);
    step();
    chmod 0700 | $status[3] & 07777, place($folder) or die "chmod: $!\n";
}

# Notes the mode of a folder before it is changed: the next helper restores it if this one is killed.
sub note_mode {
    my ($places, @status) = @_;
    return if $modes{ $status[1] };
    my @paths = map { s{^(/proc/self/fd/\d+)}{readlink $1}er } @$places;
    open my $file, '>>', $modes_path or die "modes: $!\n";
    print $file join(' ', @status[1, 3], map { unpack 'H*', $_ } @paths), "\n";
    close $file or die "modes: $!\n";
    $modes{ $status[1] } = $status[3];
}

# In reverse order, because a folder may be below one that was noted before it.
sub restore_modes {
    $modes_path = "$_[0]/modes";
    %modes = ();
    for my $line (reverse read_lines($modes_path)) {
        my ($inode, $mode, @paths) = split / /, $line;
        for my $path (map { pack 'H*', $_ } @paths) {
            my $folder = eval { open_folder(-100, $path) } or next;
            chmod $mode & 07777, place($folder) if (status_of($folder))[1] == $inode;
        }
    }
    forget_modes() if -e $modes_path;
}

sub forget_modes {
    unlink $modes_path;
    %modes = ();
}

sub roots {
    my ($entry) = @_;
    my @roots;
    while (defined(my $root = readlink "$entry/root-" . @roots)) { push @roots, $root }
    return @roots;
}

sub open_folder {
    my ($at, $name) = @_;
    my $fd = syscall $openat, $at, $name, $directory | $nofollow | 012000000, 0;
    die "$name: $!\n" if $fd < 0;
    open my $handle, '<&=', $fd or die "$name: $!\n";
    return $handle;
}

# Returns undef if the name is no longer a folder.
sub find_folder {
    my ($at, $name) = @_;
    my $folder = eval { open_folder($at, $name) };
    die $@ unless $folder || $!{ENOTDIR} || $!{ELOOP} || $!{ENOENT};
    return $folder;
}

sub place { return '/proc/self/fd/' . fileno $_[0] }

# Returns a short path for a path of the store that may be longer than PATH_MAX. It is valid until four more were made.
sub reach {
    my ($rest) = @_;
    my $handle;
    while (length $rest > 4000) {
        my $part = substr $rest, 0, rindex $rest, '/', 4000;
        $rest = substr $rest, 1 + length $part;
        $handle = open_folder($handle ? fileno $handle : -100, $part);
    }
    return $rest unless $handle;
    push @reached, $handle;
    shift @reached if @reached > 4;
    return place($handle) . "/$rest";
}

# Writes a file whose ctime is the present by the clock of the file system: later than the ctime of every earlier change, and not later
# than that of any later one. "start" is the ctime of the first move.
sub stamp {
    my ($path, @start) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file map { "$_\n" } @inodes, @saved_times, @start ? "start @start" : ();
    close $file or die "$path: $!\n";
    renew($path);
}

# With fine-grained timestamps (Linux 6.13), a file gets an exact ctime if it is changed after its status was read. On older kernels, this
# waits for the next tick of the clock.
sub renew {
    my ($path) = @_;
    my @first = status($path);
    for my $try (1 .. 50) {
        chmod $try % 2 ? 0700 : 0600, $path;
        my @now = status($path);
        return if $try > 1 && "@now[10, 11]" ne "@first[10, 11]";
        @first = @now;
        select undef, undef, undef, 0.001 if $try > 1;
    }
}

sub is_since {
    my ($since, @status) = @_;
    return is_in_window($since, @status) unless is_later($since, @status);
    my $known = $since->[12]{ $status[1] } or return 1;
    my @ctime = @status[10, 11];
    for my $move (@$known) {
        @ctime = @$move[2, 3] if is_before(@ctime, @$move[0, 1]) && is_before(@$move[2, 3], @ctime);
    }
    return is_later($since, (0) x 10, @ctime);
}

# Whether another program has changed a file between the first move of an apply and its stamp. Our moves change ctimes in that time, too, but
# not the mtime of a file. So it counts as changed if it was not moved, or if its mtime is in that time as well.
sub is_in_window {
    my ($since, @status) = @_;
    my ($start, $moved) = @$since[13, 14];
    return 0 if !$start || is_before(@status[10, 11], @$start);
    return 1 unless $moved->{ $status[1] };
    return !is_folder(@status) && !is_before(@status[8, 9], @$start) && is_before(@status[8, 9], @$since[10, 11]);
}

sub is_before { return $_[0] < $_[2] || ($_[0] == $_[2] && $_[1] < $_[3]) }

sub is_later {
    my ($since, @status) = @_;
    return $status[10] > $since->[10] || ($status[10] == $since->[10] && $status[11] >= $since->[11]);
}

# The first path in a tree of the workspace that was changed since.
sub changed_since {
    my ($since, $at, $name, $path, @status) = @_;
    return $path if !$touched{ $status[1] } && is_since($since, @status);
    return undef unless is_folder(@status);
    # A folder that cannot be read belongs to another user; what is in it counts as unchanged.
    my $folder = eval { open_folder($at, $name) } or return undef;
    for my $inner (eval { names(place($folder)) }) {
        my @inner = status_at(fileno $folder, $inner) or next;
        my $found = changed_since($since, fileno $folder, $inner, "$path/$inner", @inner);
        return $found if defined $found;
    }
    return undef;
}

# 2 for a path that is selected, 1 for one that has selected paths below it.
sub selection {
    my ($path) = @_;
    return 2 unless %selected;
    my $above = $path;
    do { return $selected{$above} = 2 if exists $selected{$above} } while ($above =~ s{/[^/]*\z}{});
    return (grep { index($_, "$path/") == 0 } keys %selected) ? 1 : 0;
}

sub sides {
    my ($entry, $way) = @_;
    my ($last) = sort { $b <=> $a } map { /^old-(\d+)\z/ ? $1 : () } names($entry);
    return ("$entry/new", 'began', "$entry/old-" . (($last || 0) + 1), 'applied-' . (($last || 0) + 1)) if $way eq 'apply';
    die "nothing to undo\n" unless $last;
    return ("$entry/old-$last", "applied-$last", "$entry/new", 'began');
}

sub since {
    my ($entry, $name) = @_;
    my @stamp = status("$entry/$name");
    # Without a stamp every file counts as changed.
    @stamp = (0) x 12 unless @stamp;
    my @lines = read_lines("$entry/$name");
    my ($start) = map { /^start (.*)/ ? [split / /, $1] : () } @lines;
    my %moved = $start ? map { $_ => 1 } @lines : ();
    return [@stamp, $name eq 'began' ? files_from_below($entry) : restored_files($entry), $start, \%moved];
}

# Returns the files that undoing other commands has moved back, because our own moves must not look like changes of another program.
# Each inode has a list of moves, the newest first: the time of the move, and the file's ctime before it.
sub restored_files {
    my ($entry) = @_;
    my %known;
    for my $line (reverse read_lines("$entry/../../restored")) {
        my ($inode, @times) = split / /, $line;
        push @{ $known{$inode} }, \@times;
    }
    return \%known;
}

# Notes the files that undoing an entry has moved back, with their ctimes from before it was applied. The list has a size limit: files
# that were dropped from it count as changed at the next undo.
sub note_restored {
    my ($entry, $times) = @_;
    my @moved = (status("$entry/began"))[10, 11];
    my @lines = map { $times->{$_} ? "$_ @moved $times->{$_}\n" : () } @inodes;
    return unless @lines;
    my $path = "$entry/../../restored";
    @lines = (map({ "$_\n" } (read_lines($path))[-20000 .. -1]), @lines) if (-s $path || 0) > 4000000;
    open my $file, @lines > 20000 ? '>' : '>>', $path or return;
    print $file @lines;
}

sub read_lines {
    open my $file, '<', $_[0] or return ();
    chomp(my @lines = <$file>);
    return @lines;
}

# Returns the inodes that layers below this one have moved into the workspace, each with the time of that apply.
sub files_from_below {
    my ($entry) = @_;
    my %known;
    for (my $index = 0; defined(my $id = readlink "$entry/below-$index"); $index++) {
        my $below = "$entry/../$id";
        for my $name (-d $below ? grep { /^applied-/ } names($below) : ()) {
            my $times = [(status("$below/$name"))[10, 11], 0, 0];
            $known{$_} = [$times] for grep { !/ / } read_lines("$below/$name");
        }
    }
    return \%known;
}

sub list_changes {
    my ($entry, $way, $from, $since) = @_;
    my @roots = roots($entry);
    for my $index (0 .. $#roots) {
        next unless -d "$from/$index";
        my ($layer, $folder) = (open_folder(-100, "$from/$index"), open_folder(-100, $roots[$index]));
        my ($new, $old) = map { [status_of($_)] } $layer, $folder;
        my @below = $way eq 'apply' ? map({ [open_folder(-100, $_), $_] } layers_below($entry, $index)) : ();
        while_readable($layer, $new, sub {
            found('mode', "$index/.", $old, $new) if $new->[3] != $old->[3] && selection("$index/.");
            compare($layer, [@below, [$folder, $roots[$index]]], $folder, $index, $since);
        });
    }
    return (@count{qw(created changed deleted mode bytes)}, scalar @conflicts, scalar @found, @found, @conflicts);
}

# The layers with held changes on top of which the command ran, the newest first.
sub layers_below {
    my ($entry, $index) = @_;
    my @layers;
    for (my $number = 0; defined(my $id = readlink "$entry/below-$number"); $number++) {
        unshift @layers, "$entry/../$id/new/$index" if -d "$entry/../$id/new/$index";
    }
    return @layers;
}

sub found {
    my ($name, $path, $old, $new, $conflict, $root) = @_;
    $count{$name}++;
    $count{bytes} += $new->[7] if @$new && !is_folder(@$new);
    if (defined $conflict) {
        push @conflicts, $conflict;
        $skipped{$path} = 1 unless $force;
    }
    return if $limit <= @found / 9;
    push @found, $name, $path, map({ @$_ ? ($_->[3], $_->[7]) : ('', '') } $old, $new), defined $conflict ? 1 : 0, $old->[2] || 0, $root || '';
}

sub total { return $count{created} + $count{changed} + $count{deleted} + $count{mode} }

# Lists what is in the folder "from" of a layer, compared with what the command has seen before: the folders "sides", each
# with its root, of which the last is usually the folder "to" of the workspace. That alone can have conflicts.
sub compare {
    my ($from, $sides, $to, $relative, $since) = @_;
    my ($from_fd, $to_fd) = (fileno $from, $to ? fileno $to : -1);
    my $is_stack = @$sides != 1 || $sides->[0][0] != $to;
    for my $name (names(place($from))) {
        my $path = "$relative/$name";
        my $chosen = selection($path) or next;
        my @new = status_at($from_fd, $name);
        my @real = $to ? status_at($to_fd, $name) : ();
        my ($side, @old) = $is_stack ? look_up($sides, $name) : (0, @real);
        my $is_folder = is_folder(@new);
        my $is_replaced = $is_folder && @old && (!is_folder(@old) || is_opaque($from, $name, @new));
        # A part of a folder cannot be deleted or replaced while the layer has the folder as a whole.
        next if $chosen == 1 && ($is_replaced || !$is_folder);
        if ($is_folder && @old && !$is_replaced) {
            my $total = total();
            my $inner = open_folder($from_fd, $name);
            my $inner_to = is_folder(@real) ? open_folder($to_fd, $name) : undef;
            my $inner_sides = $is_stack ? open_sides($sides, $name, $inner_to) : [[$inner_to, $sides->[0][1]]];
            my $is_changed = $new[3] != $old[3];
            while_readable($inner, \@new, sub {
                compare($inner, $inner_sides, $inner_to, $path, $since);
                $is_changed ||= is_accessible(@old) && attributes($inner) ne attributes($inner_sides->[0][0]);
            });
            # The time of a folder changes with what is in it.
            my $is_touched = total() == $total && "@new[8, 9]" ne "@old[8, 9]";
            found('mode', $path, \@old, \@new) if $chosen == 2 && ($is_changed || $is_touched);
            next;
        }
        if (is_whiteout(@new)) { @new = () }
        next unless @old || @new;
        next if @old && is_unchanged([fileno $sides->[$side][0], @old], [$from_fd, @new], $name);
        my $conflict = @real ? changed_since($since, $to_fd, $name, $path, @real) : undef;
        my $kind = !@new ? 'deleted' : !@old ? 'created' : is_same(\@old, \@new) ? 'mode' : 'changed';
        found($kind, $path, \@old, \@new, $conflict, @old ? $sides->[$side][1] : '');
        count_created(open_folder($from_fd, $name), $path, @new) if $is_folder;
    }
}

# The number of the first side that has a name, and its status.
sub look_up {
    my ($sides, $name) = @_;
    for my $side (0 .. $#$sides) {
        my @found = status_at(fileno $sides->[$side][0], $name) or next;
        return is_whiteout(@found) ? () : ($side, @found);
    }
    return ();
}

# The sides of an inner folder: those that overlayfs would merge.
sub open_sides {
    my ($sides, $name, $inner_to) = @_;
    my @inner;
    for my $side (0 .. $#$sides) {
        my ($folder, $root) = @{ $sides->[$side] };
        my @found = status_at(fileno $folder, $name) or next;
        last unless is_folder(@found);
        my $is_last = $side == $#$sides;
        push @inner, [$is_last && $inner_to ? $inner_to : open_folder(fileno $folder, $name), $root];
        last if !$is_last && is_opaque($folder, $name, @found);
    }
    return \@inner;
}

sub count_created {
    my ($from, $relative, @status) = @_;
    while_readable($from, \@status, sub {
        for my $name (names(place($from))) {
            my @new = status_at(fileno $from, $name);
            next if !@new || is_whiteout(@new) || !selection("$relative/$name");
            found('created', "$relative/$name", [], \@new);
            count_created(open_folder(fileno $from, $name), "$relative/$name", @new) if is_folder(@new);
        }
    });
}

# A copy with the same size and time: only its mode or its attributes were changed.
sub is_same {
    my ($old, $new) = @_;
    return kind($old->[3]) == kind($new->[3]) && !grep { $old->[$_] != $new->[$_] } 7, 8, 9;
}

# A file that was only opened for writing: overlayfs has copied it into the layer.
sub is_unchanged {
    my ($one, $other, $name) = @_;
    my ($old, @old) = @$one;
    my ($new, @new) = @$other;
    return 0 if !@new || kind($new[3]) != 0100000 || $new[2] > 1 || grep { $old[$_] != $new[$_] } 3, 4, 5, 7, 8, 9;
    my @paths = map { "/proc/self/fd/$_/$name" } $old, $new;
    my ($was, $is) = map { attributes_of($_) } @paths;
    return $was eq $is && has_same_content(@paths);
}

sub has_same_content {
    my @files;
    for my $path (@_) { open my $file, '<', $path or return 0; push @files, $file }
    while (1) {
        my ($was, $is) = ('', '');
        sysread $files[0], $was, 1048576;
        sysread $files[1], $is, 1048576;
        return 0 if $was ne $is;
        return 1 if $was eq '';
    }
}

sub carry_out {
    my ($entry, $way, $by_force, $since, $from, $stamp, $into, $next) = @_;
    write_paths("$entry/selected", keys %selected);
    write_paths("$entry/skipped", keys %skipped);
    sync_file_system($entry) if %selected || %skipped;
    step();
    my $is_partial = $way eq 'undo' && holds_changes($entry, $into);
    my $target = join ' ', $way, $from =~ m{([^/]+)\z}, $into =~ m{([^/]+)\z}, $by_force ? 1 : 0, $is_partial ? 'partial' : ();
    my $is_spare = ((readlink "$entry/spare/doing") || '') eq $target;
    ($is_spare ? rename "$entry/spare/doing", "$entry/doing" : symlink $target, "$entry/doing") or die "doing: $!\n";
    finish_merge($entry, $since, $from, $stamp, $into, $next, $is_partial);
}

sub write_paths {
    my ($path, @paths) = @_;
    return unless @paths;
    open my $file, '>', $path or die "$path: $!\n";
    print $file join "\0", @paths;
    close $file or die "$path: $!\n";
}

sub read_paths {
    open my $file, '<', $_[0] or return ();
    local $/;
    return map { $_ => 1 } split /\0/, <$file>;
}

sub finish_merge {
    my ($entry, $since, $from, $stamp, $into, $next, $is_partial) = @_;
    my $has_no_conflicts = !$force && !%skipped;
    my %times = map { split / /, $_, 2 } grep { / / } read_lines("$entry/$stamp");
    # A helper that completes the work of a killed helper does not know which files the killed one has moved.
    my @start = $is_recovery ? () : (status("$entry/doing"))[10, 11];
    $is_unfinished = 1;
    my $is_done = eval {
        merge_roots($entry, $from, $into, $since);
        step();
        mark_end($entry, $into, $next, @start);
    };
    if (!$is_done) {
        my $reason = $@;
        # The other way round, changes that were held before would be applied with those that are moved back.
        die $reason if $is_partial;
        rename "$entry/doing", "$entry/back" or die "$reason$!";
        eval { revert($entry, $since, $from, $stamp, $into, $has_no_conflicts) } or die "$reason$@";
        die $reason;
    }
    step();
    # First of all: a later helper would restore the old modes, and without the parts of the layer it could not set the new ones.
    forget_modes() if %modes;
    for (@consumed) { step(); consume($_) }
    step();
    note_restored($entry, \%times) if $next eq 'began';
    remove($from) if $from =~ /old-\d+\z/ && !holds_changes($entry, $from);
    step();
    unlink "$entry/$stamp" if $from =~ /old-\d+\z/ && !-d $from;
    step();
    unlink "$entry/doing" or die "doing: $!\n";
    unlink "$entry/selected", "$entry/skipped";
    $is_unfinished = 0;
}

# Moves back what was moved before an error. "back" is the name of "doing" meanwhile, so that a later helper continues this.
sub revert {
    my ($entry, $since, $from, $stamp, $into, $has_no_conflicts) = @_;
    ($force, %selected) = (1);
    %skipped = ();
    @consumed = ();
    $is_reverting = 1;
    merge_roots($entry, $into, $from, $since);
    for (@consumed) { step(); consume($_) }
    # Something is left if another program has replaced a folder in the meantime.
    remove($into) if $into =~ /old-\d+\z/ && !holds_changes($entry, $into);
    # The moves back and forth must not look like changes of another program.
    renew("$entry/$stamp") if $has_no_conflicts;
    forget_modes();
    step();
    unlink "$entry/back" or die "back: $!\n";
    unlink "$entry/selected", "$entry/skipped";
    $is_unfinished = 0;
    return 1;
}

sub is_begun { return -l "$_[0]/doing" || -l "$_[0]/back" }

# Removes a part of a layer that is done, and keeps a folder in which something is left.
sub consume {
    my $path = reach($_[0]);
    return 1 if unlink($path) || rmdir $path;
    return 0 if $is_root;
    my $above = open_folder(-100, $path =~ s{/[^/]+\z}{}r);
    return while_readable($above, [status_of($above)], sub { unlink($path) || rmdir $path });
}

# Notes when the changes were moved. Fails on a full disk.
sub mark_end {
    my ($entry, $into, $next, @start) = @_;
    return 1 unless -d $into;
    rename "$entry/spare/applied", "$entry/$next" if $next eq 'applied-1';
    stamp("$entry/$next", @start);
    return 1;
}

sub holds_changes {
    my ($entry, $from) = @_;
    my @roots = roots($entry);
    my @left = map { -d "$from/$_" ? names_in("$from/$_") : () } 0 .. $#roots;
    return @left > 0;
}

sub merge_roots {
    my ($entry, $from, $into, $since) = @_;
    my @roots = roots($entry);
    for my $index (0 .. $#roots) {
        next unless -d "$from/$index";
        my $target = open_folder(-100, $roots[$index]);
        my $layer = open_folder(-100, "$from/$index");
        merge({ from => $layer, to => $target, layer => "$from/$index", into => "$into/$index", path => $index, top => $into }, $since);
    }
    return 1;
}

# Moves what is in the layer "from" into the folder "to", and what it replaces into the layer "into".
sub merge {
    my ($frame, $since) = @_;
    my @layer = status_of($frame->{from});
    my @folder = status_of($frame->{to});
    $frame->{status} = \@folder;
    # Moves of names in a folder change its ctime.
    push @inodes, $folder[1];
    push @saved_times, "@folder[1, 10, 11]";
    while_readable($frame->{from}, \@layer, sub {
        unlock($frame->{to}, @folder) if !is_accessible(@folder) && $folder[4] == $>;
        for my $name (names(place($frame->{from}))) {
            my $path = "$frame->{path}/$name";
            my $chosen = selection($path) or next;
            merge_name($frame, $name, $path, $chosen, $since);
        }
        settle($frame, \@layer, $since);
    });
    push @consumed, $frame->{layer} if $frame->{above};
}

sub merge_name {
    my ($frame, $name, $path, $chosen, $since) = @_;
    my ($from, $to) = map { fileno $frame->{$_} } qw(from to);
    my @new = status_at($from, $name);
    my @old = status_at($to, $name);
    if (is_whiteout(@new)) {
        return if $chosen == 1;
        if (@old) {
            return if is_conflict($frame, $name, $path, $since, 'deletion', @old);
            save($frame, $name, $path, 'deletion', $since, @old) or return;
        }
        return push @consumed, "$frame->{layer}/$name";
    }
    my $is_folder = is_folder(@new);
    if ($is_folder && ($chosen == 1 || is_folder(@old)) && !is_opaque($frame->{from}, $name, @new)) {
        my $has_noted = 0;
        if (!@old) {
            $has_noted = note_created($frame, $name);
            step();
            mkdir place($frame->{to}) . "/$name", $new[3] & 07777 or die failed($path);
        }
        elsif (!is_folder(@old)) { return }
        my ($layer, $target) = (open_folder($from, $name), find_folder($to, $name));
        # Another program has moved it away or replaced it in the meantime.
        return give_way($frame, $name, $path, $has_noted) unless $target;
        my %inner = (from => $layer, to => $target, layer => "$frame->{layer}/$name", into => "$frame->{into}/$name", path => $path);
        return merge({ %inner, above => $frame }, $since);
    }
    return if $chosen == 1;
    if (@old) {
        return drop_link($frame, $name, $path, @new) if is_one_file(\@old, \@new);
        return push @consumed, "$frame->{layer}/$name" if is_unchanged([$to, @old], [$from, @new], $name);
        my $by = $is_folder ? 'folder' : 'file';
        return if is_conflict($frame, $name, $path, $since, $by, @old);
        return replace($frame, $name, $path, \@new, \@old) unless $is_folder || is_folder(@old);
        save($frame, $name, $path, $by, $since, @old) or return;
    }
    my $has_noted = !@old && note_created($frame, $name);
    clean($frame->{from}, $name, @new);
    step();
    return if move($from, $name, $to, $name, @new);
    die failed($path) unless $!{EEXIST};
    # Another program has created it in the meantime.
    give_way($frame, $name, $path, $has_noted);
}

# Leaves a name that another program has changed as it is, and reports a conflict. Undoing must not delete the name.
sub give_way {
    my ($frame, $name, $path, $has_noted) = @_;
    unlink place($frame->{saved}) . "/$name" if $has_noted;
    drop_copies($frame, $name) if $is_recovery;
    push @raced, $path;
}

sub failed {
    my ($path) = @_;
    my $hint = $!{EXDEV} ? ', because it is in another subvolume or quota project than the rest of the workspace' : '';
    return substr($path, 2) . ": $!$hint\n";
}

# True if both are the same file: a helper that was killed has linked it here.
sub is_one_file { return $_[0][0] == $_[1][0] && $_[0][1] == $_[1][1] }

# True if it is the version that was looked at, and no program has written to it since.
sub is_version {
    my ($looked_at, @now) = @_;
    return @now && !grep { $looked_at->[$_] != $now[$_] } is_folder(@now) ? 1 : (1, 7, 8, 9);
}

# Replaces a file with that of the layer, and moves the old one into "into". renameat2() exchanges the two, so that a version that another
# program has moved there in the meantime is found and put back.
sub replace {
    my ($frame, $name, $path, $new, $old) = @_;
    return unless is_recorded($frame);
    touch_old(@$old);
    clean($frame->{from}, $name, @$new);
    my ($from, $to, $into) = map { fileno $frame->{$_} } qw(from to saved);
    my @saved = $frame->{is_empty} ? () : status_at($into, $name);
    if (is_whiteout(@saved)) { step(); syscall $unlinkat, $into, $name, 0; @saved = () }
    die "$frame->{into}/$name exists\n" if @saved && !is_one_file(\@saved, $new) && !is_one_file(\@saved, $old);
    step();
    # The system may forbid links to files of other users.
    return overwrite($frame, $name, $path, $old) if @saved ? !is_one_file(\@saved, $new) : syscall($linkat, $from, $name, $into, $name, 0) != 0;
    step();
    if (syscall($renameat2, $into, $name, $to, $name, 2) != 0) {
        my ($is_unknown, $is_gone, $reason) = ($!{EINVAL}, $!{ENOENT}, $!);
        syscall $unlinkat, $into, $name, 0;
        return overwrite($frame, $name, $path, $old) if $is_unknown;
        return push @raced, $path if $is_gone;
        die "$path: $reason\n";
    }
    my @kept = status_at($into, $name);
    return put_back($frame, $name, $path, $new, \@kept) unless is_version($old, @kept);
    drop_link($frame, $name, $path, @$new);
}

# Removes the name in the layer of a file that is in the workspace now. This changes its ctime, so it cannot wait until the stamp is made.
sub drop_link {
    my ($frame, $name, $path, @new) = @_;
    push @inodes, $new[1];
    step();
    syscall($unlinkat, fileno $frame->{from}, $name, 0) == 0 or die failed($path);
}

# Exchanges until the newest version of another program is in the workspace again. The layer still has its own version.
sub put_back {
    my ($frame, $name, $path, @placed) = @_;
    my ($to, $into) = map { fileno $frame->{$_} } qw(to saved);
    push @raced, $path;
    while (syscall($renameat2, $into, $name, $to, $name, 2) == 0) {
        my @now = status_at($into, $name);
        if (is_one_file(\@now, $placed[-2])) { unlink place($frame->{saved}) . "/$name"; return }
        push @placed, \@now;
    }
}

# Replaces a file where it cannot be exchanged: a version that another program moves there between the two steps is lost.
sub overwrite {
    my ($frame, $name, $path, $old) = @_;
    my ($from, $to, $into) = map { fileno $frame->{$_} } qw(from to saved);
    my @saved = status_at($into, $name);
    if (!@saved && syscall($linkat, $to, $name, $into, $name, 0) != 0) {
        step();
        move($to, $name, $into, $name, @$old) or die failed($path);
    }
    step();
    syscall($renameat, $from, $name, $to, $name) == 0 or die failed($path);
}

sub touch_old {
    my @old = @_;
    # If a file has only one name, another program may remove it and create a file that gets the same inode number.
    $touched{ $old[1] } = 1 if !is_folder(@old) && $old[2] > 1;
    push @saved_times, "@old[1, 10, 11]";
}

# Moves a name to one that does not exist; returns 0 with EEXIST if it does. A folder can be moved only while its owner can write to it,
# because its ".." changes.
sub move {
    my ($from, $name, $to, $new_name, @status) = @_;
    my $rename = sub {
        return 1 if syscall($renameat2, $from, $name, $to, $new_name, 1) == 0;
        return $!{EINVAL} && syscall($renameat, $from, $name, $to, $new_name) == 0;
    };
    return $rename->() if $is_root || !is_folder(@status) || $status[3] & 0200;
    my $folder = open_folder($from, $name);
    note_mode([place($folder), "/proc/self/fd/$to/$new_name"], @status);
    my ($is_moved, $error);
    while_readable($folder, \@status, sub { ($is_moved, $error) = ($rename->(), $!) });
    $! = $error;
    return $is_moved;
}

# Whether another program has changed what this name was. link() and rename() change the ctime of a file under all of its names, so
# files in %touched do not count.
sub is_conflict {
    my ($frame, $name, $path, $since, $by, @old) = @_;
    return 1 if $skipped{$path};
    # "save" compares a folder after it has moved it, when no program can open it by its path.
    return 0 if $force || is_folder(@old);
    # The killed helper may have changed the ctime of any file with link() or rename(), except for one that has a single name and is
    # replaced by a folder.
    return 0 if $is_recovery && ($by ne 'folder' || $old[2] > 1);
    return 0 unless defined changed_since($since, fileno $frame->{to}, $name, $path, @old);
    give_way($frame, $name, $path);
    return 1;
}

# Removes the files of the layer that the killed helper has linked into "into", but has not yet exchanged with those of the workspace.
sub drop_copies {
    my ($frame, $name) = @_;
    my $into = reach("$frame->{into}/$name");
    return unless is_folder(status($into)) && is_folder(status_at(fileno $frame->{from}, $name));
    my ($from, $saved) = (open_folder(fileno $frame->{from}, $name), open_folder(-100, $into));
    while_readable($from, [status_of($from)], sub {
        while_readable($saved, [status_of($saved)], sub {
            for my $inner (names(place($saved))) {
                my ($new, $old) = map { [status_at(fileno $_, $inner)] } $from, $saved;
                if (is_folder(@$new)) { drop_copies({ from => $from, into => "$frame->{into}/$name" }, $inner) }
                elsif (@$new && is_one_file($new, $old)) { step(); syscall $unlinkat, fileno $saved, $inner, 0 }
            }
        });
    });
}

# Creates the folder of "into" that corresponds to the current one; false inside of a folder that did not exist before.
sub is_recorded {
    my ($frame) = @_;
    return $frame->{recorded} if defined $frame->{recorded};
    my $above = $frame->{above};
    return $frame->{recorded} = 0 if $above && !is_recorded($above);
    my $spare = $above ? '' : $frame->{top} =~ s{[^/]+\z}{spare}r;
    make_folder($frame->{top}, "$spare/old") if !$above && !-d $frame->{top};
    my $into = reach($frame->{into});
    my @found = status($into);
    return $frame->{recorded} = 0 if is_whiteout(@found);
    if (!@found) {
        make_folder($into, $above ? '' : "$spare/$frame->{path}");
        chmod $frame->{status}[3] & 07777 | 0700, $into;
        $frame->{is_empty} = 1;
    }
    $frame->{saved} = open_folder(-100, $into);
    copy_attributes($frame->{to}, $frame->{saved}) if $above && !@found;
    return $frame->{recorded} = 1;
}

sub make_folder {
    my ($path, $spare) = @_;
    step();
    return if $spare ne '' && rename $spare, $path;
    mkdir $path, 0700 or die "$path: $!\n";
}

# Moves what is in the workspace under a name into "into". "by" says what replaces it: a file, a folder or a deletion. Returns 0 if it is not
# the version that was looked at.
sub save {
    my ($frame, $name, $path, $by, $since, @old) = @_;
    return 0 unless is_recorded($frame);
    touch_old(@old);
    my ($to, $into) = (fileno $frame->{to}, fileno $frame->{saved});
    my @saved = $frame->{is_empty} ? () : status_at($into, $name);
    die "$frame->{into}/$name exists\n" if @saved && !is_whiteout(@saved) && !is_folder(@saved);
    return fold($to, $into, $name) if is_folder(@saved) && is_folder(@old);
    if (@saved) { step(); unlink place($frame->{saved}) . "/$name" }
    mark_opaque($frame, $name, @old) if is_folder(@old) && $by eq 'folder';
    step();
    move($to, $name, $into, $name, @old) or die failed($path);
    my @moved = status_at($into, $name);
    $touched{ $old[1] } = 1 if is_folder(@moved);
    my $is_changed = !is_version(\@old, @moved) || (is_folder(@moved) && !$is_recovery && !$force && defined changed_since($since, $into, $name, $path, @moved));
    return 1 unless $is_changed;
    syscall $lremovexattr, place($frame->{saved}) . "/$name", $opaque if is_folder(@moved);
    syscall $renameat2, $into, $name, $to, $name, 1;
    push @raced, $path;
    return 0;
}

# Moves a folder into one that has other parts of it, because they were not selected when the rest was applied.
sub fold {
    my ($to_above, $into_above, $folder) = @_;
    my ($from, $into) = map { open_folder($_, $folder) } $to_above, $into_above;
    for my $name (names(place($from))) {
        my @inner = status_at(fileno $from, $name);
        if (is_folder(@inner) && is_folder(status_at(fileno $into, $name))) { fold(fileno $from, fileno $into, $name); next }
        step();
        move(fileno $from, $name, fileno $into, $name, @inner) or die "$name: $!\n";
    }
    step();
    rmdir "/proc/self/fd/$to_above/$folder" or die "$folder: $!\n";
    return 1;
}

sub mark_opaque {
    my ($frame, $name, @status) = @_;
    my ($folder, $value) = (place($frame->{to}) . "/$name", 'y');
    while_readable(open_folder(fileno $frame->{to}, $name), \@status, sub {
        step();
        syscall($lsetxattr, $folder, $opaque, $value, 1, 0) == 0 or die "$name: $!\n";
    });
}

# The attributes of a folder or file that a command can change, user.* and ACLs, each name followed by its value. Those of the top
# folder are left alone: overlayfs does not copy them into a layer.
sub attributes {
    my ($folder) = @_;
    return attributes_of(place($folder) . '/.');
}

sub attributes_of {
    my ($path) = @_;
    my $length = syscall $llistxattr, $path, 0, 0;
    return '' if $length <= 0;
    my $list = "\0" x $length;
    syscall $llistxattr, $path, $list, $length;
    my @names = grep { /^(?:user|system)\./ && !/^user\.overlay\./ } split /\0/, $list;
    return join "\0", map { $_ => unpack 'H*', attribute($path, $_) } sort @names;
}

sub attribute {
    my ($path, $name, $value) = (@_, "\0" x 65536);
    my $length = syscall $lgetxattr, $path, $name, $value, 65536;
    return $length < 0 ? '' : substr $value, 0, $length;
}

sub copy_attributes {
    my ($from, $to) = @_;
    my ($wanted, $found) = (attributes($from), attributes($to));
    return if $wanted eq $found;
    my $path = place($to) . '/.';
    my %wanted = split /\0/, $wanted, -1;
    my %found = split /\0/, $found, -1;
    for my $name (grep { !exists $wanted{$_} } keys %found) { syscall $lremovexattr, $path, $name }
    for my $name (grep { !exists $found{$_} || $found{$_} ne $wanted{$_} } keys %wanted) {
        my $value = pack 'H*', $wanted{$name};
        step();
        syscall($lsetxattr, $path, $name, $value, length $value, 0) == 0 or die "$name: $!\n";
    }
}

# A whiteout in "into": undoing deletes the name.
sub note_created {
    my ($frame, $name) = @_;
    return 0 unless is_recorded($frame);
    return 0 if !$frame->{is_empty} && status_at(fileno $frame->{saved}, $name);
    step();
    syscall($mknodat, fileno $frame->{saved}, $name, 0020000, 0) == 0 or die "$name: $!\n";
    return 1;
}

# Removes what overlayfs has left in a tree: whiteouts and attributes. Of those, a file can only have the one of a copy.
sub clean {
    my ($above, $name, @status) = @_;
    push @inodes, $status[1];
    unless (is_folder(@status)) {
        my $path = place($above) . "/$name";
        syscall $lremovexattr, $path, $origin;
        return;
    }
    my $folder = open_folder(fileno $above, $name);
    my $is_changed = 0;
    while_readable($folder, \@status, sub {
        remove_marks(place($folder) . '/.');
        for my $inner (names(place($folder))) {
            my @inner = status_at(fileno $folder, $inner);
            if (is_whiteout(@inner)) { step(); unlink place($folder) . "/$inner"; $is_changed = 1 }
            else { clean($folder, $inner, @inner) }
        }
    });
    set_times(place($folder), @status) if $is_changed;
}

sub remove_marks {
    my ($path) = @_;
    my $list = "\0" x 4096;
    my $length = syscall $llistxattr, $path, $list, 4096;
    return if $length == 0;
    my @marks = $length < 0 ? map({ "user.overlay.$_" } qw(opaque impure origin uuid nlink)) : grep { /^user\.overlay\./ } split /\0/, substr $list, 0, $length;
    syscall $lremovexattr, $path, $_ for @marks;
}

# The mode, the attributes and the time of a folder, unless it was changed by another program.
sub settle {
    my ($frame, $layer, $since) = @_;
    my @old = @{ $frame->{status} };
    my $to = place($frame->{to});
    my $is_chosen = $frame->{above} || selection("$frame->{path}/.");
    # A saved folder may not have its mode yet.
    my $mode = $is_reverting || !$is_chosen ? $old[3] : $layer->[3];
    if ($mode != $old[3]) {
        is_recorded($frame);
        note_mode([$to], @old);
    }
    if ($frame->{above} && attributes($frame->{from}) ne attributes($frame->{to})) {
        is_recorded($frame);
        copy_attributes($frame->{from}, $frame->{to});
    }
    if ($mode != $old[3] || $modes{ $old[1] }) {
        step();
        chmod $mode & 07777, $to or die "$frame->{path}: $!\n";
    }
    is_recorded($frame) if $frame->{above} && "@$layer[8, 9]" ne "@old[8, 9]";
    if ($frame->{recorded} && !$is_reverting) {
        set_times(place($frame->{saved}), @old);
        chmod $old[3] & 07777, place($frame->{saved}) unless ($old[3] & 0700) == 0700 && $frame->{is_empty};
    }
    return if is_since($since, @old);
    # The top folder of a layer has a time of its own only if the command has changed the folder.
    my $is_own = $frame->{above} || $frame->{layer} !~ m{/new/\d+\z} || is_later($since, (0) x 10, @$layer[8, 9]);
    set_times($to, $is_own ? @$layer : @old);
}

sub set_times {
    my ($path, @status) = @_;
    my $times = pack 'qqqq', 0, 0x3ffffffe, @status[8, 9];
    syscall $utimensat, -100, $path, $times, 0;
}

sub recover {
    my ($store) = @_;
    my @recovered;
    for my $name (-d "$store/entries" ? names("$store/entries") : ()) {
        my $entry = "$store/entries/$name";
        next unless is_begun($entry);
        restore_modes($entry);
        # On a full disk this fails; the next call tries it again.
        push @recovered, $name if eval { complete($entry); 1 };
    }
    return @recovered;
}

sub complete {
    my ($entry) = @_;
    my $is_back = -l "$entry/back";
    my ($way, $from, $into, $by_force, $is_partial) = split / /, readlink($is_back ? "$entry/back" : "$entry/doing");
    my ($kept_limit, $kept_force, @kept) = ($limit, $force, keys %selected);
    begin(0, $by_force);
    $is_recovery = 1;
    %selected = read_paths("$entry/selected");
    %skipped = read_paths("$entry/skipped");
    my ($number) = "$from $into" =~ /old-(\d+)/;
    my ($stamp, $next) = $way eq 'apply' ? ('began', "applied-$number") : ("applied-$number", 'began');
    my @sides = ("$entry/$from", $stamp, "$entry/$into");
    if ($is_back) {
        $is_unfinished = 1;
        revert($entry, since($entry, $stamp), @sides, !$force && !%skipped);
    }
    else { finish_merge($entry, since($entry, $stamp), @sides, $next, $is_partial) }
    begin($kept_limit, $kept_force, @kept);
}

# Folders whose paths would exceed PATH_MAX are first moved up.
sub remove {
    my @paths = @_;
    while (defined(my $path = shift @paths)) { remove_tree($path, \@paths) }
}

sub remove_tree {
    my ($path, $moved) = @_;
    my @status = status($path) or return;
    return unlink $path unless is_folder(@status);
    return if rmdir $path;
    chmod 0700, $path;
    return push @$moved, move_up($path) if length $path > 3500;
    remove_tree("$path/$_", $moved) for names($path);
    rmdir $path or die "$path: $!\n";
}

sub move_up {
    my ($path) = @_;
    my $name;
    do { $name = "$removed_folder/removed.$$.up" . $moved_up++ } while status($name);
    rename $path, $name or die "$path: $!\n";
    return $name;
}

# Tests kill the helper before each change that it makes, or run a command there.
sub step {
    return unless $step_at && ++$steps == $step_at;
    @ARGV > 2 ? system $ARGV[2] : kill 9, $$;
}
`;
