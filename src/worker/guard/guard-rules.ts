/** The rules that the guard (dist/exec-guard.js) makes the kernel enforce on a program and all of its descendants. */
export interface GuardRules {
  /** Files, and folders with all of their files, that may be executed; undefined if every program may be. */
  readonly execute?: readonly string[] | undefined;
  /** The file sandbox; undefined if files are not restricted. */
  readonly files?: FileRules | undefined;
}

/** A file sandbox by Landlock. All paths are canonical. */
export interface FileRules {
  /** Files and folders that cannot be read; everything else can. */
  readonly hidden: readonly string[];
  /** Files and folders in hidden ones that can be read nevertheless, except for hidden paths in them. */
  readonly shown: readonly string[];
  /** Folders that can be written. None of them contains a hidden path, because Landlock knows no exceptions. */
  readonly writable: readonly string[];
  /** Folders whose existing files, such as FIFOs, can be opened for reading and writing, but not replaced. */
  readonly openable: readonly string[];
  /** Whether sockets can be created; Landlock itself cannot restrict Unix sockets and UDP. */
  readonly sockets: boolean;
  /** Whether processes outside of the sandbox can be signalled. */
  readonly signals: boolean;
}

/** The first argument of dist/exec-guard.js, as JSON; the program to execute follows. exec-guard.pl gets the same as words. */
export interface GuardOptions extends GuardRules {
  /** The descriptors that the program inherits. */
  readonly fds: readonly number[];
  /** Variables withheld from the guard itself because they would change it (`GuardProgram.ownVariables`), and restored for the program. */
  readonly env: Readonly<Record<string, string>>;
  /** A descriptor to which the guard writes `ready` and the version of Landlock before it executes the program, which does not inherit it. */
  readonly readyFd?: number | undefined;
}
