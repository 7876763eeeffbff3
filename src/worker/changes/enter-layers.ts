import { toPerlCommand } from './layer-calls.ts';

/** A folder of the workspace with the layer that receives its changes. */
export interface LayeredFolder {
  /** The folder, over which the layer is mounted. */
  readonly folder: string;
  /** Receives the changes. */
  readonly upper: string;
  /** A scratch folder that overlayfs needs. */
  readonly work: string;
  /** Layers with held changes between the folder and `upper`, the newest first. */
  readonly below: readonly string[];
  /** Other paths that show `folder` or a part of it, as `[part, path]`; the layer is mounted there, too. */
  readonly aliases: readonly (readonly [part: string, path: string])[];
}

/**
 * The command line that enters a mount namespace in which layers cover the workspace; a program and its arguments follow.
 * Undefined on a machine without perl.
 */
export function toEnterCommand(folders: readonly LayeredFolder[]): readonly string[] | undefined {
  const command = toPerlCommand(script);
  const words = folders.flatMap(({ folder, upper, work, below, aliases }) => [
    ...[folder, upper, work, String(below.length), ...below],
    ...[String(aliases.length), ...aliases.flat()],
  ]);
  return command && [...command, String(folders.length), ...words];
}

/**
 * 1. It enters a new mount namespace; an ordinary user needs a user namespace for that, in which the own uid and gid are
 *    mapped to themselves. Capabilities there end with execve(), so the program cannot unmount the layers.
 * 2. It mounts the layers. Folders are passed to overlayfs as descriptors, whose names need no escaping. Without `volatile`
 *    (Linux 5.10) the end of each command would wait until the whole file system is written to its disk. With
 *    CAP_DAC_READ_SEARCH overlayfs would mark each copied file with an attribute, which applying would have to remove.
 * 3. It executes the program, without a working directory and without inherited descriptors, which may lead below a
 *    layer: an open folder of the workspace is the folder itself. `withoutInherited` cannot close those above its
 *    limits. The program needs 0 to 8 (`start-keeper.ts`).
 */
const script = String.raw`
use strict;
my ($unshare, $mount, $capget, $capset) = map { $_ + 0 } (split /,/, shift)[0, 1, 17, 18];
my ($none, $root, $overlay) = ('none', '/', 'overlay');
chdir '/';
opendir my $descriptors, '/proc/self/fd' or fail('/proc/self/fd');
my @inherited = grep { /^\d+\z/ && $_ > 8 } readdir $descriptors;
closedir $descriptors;
for my $fd (@inherited) { if (open my $file, '<&=', $fd) { close $file } }
if ($> || syscall($unshare, 0x20000) < 0) {
    my ($uid, $gid) = ($> + 0, $) + 0);
    syscall($unshare, 0x10020000) == 0 or fail('unshare');
    put('setgroups', 'deny');
    put('uid_map', "$uid $uid 1");
    put('gid_map', "$gid $gid 1");
}
lose_read_search();
syscall($mount, $none, $root, 0, 0x44000, 0) == 0 or fail('mount --make-rprivate');
for (1 .. shift) {
    my ($folder, $upper, $work, $count) = splice @ARGV, 0, 4;
    my @lower = ((splice @ARGV, 0, $count), $folder);
    my @open;
    my $name = sub {
        open my $handle, '<', $_[0] or fail("open $_[0]");
        push @open, $handle;
        return '/proc/self/fd/' . fileno $handle;
    };
    my $layers = join ':', map { $name->($_) } @lower;
    my $options = "lowerdir=$layers,upperdir=" . $name->($upper) . ',workdir=' . $name->($work) . ',userxattr';
    my $quick = "$options,volatile";
    syscall($mount, $overlay, $folder, $overlay, 0, $quick) == 0
        or syscall($mount, $overlay, $folder, $overlay, 0, $options) == 0
        or fail("mount an overlay on $folder");
    for (1 .. shift) {
        my ($part, $alias) = splice @ARGV, 0, 2;
        syscall($mount, $part, $alias, 0, 4096, 0) == 0 or fail("mount $part on $alias");
    }
}
delete @ENV{grep { /^PERL/ } keys %ENV};
exec { $ARGV[0] } @ARGV;
fail($ARGV[0]);

sub lose_read_search {
    my ($header, $data) = (pack('LL', 0x20080522, 0), "\0" x 24);
    syscall($capget, $header, $data) == 0 or return;
    my ($effective, @others) = unpack 'L6', $data;
    my $fewer = pack 'L6', $effective & ~4, @others;
    syscall $capset, $header, $fewer;
}

sub put {
    open my $file, '>', "/proc/self/$_[0]" or fail($_[0]);
    syswrite $file, $_[1] or fail($_[0]);
}

sub fail {
    print STDERR "changes: $_[0]: $!\n";
    exit 126;
}
`;
