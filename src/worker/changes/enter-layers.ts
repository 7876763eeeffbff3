import { toPerlCommand } from './layer-calls.ts';
import { type LayeredFolder, mountLayersScript, toLayerWords } from './mount-layers.ts';

/**
 * The command line that enters a mount namespace in which layers cover the workspace; a program and its arguments follow.
 * Undefined on a machine without perl.
 */
export function toEnterCommand(folders: readonly LayeredFolder[]): readonly string[] | undefined {
  const command = toPerlCommand(`${script}${mountLayersScript}`);
  const words = toLayerWords(folders);
  return command && [...command, String(words.length), ...words];
}

/**
 * 1. It enters a new mount namespace; an ordinary user needs a user namespace for that, in which the own uid and gid are
 *    mapped to themselves. Capabilities there end with execve(), so the program cannot unmount the layers.
 * 2. It mounts the layers (`mountLayersScript`).
 * 3. It executes the program, without a working directory and without inherited descriptors, which may lead below a
 *    layer: an open folder of the workspace is the folder itself. `withoutInherited` cannot close those above its
 *    limits. The program needs 0 to 8 (`start-keeper.ts`).
 */
const script = String.raw`
use strict;
my ($unshare, $mount, $capget, $capset) = map { $_ + 0 } (split /,/, shift)[0, 1, 17, 18];
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
my $failed = mount_layers(splice @ARGV, 0, shift);
fail($failed) if defined $failed;
delete @ENV{grep { /^PERL/ } keys %ENV};
exec { $ARGV[0] } @ARGV;
fail($ARGV[0]);

sub put {
    open my $file, '>', "/proc/self/$_[0]" or fail($_[0]);
    syswrite $file, $_[1] or fail($_[0]);
}

sub fail {
    print STDERR "changes: $_[0]: $!\n";
    exit 126;
}
`;
