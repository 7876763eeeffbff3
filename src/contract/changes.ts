/** The values of the setting `changes`, from loose to strict: change files at once, at the command's end, or when asked to. */
export const changesModes = ['direct', 'track', 'hold'] as const;

/** One of `changesModes`. */
export type ChangesMode = (typeof changesModes)[number];

/** The stricter of two ways to change files. */
export function stricterChanges(
  one: ChangesMode | undefined,
  other: ChangesMode | undefined,
): ChangesMode | undefined {
  return [...changesModes].reverse().find((mode) => mode === one || mode === other);
}

/** How a path was changed; `mode` if only its permissions or attributes were. */
export const changeKinds = ['created', 'changed', 'deleted', 'mode'] as const;

/** One of `changeKinds`. */
export type ChangeKind = (typeof changeKinds)[number];

/** The type of a file. */
export type FileType = 'file' | 'folder' | 'symlink' | 'fifo' | 'socket' | 'device';

/** The state of a file before or after a change. */
export interface FileVersion {
  readonly type: FileType;
  /** Permission bits. */
  readonly mode: number;
  readonly bytes: number;
}

/** One changed path. */
export interface Change {
  readonly kind: ChangeKind;
  /** Relative to the workspace; absolute if the workspace has several folders. */
  readonly path: string;
  readonly before?: FileVersion | undefined;
  readonly after?: FileVersion | undefined;
  /** True if another program has changed it since the command began. */
  readonly conflict?: true | undefined;
  /** The number of its hard links before, if it had several: the other names keep the old content. */
  readonly links?: number | undefined;
}

/** The changes of a command: exact counts, and the first of them. */
export interface ChangeList extends Readonly<Record<ChangeKind, number>> {
  /** The size of all new and changed files. */
  readonly bytes: number;
  readonly changes: readonly Change[];
  /** Paths that another program has changed since; they are not replaced unless asked to. */
  readonly conflicts: readonly string[];
}

/**
 * `applied`: in the workspace, can be undone; `held`: not in the workspace; `partial`: some are applied, some are held.
 */
export type ChangesState = 'applied' | 'held' | 'partial';

/** The changes of an ended command, for its reply. */
export interface CommandChanges extends ChangeList {
  /** The id of the command, by which they are applied, discarded and undone. */
  readonly id: string;
  readonly state: ChangesState;
}

/** Changes that are kept, with the command that made them. */
export interface ChangesEntry {
  readonly id: string;
  readonly state: ChangesState;
  readonly command: string;
  readonly folders: readonly string[];
  readonly endedAt: string;
  readonly owner?: string | undefined;
  /** The held changes on top of which it ran, the oldest first. */
  readonly onTopOf: readonly string[];
  readonly bytes: number;
  readonly counts: Readonly<Record<ChangeKind, number>>;
  /** True if the user has to approve them: their owner cannot apply them. */
  readonly asksUser?: boolean | undefined;
}

/** A call about kept changes; without `paths` it applies to all of them. */
export interface ChangesAction {
  readonly id: string;
  readonly paths?: readonly string[] | undefined;
  /** Replaces files that another program has changed since. */
  readonly force?: boolean | undefined;
}

/** The result of a `ChangesAction`: the selected changes; `conflicts` lists those that were skipped. */
export interface ChangesResult extends ChangeList {
  readonly id: string;
  /** The state afterwards; `gone` if nothing is kept any more. */
  readonly state: ChangesState | 'gone';
}

/** A changed file with the text of both versions, as far as it can be shown. */
export interface ShownChange extends Change {
  /** A unified diff; absent for a binary file, a folder or a file that is too large. */
  readonly diff?: string | undefined;
  /** Why there is no diff, if there could be one. */
  readonly note?: string | undefined;
}
