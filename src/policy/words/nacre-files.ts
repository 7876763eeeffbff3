import { globMatches } from './glob.ts';
import { baseName } from './paths.ts';

/**
 * nacre's own settings, state and audit log, which no command may change under any list: a command that can write them
 * could widen the list for the next one. Names count as well as places, because a link may lead there.
 */
export class NacreFiles {
  private readonly paths: readonly string[];
  private readonly names: readonly string[];

  constructor(paths: readonly string[], home: string) {
    this.paths = [...new Set([`${home}/.config/nacre`, `${home}/.local/state/nacre`, ...paths])];
    this.names = [...new Set(this.paths.map(baseName))];
  }

  /** A quick check that most words fail: whether a text contains the name of one of the files. */
  mayName(text: string): boolean {
    return this.names.some((name) => text.includes(name));
  }

  /** Returns true if a resolved path, or a pattern, is one of these files or in one of these folders. */
  include(path: string): boolean {
    if (ownNames.test(path)) return true;
    if (this.paths.some((own) => path === own || path.startsWith(`${own}/`))) return true;
    return /[*?[]/.test(path) && this.paths.some((own) => mayReach(path, own));
  }
}

const ownNames = /\/(?:\.config|\.local\/state)\/nacre(?:\/|$)|\/nacre\/config\.yaml$/;

/** Returns true if a pattern may match the path or something in it, component by component. */
function mayReach(pattern: string, own: string): boolean {
  const wanted = own.split('/');
  const given = pattern.split('/');
  return given.length >= wanted.length && wanted.every((name, at) => globMatches(given[at] ?? '', name));
}
