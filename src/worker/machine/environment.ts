import type { EnvironmentRules } from '../../contract/job.ts';
import { containsPassword, looksSecret } from '../../support/looks-secret.ts';

/** A process environment as `spawn` takes it: every variable has a value. */
export type Environment = Readonly<Record<string, string>>;

/** Splits the server's environment into the variables for commands and the names of withheld ones, which are secrets. */
export function filterEnvironment(
  server: Environment,
  rules: EnvironmentRules,
): { readonly env: Environment; readonly withheld: readonly string[] } {
  const passes = matcher(rules.envPass);
  const extra = matcher(rules.envWithhold);
  const isSecret = ([name, value]: readonly [string, string]) =>
    looksSecret(name) || containsPassword(name, value);
  const withheld = Object.entries(server)
    .filter((entry) => extra(entry[0]) || (isSecret(entry) && !passes(entry[0])))
    .map(([name]) => name);
  const hidden = new Set(withheld);
  const kept = Object.entries(server).filter(([name]) => !hidden.has(name));
  return { env: Object.fromEntries(kept), withheld: withheld.sort() };
}

/**
 * Removes relative entries from a PATH: they would let the working directory decide which program a name runs. An
 * empty PATH means that directory too, and some shells add it if PATH is unset, so then a default PATH is returned.
 */
export function toAbsolutePath(path: string | undefined): string {
  const entries = (path ?? '').split(':').filter((entry) => entry.startsWith('/'));
  return entries.length > 0
    ? entries.join(':')
    : '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';
}

/** The environment of one command: the base, a UTF-8 locale, the caller's variables and the job's marker. */
export function toCommandEnvironment(
  base: Environment,
  additions: Environment,
  marker: Environment,
): Environment {
  return { ...base, ...utf8Locale(base, additions), ...additions, ...marker };
}

/** The base environment of commands whose outputs are pipes. */
export function forPipes(base: Environment): Environment {
  return { ...base, ...quietTools };
}

/** The base environment of commands at a terminal, without the size and type of the server's own terminal. */
export function forTerminal(base: Environment): Environment {
  const { COLUMNS: _cols, LINES: _rows, TERMCAP: _capabilities, ...rest } = base;
  return { ...rest, TERM: 'xterm-256color' };
}

// Without a terminal: no colours, no pagers, and no prompts, which would wait forever.
const quietTools: Environment = {
  NO_COLOR: '1',
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
};

function utf8Locale(base: Environment, additions: Environment): Environment {
  if (['LC_ALL', 'LC_CTYPE', 'LANG'].some((name) => name in additions)) return {};
  const inForce = base.LC_ALL || base.LC_CTYPE || base.LANG;
  if (/utf-?8(?:@|$)/i.test(inForce ?? '')) return {};
  return base.LC_ALL ? { LC_ALL: 'C.UTF-8' } : { LC_CTYPE: 'C.UTF-8', LANG: base.LANG || 'C.UTF-8' };
}

function matcher(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '.*');
    return new RegExp(`^${escaped}$`, 'i');
  });
  return (name) => expressions.some((expression) => expression.test(name));
}
