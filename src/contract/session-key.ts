import type { Caller } from './caller.ts';

/** The owner of persistent shells: all callers with that owner id, or only one of its connections. */
export interface SessionOwner {
  readonly owner: string;
  readonly connection?: string | undefined;
}

/**
 * Identifies a client across restarts: the server's project folder, its token or user, and the name of the client. It
 * contains no id that is new in every process, such as the owner of `nacre mcp`.
 */
export function toIdentity(
  { caller, owner }: { readonly caller: Caller; readonly owner: string },
  project: string,
): string {
  // The name of a token may end in hex digits, too, and must stay whole.
  const kind = owner.replace(/^([a-z]+)_[0-9a-f]{12}$/, '$1');
  return JSON.stringify([project, kind, caller.door === 'mcp' ? caller.client : caller.door]);
}

/** The project folder of an identity; undefined if it was not made by `toIdentity`. */
export function toProject(identity: string): string | undefined {
  try {
    const [project]: unknown[] = JSON.parse(identity);
    return typeof project === 'string' ? project : undefined;
  } catch {
    return undefined;
  }
}

/** The key of the room in which an owner's commands, or those of one of its connections, share loopback and /tmp. */
export function toRoomKey({ owner, connection }: SessionOwner): string {
  return connection === undefined ? owner : `${owner}/${connection}`;
}

/** The key of an owner's persistent shell; keys of different owners never collide. */
export function toSessionKey(owner: SessionOwner, name: string): string {
  return `${toPrefix(owner)}${name.replace(/[%/@]/g, encodeURIComponent)}`;
}

/** The name of the persistent shell with this key; undefined if another owner has it. */
export function toSessionName(key: string, owner: SessionOwner): string | undefined {
  const prefix = toPrefix(owner);
  const name = key.slice(prefix.length);
  // Owner `http` is a prefix of owner `http/one`. `toSessionKey` escapes `/` in names, so a slash means another owner.
  return key.startsWith(prefix) && !name.includes('/') ? decodeURIComponent(name) : undefined;
}

function toPrefix({ owner, connection }: SessionOwner): string {
  return connection === undefined ? `${owner}/` : `${owner}/${connection}/`;
}

/** The key of a persistent shell on another than the default machine; its name reads `NAME@MACHINE`. */
export function toKeyOn(key: string, machine: string): string {
  return `${key}%40${machine}`;
}

/** The parts of `toKeyOn`; undefined if the key's name does not end in the name of a machine. */
export function fromKeyOn(
  key: string,
  machines: readonly string[],
): { readonly key: string; readonly machine: string } | undefined {
  const at = key.lastIndexOf('%40');
  const machine = key.slice(at + 3);
  return at > key.lastIndexOf('/') && machines.includes(machine)
    ? { key: key.slice(0, at), machine }
    : undefined;
}
