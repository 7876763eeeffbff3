/** Why a `Place` cannot be used as a directory. */
export type PlaceProblem = 'missing' | 'not_a_directory' | 'not_accessible';

/** A directory as requested (`asked`), with either its canonical `path` or the `problem` with it. */
export type Place =
  | { readonly asked: string; readonly path: string; readonly problem?: undefined }
  | { readonly asked: string; readonly problem: PlaceProblem; readonly path?: undefined };

/** Argument of `Backend.inspect`: the facts that policy needs to decide. */
export interface InspectQuery {
  /** The name of the machine to ask; this one if absent. */
  readonly machine?: string | undefined;
  /** As the caller wrote it, relative to the first usable folder of `workspace`; undefined means the server's working directory. */
  readonly cwd: string | undefined;
  /** The directories that `cwd` must be in, as configured. */
  readonly roots: readonly string[];
  /** Program names without a slash to look up on the server's `PATH`. */
  readonly programs: readonly string[];
  /** The key of the persistent shell that the command would run in. */
  readonly session?: string | undefined;
  /** Paths, relative to `cwd`, to check for existence. */
  readonly paths?: readonly string[] | undefined;
  /** Directories that the caller names as its workspace. */
  readonly workspace?: readonly string[] | undefined;
}

/** The state of a persistent shell that policy needs, as read by `declare`, `alias` and `shopt`. */
export interface SessionFacts {
  readonly cwd: string;
  /** Definitions by alias name, as `alias` prints them. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Definitions by function name, as `declare -f` prints them. */
  readonly functions: Readonly<Record<string, string>>;
  /** The functions that were exported to child shells with `export -f`. */
  readonly exportedFunctions: readonly string[];
  /** Values by variable name, where known. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Attribute letters by variable name, as in `declare`: `x` exported, `i` integer, `n` reference. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Arrays, as `declare -p` prints them. */
  readonly arrays: readonly string[];
  /** Names of the `set -o` and `shopt` options that are on. */
  readonly options: readonly string[];
  /** False if a command of the session changed `PATH` or the table of the `hash` builtin. */
  readonly pathUnchanged: boolean;
}

/** Result of `Backend.inspect`, from the machine where the command would run. All paths are canonical. */
export interface Facts {
  /** The machine that they come from, unless it is this one. */
  readonly machine?: FactsMachine | undefined;
  readonly cwd: Place;
  readonly roots: readonly Place[];
  /** The directories of `InspectQuery.workspace`, without those outside of the `workspace` setting in a sandbox. */
  readonly workspace?: readonly Place[] | undefined;
  readonly home: string;
  /** All home directories of the machine, as named and as canonical paths; if absent, `home` is the only one. */
  readonly homes?: readonly string[] | undefined;
  /** nacre's own files and folders, as named and as canonical paths; no command may change them. */
  readonly ownFiles?: readonly string[] | undefined;
  /** Path by program name, as found on the server's `PATH`; null if not found. */
  readonly programs: Readonly<Record<string, string | null>>;
  /** The entries of `InspectQuery.paths` that exist. */
  readonly existing?: readonly string[] | undefined;
  /** Present if `InspectQuery.session` is. */
  readonly session?: SessionFacts | undefined;
}

/** A machine, and the name of the worker process that answered there. */
export interface FactsMachine {
  readonly name: string;
  readonly worker: string;
}
