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

/** The arguments of `mount_layers` in `mountLayersScript` for these folders. */
export function toLayerWords(folders: readonly LayeredFolder[]): readonly string[] {
  return folders.flatMap(({ folder, upper, work, below, aliases }) => [
    ...[folder, upper, work, String(below.length), ...below],
    ...[String(aliases.length), ...aliases.flat()],
  ]);
}

/**
 * The part of a perl program that mounts layers in its own mount namespace. The program has to set `$mount`, `$capget` and `$capset` to
 * the numbers of these system calls. `mount_layers` returns nothing, or the step that has failed, with the reason in `$!`.
 * - With CAP_DAC_READ_SEARCH, overlayfs would mark each copied file with an attribute, which applying would have to remove.
 * - Folders are passed to overlayfs as descriptors, because their names under /proc need no escaping.
 * - Without `volatile` (Linux 5.10), each command would end only after the whole file system was written to its disk.
 */
export const mountLayersScript = String.raw`
sub mount_layers {
    my ($none, $root, $overlay) = ('none', '/', 'overlay');
    lose_read_search();
    return 'mount --make-rprivate' if syscall($mount, $none, $root, 0, 0x44000, 0) < 0;
    while (@_) {
        my ($folder, $upper, $work, $count) = splice @_, 0, 4;
        my (@open, @names);
        for ((splice @_, 0, $count), $folder, $upper, $work) {
            open my $handle, '<', $_ or return "open $_";
            push @open, $handle;
            push @names, '/proc/self/fd/' . fileno $handle;
        }
        my ($upper_name, $work_name) = splice @names, -2;
        my $options = 'lowerdir=' . join(':', @names) . ",upperdir=$upper_name,workdir=$work_name,userxattr";
        my $quick = "$options,volatile";
        return "mount an overlay on $folder"
            if syscall($mount, $overlay, $folder, $overlay, 0, $quick) < 0
            && syscall($mount, $overlay, $folder, $overlay, 0, $options) < 0;
        for (1 .. shift) {
            my ($part, $alias) = splice @_, 0, 2;
            return "mount $part on $alias" if syscall($mount, $part, $alias, 0, 4096, 0) < 0;
        }
    }
    return;
}

sub lose_read_search {
    my ($header, $data) = (pack('LL', 0x20080522, 0), "\0" x 24);
    syscall($capget, $header, $data) == 0 or return;
    my ($effective, @others) = unpack 'L6', $data;
    my $fewer = pack 'L6', $effective & ~4, @others;
    syscall $capset, $header, $fewer;
}
`;
