import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type {
  ChangeList,
  ChangesAction,
  ChangesEntry,
  ChangesResult,
  CommandChanges,
} from '../../contract/changes.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { sleep } from '../../support/timing.ts';
import {
  alreadyApplied,
  changesNotFound,
  changesUnavailable,
  noPath,
  notApplied,
  notAppliedBecause,
  notChanged,
  pathOutside,
  tooManyHeld,
} from './changes-failures.ts';
import { checkAbove, checkBelow } from './check-stack.ts';
import {
  byEnd,
  type EntryNotes,
  entryPath,
  isUndone,
  layerOf,
  listEntries,
  markUndone,
  noChanges,
  readLinks,
  readStoredEntry,
  type StoredEntry,
  stateOf,
  writeNotes,
} from './entries.ts';
import { findStore, readMounts } from './find-store.ts';
import { beginLayer, createLayer, isUnchanged, type Layer, readCommandId } from './layer.ts';
import type { LayerHelper } from './layer-helper.ts';
import { parseList, toHelperPath } from './parse-list.ts';
import { findOtherStores, mainStore, rememberStore } from './places.ts';
import { planLayer } from './plan-layer.ts';
import type { VersionPlace } from './read-version.ts';

/** The settings of a `ChangesStore`. */
export interface StoreOptions {
  readonly stateDir: string;
  /** The name of this server, for layers of commands that run. */
  readonly instance: string;
  /** The total size and the age beyond which the oldest entries are removed. */
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  /** The largest file that a command in a layer may write, because changing a file copies all of it. */
  readonly maxFileBytes: number;
}

/** The command whose changes are kept. */
export interface ChangingCommand {
  readonly id: string;
  readonly text: string;
  readonly owner?: string | undefined;
  readonly mode: 'track' | 'hold';
  /** As in `RequestedChanges`. */
  readonly asksUser?: boolean | undefined;
}

/** The changes of a command that has ended. */
export interface FinishedChanges extends CommandChanges {
  /** Why tracked changes are held. */
  readonly problem?: string | undefined;
}

/** The places of the versions of a changed file before and after. */
export interface ChangeVersions {
  readonly before?: VersionPlace;
  readonly after?: VersionPlace;
}

/** The number of entries beyond which the oldest are removed: every list reads them. */
const maxEntries = 5_000;
/** The largest number of held changes that a command can run on top of: the options of mount() must fit into 4,096 bytes. */
const maxStack = 100;
const pruneEveryMs = 3_600_000;
const dropAfterMs = 5;

/** The number of paths in the reply to a command. */
const repliedPaths = 20;

/**
 * The changes of commands on this machine: layers of running commands, and entries of ended ones, held or applied.
 * There is one store on each mount that has a workspace; `STATE_DIR/changes/places` lists those outside of the state folder.
 */
export class ChangesStore {
  readonly #options: StoreOptions;
  readonly #helper: LayerHelper;
  #created = 0;
  readonly #separatedStores = new Set<string>();
  #tidying: Promise<void> = Promise.resolve();
  /** The last `prune`, with the bytes that were left and those that this server has added since. */
  #pruned = { at: 0, bytes: 0 };

  constructor(options: StoreOptions, helper: LayerHelper) {
    this.#options = options;
    this.#helper = helper;
  }

