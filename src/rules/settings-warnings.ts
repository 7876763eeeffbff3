import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { canMatch } from '../policy/entry-words.ts';
import { toOneLine } from '../support/escape-controls.ts';
import { toFamilies } from '../tools/settings.ts';
import { type Resolved, rulesFor, rulesForFamily } from './rules-for.ts';

/** All warnings about settings, for a server that offers tools. */
export function listWarnings(resolved: Resolved, cwd: string): readonly string[] {
  return [...listGeneralWarnings(resolved, cwd), ...warnIfNothingRuns(resolved)];
}

/** The warnings that concern every door. */
export function listGeneralWarnings(resolved: Resolved, cwd: string): readonly string[] {
  return [
    ...resolved.warnings,
    ...warnOfRoots(resolved, cwd),
    ...warnOfIgnoredRules(resolved),
    ...warnOfDeadEntries(resolved),
  ];
}

/** Warns that the offered tools would refuse every command. */
export function warnIfNothingRuns(resolved: Resolved): readonly string[] {
  const families = toFamilies(resolved.values.tools).map((family) => rulesForFamily(family, resolved).rules);
  const { policy = [] } = resolved;
  if (families.some(({ allow }) => allow.kind !== 'none')) return [];
  if (policy.some(({ verdict }) => verdict === 'allow')) return [];
  const why = resolved.values.allowedCommands === undefined ? 'is not set' : 'allows no program';
  return [`ALLOWED_COMMANDS ${why}, so every command is refused. ${howToSet}`];
}

const howToSet =
  'Choose a preset (--preset dev, NACRE_PRESET=dev), or list programs (ALLOWED_COMMANDS=git,ls,cat; * for all).';

/** Warns about `allow` rules in the project's `nacre.yaml`, which can only tighten. */
export function warnOfIgnoredRules({ limits }: Resolved): readonly string[] {
  const ignored = (limits.policy ?? []).filter(({ verdict }) => verdict === 'allow');
  if (ignored.length === 0) return [];
  const programs = [...new Set(ignored.map(({ program }) => program))].join(', ');
  return [
    `The project's nacre.yaml has rules that allow ${programs}; they are ignored because a project file can only tighten. Move them to your own settings file.`,
  ];
}

/** Warns about entries of the lists of programs that no command can match, such as `git*` or `ls | wc`. */
export function warnOfDeadEntries({ values }: Resolved): readonly string[] {
  const lists = {
    ALLOWED_COMMANDS: values.allowedCommands,
    NACRE_SHELL_EXECUTE_ALLOWED_COMMANDS: values.shellExecuteAllowedCommands,
    SHELL_ALLOWLIST: values.shellAllowlist,
  };
  return Object.entries(lists).flatMap(([setting, entries = []]) => {
    const dead = entries.filter((entry) => !canMatch(entry)).map(toOneLine);
    if (dead.length === 0) return [];
    return [
      `${setting} lists ${dead.join(', ')}, which no command can match: an entry is the name of a program, alone or with its first arguments (git status), without patterns, quotes or operators.`,
    ];
  });
}

/** T8: an unresolvable root in `allowed_cwd_roots` does not stop the start; it causes this warning. */
export function warnOfRoots(resolved: Resolved, cwd: string): readonly string[] {
  const { values, limits } = resolved;
  const families: readonly string[] = toFamilies(values.tools);
  const own = [...values.shellExecuteCwdRoots, ...(limits.shellExecuteCwdRoots ?? [])];
  const missing = (roots: readonly string[]) => roots.filter((root) => !isDirectory(resolve(cwd, root)));
  return [
    {
      setting: 'ALLOWED_CWD_ROOTS',
      field: 'cwd',
      roots: missing(rulesFor('terminal', resolved).cwdRoots.flat()),
    },
    {
      setting: 'NACRE_SHELL_EXECUTE_CWD_ROOTS',
      field: 'working_directory',
      roots: families.includes('shell-execute') ? missing(own) : [],
    },
  ].flatMap(({ setting, field, roots }) =>
    roots.length === 0
      ? []
      : [
          `${setting} lists ${roots.join(', ')}, which is not an existing directory; requests that set ${field} are refused.`,
        ],
  );
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
