import { type Arg, prefixOf } from './arg.ts';
import { baseName } from './paths.ts';

/**
 * Returns true if other programs would misread the name of a file: `--to-command=x` is an option of `tar -x *`, `a -b` one of
 * `tar -x $(ls)`, and a name with a newline looks like two in a listing.
 */
export function isMisleadingPath(path: Arg): boolean {
  return misleads.test(baseName(prefixOf(path)));
}

/** Like `isMisleadingPath`, but for every folder in the path, because `mkdir -p` creates all of them. */
export function hasMisleadingFolder(path: Arg): boolean {
  return prefixOf(path)
    .split('/')
    .some((name) => misleads.test(name));
}

const misleads = /^-.|\n|\s-\S/;