  /** Creates a layer over these folders; throws `isolation_unavailable` if that is not possible. */
  open(folders: readonly string[], onTopOf: readonly string[] = []): Layer {
    if (!this.#helper.isAvailable) throw changesUnavailable('perl is missing');
    const plan = planLayer(folders, this.#main);
    rememberStore(this.#options.stateDir, plan.store);
    this.#separateLayers(plan.store);
    return createLayer({ ...plan, name: `${this.#options.instance}.${this.#created++}`, onTopOf });
  }

  /** Creates the store of a folder, so that the first shells already hide it. */
  prepare(folder: string): void {
    const found = findStore(folder, this.#main, readMounts());
    if ('path' in found) rememberStore(this.#options.stateDir, found.path);
  }

  /** Adds the limit for the size of a file to the bash code that applies limits. */
  addLimit(prelude: string): string {
    const limit = `ulimit -f ${Math.ceil(this.#options.maxFileBytes / 1024)} 2>/dev/null`;
    return prelude === '' ? limit : `${prelude}; ${limit}`;
  }

  /** Called just before a command runs in the layer: later changes in the workspace are conflicts. */
  begin(layer: Layer, id: string): void {
    beginLayer(layer, id);
  }

  /**
   * Keeps the changes of a command, and applies them if they are tracked; undefined if it has changed nothing. Changes
   * that cannot be applied are held.
   */
  async finish(layer: Layer, command: ChangingCommand): Promise<FinishedChanges | undefined> {
    const { id, mode } = command;
    const path = entryPath(layer.store, id);
    makeFolder(join(layer.store, 'entries'));
    renameSync(layer.path, path);
    const note = (list: Pick<EntryNotes, 'bytes' | 'counts'>) =>
      writeNotes(path, {
        command: command.text,
        endedAt: new Date().toISOString(),
        owner: command.owner,
        asksUser: command.asksUser,
        ...list,
      });
    const listed = this.#listNew(layer, path, mode === 'track' ? 'apply' : 'scan');
    const { list, problem } = await listed.catch((error: unknown) => {
      note({ bytes: 0, counts: noChanges });
      throw error;
    });
    const { bytes, conflicts, changes, ...counts } = list;
    note({ bytes, counts });
    const state = stateOf(path);
    const total = counts.created + counts.changed + counts.deleted + counts.mode;
    // A file may be copied into the layer without being changed, for example by opening it for writing.
    if (state === undefined || total === 0) {
      void this.#remove(layer.store, path);
      return undefined;
    }
    this.#tidyAfter(layer.store, path, bytes);
    return { id, state, ...counts, bytes, conflicts, changes, ...(problem !== undefined && { problem }) };
  }

  async #listNew(
    layer: Layer,
    path: string,
    name: 'apply' | 'scan',
  ): Promise<{ readonly list: ChangeList; readonly problem?: string }> {
    const folders = layer.folders.map(({ folder }) => folder);
    const words = [name, layer.store, path, String(repliedPaths), 'apply', '', ''];
    try {
      return parseList(await this.#helper.call(...words), folders);
    } catch (error) {
      if (name === 'scan') throw error;
      // Fails if the changes were applied in part.
      const { list } = await this.#listNew(layer, path, 'scan');
      return { list, problem: notAppliedBecause(error) };
    }
  }

  /** Removes a layer without changes; false if the command has made changes. */
  dropUnchanged(layer: Layer): boolean {
    if (!isUnchanged(layer)) return false;
    this.#drop(layer);
    return true;
  }

  /** Removes a layer in which no command has run. */
  dropUnused(layer: Layer): void {
    if (readCommandId(layer.path) === undefined) this.#drop(layer);
  }

  /** The kept changes, the oldest first; of one owner, if given. */
  async list(owner?: string | undefined): Promise<readonly ChangesEntry[]> {
    return (await this.#entries())
      .filter((entry) => owner === undefined || entry.owner === owner)
      .map(({ store: _store, path: _path, ...entry }) => entry);
  }

  /** The entries on top of which a held command of this owner runs, without entries that were undone. */
  async heldBy(owner: string | undefined, folders: readonly string[]): Promise<readonly string[]> {
    const held = (await this.#entries())
      .filter((entry) => entry.state === 'held' && entry.owner === owner && !isUndone(entry.path))
      .filter((entry) => entry.folders.join('\0') === folders.join('\0'));
    if (held.length > maxStack) throw tooManyHeld(maxStack);
    return held.map(({ id }) => id);
  }

  /** Lists the changes of an entry: those that are held or, if there are none, those that undoing would make. */
  async scan(action: ChangesAction, limit: number): Promise<ChangesResult> {
    return (await this.scanVersions(action, limit)).result;
  }

  /** Like `scan`, and also returns the places of both versions of each path. */
  async scanVersions(
    { id, paths }: ChangesAction,
    limit: number,
  ): Promise<{ readonly result: ChangesResult; readonly versions: readonly ChangeVersions[] }> {
    const entry = this.#find(id);
    const way = entry.state === 'applied' ? 'undo' : 'apply';
    const { list, places } = await this.#call('scan', entry, { limit, way, paths });
    const layer = layerOf(entry);
    const versions = places.map(({ index, inFolder: path, oldRoot }) => ({
      ...(oldRoot !== '' && { before: { folder: oldRoot, path } }),
      after: { folder: join(layer, String(index)), path },
    }));
    return { result: { id, state: entry.state, ...list }, versions };
  }

  async apply(action: ChangesAction): Promise<ChangesResult> {
    const entry = this.#find(action.id);
    if (entry.state === 'applied') throw alreadyApplied(entry.id);
    checkBelow(entry);
    return this.#act('apply', entry, action);
  }

  /** Moves the old versions back; the changes are held afterwards. */
  async undo(action: ChangesAction): Promise<ChangesResult> {
    const entry = this.#find(action.id);
    if (entry.state === 'held') throw notApplied(entry.id);
    markUndone(entry.path);
    return this.#act('undo', entry, action);
  }

  /** Forgets held changes; without `paths` also the versions by which applied ones could be undone. */
  async discard({ id, paths }: ChangesAction): Promise<ChangesResult> {
    const entry = this.#find(id);
    await checkAbove(entry);
    const { list } = await this.#call('scan', entry, { limit: 1_000, way: 'apply', paths });
    if (paths === undefined) await this.#remove(entry.store, entry.path);
    else await this.#removePaths(entry, paths);
    // Discarding does not touch the workspace, so files that were changed since are not conflicts.
    return { id, state: stateOf(entry.path) ?? 'gone', ...list, conflicts: [] };
  }

  /** Recovers and prunes the store at the start of a server, if there are changes. */
  async tidy(isDead: (server: string) => Promise<boolean>): Promise<void> {
    if (!this.#helper.isAvailable || this.#stores().length === 0) return;
    await this.recover(isDead);
    await this.prune();
    await this.#helper.close();
  }

  /**
   * Completes the interrupted work of a killed helper; changes of commands whose server was killed become held. A
   * failed step is retried by the next call: a layer that cannot be removed must not make the others unusable.
   */
  async recover(isDead: (server: string) => Promise<boolean>): Promise<void> {
    for (const store of this.#stores()) {
      await this.#helper.call('recover', store);
      await this.#recoverLayers(store, isDead);
    }
  }

  /**
   * Removes the oldest entries beyond the limits of the settings, and returns their ids. The newest entry stays, even
   * if it exceeds the limit alone, and so do entries on which others are based.
   */
  async prune(now = Date.now()): Promise<readonly string[]> {
    const entries = await this.#entries();
    let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    const removed: string[] = [];
    const below = new Set([
      ...entries.flatMap(({ onTopOf }) => onTopOf),
      ...this.#stores().flatMap(findBelow),
    ]);
    for (const entry of entries) {
      const isOld = now - Date.parse(entry.endedAt) > this.#options.maxAgeMs;
      const isTooMuch =
        (bytes > this.#options.maxBytes || entries.length - removed.length > maxEntries) &&
        entry !== entries.at(-1);
      if ((!isOld && !isTooMuch) || below.has(entry.id)) continue;
      bytes -= entry.bytes;
      await this.#remove(entry.store, entry.path);
      removed.push(entry.id);
    }
    this.#pruned = { at: Date.now(), bytes };
    return removed;
  }

  async close(): Promise<void> {
    await this.#tidying;
    await this.#helper.close();
  }

  // Deferred, because a caller waits for the reply to the command. The next server removes the rest.
  #drop({ store, path }: Layer): void {
    const drop = async () => {
      await sleep(dropAfterMs);
      await this.#remove(store, path);
    };
    this.#tidying = Promise.allSettled([this.#tidying, drop()]).then(() => undefined);
  }

  // Failures are ignored: without `spread`, creating files in layers is only slower.
  #separateLayers(store: string): void {
    if (this.#separatedStores.has(store)) return;
    this.#separatedStores.add(store);
    void this.#helper.call('spread', store).catch(() => {});
  }

  get #main(): string {
    return mainStore(this.#options.stateDir);
  }

  #stores(): readonly string[] {
    return [this.#main, ...findOtherStores(this.#options.stateDir)].filter((store) => existsSync(store));
  }

  async #entries(): Promise<readonly StoredEntry[]> {
    const entries = await Promise.all(this.#stores().map(listEntries));
    return entries.length === 1 ? (entries[0] ?? []) : entries.flat().sort(byEnd);
  }

  #find(id: string): StoredEntry {
    const found = this.#stores().flatMap((store) => readStoredEntry(store, id) ?? [])[0];
    if (!found) throw changesNotFound(id);
    return found;
  }

  async #act(
    way: 'apply' | 'undo',
    entry: StoredEntry,
    { paths, force }: ChangesAction,
  ): Promise<ChangesResult> {
    const { list } = await this.#call('apply', entry, { limit: 1_000, way, paths, force });
    const conflicts = force ? [] : list.conflicts;
    return { id: entry.id, state: stateOf(entry.path) ?? 'gone', ...list, conflicts };
  }

  async #call(
    name: 'scan' | 'apply',
    { store, path, folders, id }: StoredEntry,
    options: Omit<ChangesAction, 'id'> & { readonly limit: number; readonly way: 'apply' | 'undo' },
  ) {
    const { limit, way, paths, force = false } = options;
    const selected = paths ? toHelperPaths(paths, { folders, id }) : [];
    const flags = [force ? '1' : '', name === 'apply' ? '1' : ''];
    const words = [name, store, path, String(limit), way, ...flags, ...selected];
    const reply = await this.#helper.call(...words);
    if (String(reply[0]) === 'unmatched') throw notChanged(paths?.[Number(reply[1])] ?? '', id);
    return parseList(reply, folders);
  }

  async #removePaths({ store, path, folders, id }: StoredEntry, paths: readonly string[]): Promise<void> {
    const inLayer = toHelperPaths(paths, { folders, id }).map((one) => join(path, 'new', one));
    await this.#helper.call('remove', store, ...inLayer);
  }

  async #remove(store: string, path: string): Promise<void> {
    // The layer is renamed first, so that a half-removed layer is never mistaken for changes.
    const removed = join(store, 'layers', `removed.${process.pid}.${this.#created++}`);
    if (!existsSync(path)) return;
    mkdirSync(join(store, 'layers'), { recursive: true, mode: 0o700 });
    renameSync(path, removed);
    await this.#helper.call('remove', store, removed);
  }

  // This runs after the reply; the next server retries a removal that fails here.
  #tidyAfter(store: string, path: string, bytes: number): void {
    this.#pruned.bytes += bytes;
    const isDue = this.#pruned.bytes > this.#options.maxBytes || Date.now() - this.#pruned.at > pruneEveryMs;
    const tidy = async () => {
      await sleep(dropAfterMs);
      await this.#helper.call('remove', store, join(path, 'work'));
      if (isDue) await this.prune();
    };
    this.#tidying = this.#tidying.then(tidy).catch(() => {});
  }

  async #recoverLayers(store: string, isDead: (server: string) => Promise<boolean>): Promise<void> {
    const folder = join(store, 'layers');
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const server = name.slice(0, name.lastIndexOf('.'));
      if (name.startsWith('removed.'))
        await this.#helper.call('remove', store, join(folder, name)).catch(() => {});
      else if (await isDead(server)) await this.#keepOrRemove(store, join(folder, name)).catch(() => {});
    }
  }

  async #keepOrRemove(store: string, path: string): Promise<void> {
    const id = readCommandId(path);
    if (id === undefined || stateOf(path) === undefined || existsSync(entryPath(store, id)))
      return void (await this.#remove(store, path));
    makeFolder(join(store, 'entries'));
    renameSync(path, entryPath(store, id));
  }
}

function toHelperPaths(
  paths: readonly string[],
  { folders, id }: Pick<StoredEntry, 'folders' | 'id'>,
): readonly string[] {
  if (paths.length === 0 || paths.includes('')) throw noPath(id);
  return paths.map((path) => {
    // NUL separates the words of a request to the helper.
    if (path.includes('\0')) throw notChanged(path, id);
    const found = toHelperPath(path, folders);
    if (found === undefined) throw pathOutside(path, id);
    return found;
  });
}

/** The entries on top of which commands run now. */
function findBelow(store: string): readonly string[] {
  const layers = join(store, 'layers');
  return (existsSync(layers) ? readdirSync(layers) : []).flatMap((name) =>
    readLinks(join(layers, name), 'below'),
  );
}
