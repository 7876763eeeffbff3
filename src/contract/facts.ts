/** Why a directory cannot be used. */
export type PlaceProblem = 'missing' | 'not_a_directory' | 'not_accessible';

/** A directory as asked for, and either its canonical path or what is wrong with it. */
export type Place =
  | { readonly asked: string; readonly path: string; readonly problem?: undefined }
  | { readonly asked: string; readonly problem: PlaceProblem; readonly path?: undefined };

/** What the engine asks a backend before policy decides. */
export interface InspectQuery {
  /** As the caller wrote it; undefined means the server's own directory. */
  readonly cwd: string | undefined;
  /** The directories that a caller's cwd must lie in, as configured. */
  readonly roots: readonly string[];
  /** Program names (no slash) to look up on the server's PATH. */
  readonly programs: readonly string[];
  /** The persistent shell that the command would run in, by its key. */
  readonly session?: string | undefined;
  /** Paths, meant from the directory of the command, of which it is asked whether they exist. */
  readonly paths?: readonly string[] | undefined;
  /** Directories that the caller offers as its workspace. */
  readonly workspace?: readonly string[] | undefined;
}

/** What a persistent shell has become: what a name means there, and where it stands. */
export interface SessionFacts {
  readonly cwd: string;
  /** Alias name to its text. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Function name to the text of its body, as `declare -f` prints the whole definition. */
  readonly functions: Readonly<Record<string, string>>;
  /** Those of the functions that child shells get. */
  readonly exportedFunctions: readonly string[];
  /** Variables whose values are known. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Variable name to the letters of its attributes, as `declare` has them: `x` exported, `i` integer, `n` reference. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Arrays, as `declare -p` prints them. */
  readonly arrays: readonly string[];
  /** Options that are on: `set -o` and `shopt` names. */
  readonly options: readonly string[];
  /** False when a command of the session changed PATH or the table of hashed programs. */
  readonly pathUnchanged: boolean;
}

/** What holds on the machine where the command would run. All paths are canonical. */
export interface Facts {
  readonly cwd: Place;
  readonly roots: readonly Place[];
  /** Those that the caller offers as its workspace, where it offers any. */
  readonly workspace?: readonly Place[] | undefined;
  readonly home: string;
  /** Where the server's PATH finds each program asked for; null when it does not. */
  readonly programs: Readonly<Record<string, string | null>>;
  /** Those of the paths asked for that exist. */
  readonly existing?: readonly string[] | undefined;
  /** Present when the command would run in a persistent shell. */
  readonly session?: SessionFacts | undefined;
}
