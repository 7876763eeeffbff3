import { findProtectedPlace } from '../danger/protected-places.ts';
import { knownArg, prefixOf, wordText } from '../words/arg.ts';
import { everyProcess } from '../words/output.ts';
import { baseName } from '../words/paths.ts';
import type { CommandProblem, Invocation } from './survey.ts';
import type { Walk } from './walk.ts';

/**
 * Judges `rm -rf` and `kill` that `xargs` starts with words which filters have changed: `ls / | sed s,^,/, | xargs rm -rf`. The
 * words of the program that printed them are known.
 */
export function judgePiped({ invocations, home }: Walk, source: string): CommandProblem[] {
  const every = invocations.find(killsEvery);
  if (every !== undefined && !selects.test(source)) {
    const { name: program, pos, end } = every;
    return [{ scope: 'danger', rule: 'kill_all', program, reason: killsAll, pos, end }];
  }
  return invocations.filter(startsOnUnknown).flatMap((call): CommandProblem[] => {
    const { name, pos, end } = call;
    const isKill = baseName(name) === 'kill';
    const at = invocations.findIndex((one) => (isKill ? listsProcesses(one) : listsPlace(one, home)));
    // `ls / | grep old | xargs rm -rf` deletes a selection, and `lsof -ti :80 | xargs kill` ends certain processes.
    const others = isKill ? processFinders : selectors;
    if (invocations.some((one) => others.has(baseName(one.name)))) return [];
    if (at < 0 || at > invocations.indexOf(call)) return [];
    return isKill
      ? [{ scope: 'danger', rule: 'kill_all', program: name, reason: killsAll, pos, end }]
      : [{ scope: 'danger', rule: 'recursive_delete', program: name, reason: deletes, pos, end }];
  });
}

const killsAll = 'it kills every process';

/** A loop over all processes usually kills only those that a test selects. */
const selects = /\b(?:if|case|test|continue|break|grep)\b|(?:^|[\s;])\[|&&|\|\|/;

/** `kill` with a word that `read` or `mapfile` took from a list of all processes. */
function killsEvery({ name, args }: Invocation): boolean {
  if (!name.endsWith('kill') || baseName(name) !== 'kill') return false;
  return args.some(
    ({ pieces: [piece] }) => typeof piece === 'object' && piece.from?.startsWith(everyProcess),
  );
}

const selectors = new Set('grep egrep rg head tail awk shuf'.split(' '));
const processFinders = new Set('lsof ps pgrep pidof fuser ss'.split(' '));
const deletes = 'it deletes what is in a home or system directory';

function startsOnUnknown({ name, args, via }: Invocation): boolean {
  if (via === undefined || !/^g?xargs$|^parallel$/.test(via)) return false;
  const isRecursive =
    baseName(name) === 'rm' && args.some((arg) => /^-[a-zA-Z]*[rR]|^--rec/.test(prefixOf(arg)));
  return (isRecursive || baseName(name) === 'kill') && args.some(({ text }) => text === undefined);
}

function listsProcesses({ name, args }: Invocation): boolean {
  const base = baseName(name);
  if (base === 'seq') return Math.max(...args.map((arg) => Number(wordText(arg)) || 0)) > 999;
  return (
    /^(?:ls|find|printf|echo)$/.test(base) &&
    args.some((arg) => /^\/proc\/?(?:\[0-9\].*)?$/.test(prefixOf(arg)))
  );
}

/** Only the folder itself counts: `ls /var/log` names what may be deleted. */
function listsPlace({ name, args, cwd }: Invocation, home: string): boolean {
  const listing = /^(?:ls|dir)$/.test(baseName(name));
  if (!/^(?:ls|dir|printf|echo)$/.test(baseName(name))) return false;
  return args.some((arg) => {
    if (prefixOf(arg).startsWith('-')) return false;
    const place =
      findProtectedPlace(arg, cwd, home) ?? findProtectedPlace(knownArg(prefixOf(arg), arg), cwd, home);
    return place?.kind === 'root' || (place?.kind === 'home' && (place.content || listing));
  });
}
