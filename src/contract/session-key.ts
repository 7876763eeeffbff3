/** Whose persistent shells are meant: an owner's, or those of one of its connections. */
export interface SessionHolder {
  readonly owner: string;
  readonly connection?: string | undefined;
}

/** The key of a holder's persistent shell; two holders never share one. */
export function toSessionKey(holder: SessionHolder, name: string): string {
  return `${toPrefix(holder)}${name.replace(/[%/]/g, encodeURIComponent)}`;
}

/** The name of the persistent shell with a key, where the holder has it; undefined for another's. */
export function nameOfSession(key: string, holder: SessionHolder): string | undefined {
  const prefix = toPrefix(holder);
  const name = key.slice(prefix.length);
  // One owner's name may begin with another's: what follows is the name of a shell where it has no slash.
  return key.startsWith(prefix) && !name.includes('/') ? decodeURIComponent(name) : undefined;
}

function toPrefix({ owner, connection }: SessionHolder): string {
  return connection === undefined ? `${owner}/` : `${owner}/${connection}/`;
}
