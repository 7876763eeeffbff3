/** One mount of a sandbox, which `bubblewrap.ts` turns into flags; later mounts cover earlier ones. */
export type Mount =
  | BindMount
  /** An empty folder, in which nothing can be created unless it is `writable`. */
  | { readonly kind: 'tmpfs'; readonly to: string; readonly writable?: boolean | undefined }
  /** A minimal /dev, or the /proc of the sandbox's pid namespace. */
  | { readonly kind: 'dev' | 'proc'; readonly to: string }
  /** A symlink in an empty file system; its target is not checked. */
  | { readonly kind: 'symlink'; readonly target: string; readonly to: string }
  /** A folder in an empty file system. */
  | { readonly kind: 'dir'; readonly to: string }
  /** Makes an earlier mount read-only, after others were mounted in it. */
  | { readonly kind: 'seal'; readonly to: string };

/** Shows a file or folder of the machine in the sandbox. */
export interface BindMount {
  readonly kind: 'bind';
  readonly from: string;
  readonly to: string;
  readonly readOnly: boolean;
  /** True if device files below it can be opened. */
  readonly devices?: boolean;
  /** True if a missing `from` is not an error. */
  readonly optional?: boolean;
}

/** Mounts a path of the machine read-only at the same path. */
export function mountReadOnly(path: string): BindMount {
  return { kind: 'bind', from: path, to: path, readOnly: true };
}

/** Mounts a path of the machine writable at the same path. */
export function mountWritable(path: string): BindMount {
  return { kind: 'bind', from: path, to: path, readOnly: false };
}

/** Covers a file or socket with /dev/null. */
export function maskFile(path: string): BindMount {
  return { kind: 'bind', from: '/dev/null', to: path, readOnly: true };
}
