import type { PolicyRule, Rules } from '../contract/decision.ts';
import { npmPackages, presets } from '../policy/presets.ts';

const { 'dev-node': node, 'dev-python': python, 'dev-go': go, 'dev-rust': rust } = presets;

// Programs in every development preset. Models know them, so a few examples are enough.
const usual = node.allowedCommands.filter((name) =>
  [python, go, rust].every(({ allowedCommands }) => allowedCommands.includes(name)),
);
const examples = [
  'cat',
  'cp',
  'curl',
  'find',
  'git',
  'grep',
  'ls',
  'make',
  'mkdir',
  'mv',
  'rm',
  'sed',
  'tar',
];
const usefulPresets = Object.keys(presets)
  .filter((name) => name !== 'none')
  .join(', ');
const maxExceptions = 8;
const maxListChars = 620;

/** One or two sentences about the programs that may run: all, none, or a list without the usual ones. */
export function describePrograms(
  rules: Pick<Rules, 'allow' | 'allowSetting' | 'preset' | 'danger' | 'policy'>,
): string {
  const { allow, allowSetting, preset, danger, policy = [] } = rules;
  if (allow.kind === 'all')
    return danger === 'off'
      ? 'Every program may run.'
      : 'Every program may run; only commands that would destroy the system are refused.';
  const ruled = (verdict: string) =>
    policy.filter((rule) => rule.verdict === verdict && isAboutProgram(rule)).map(({ program }) => program);
  const listed = [...(allow.kind === 'names' ? allow.names : []), ...ruled('allow')];
  const denied = new Set(ruled('deny'));
  const names = listed.filter((name) => !denied.has(name));
  if (listed.length === 0 && !policy.some(({ verdict }) => verdict === 'allow'))
    return `Every command is refused, because ${allowSetting} is unset or empty. Ask the user to choose programs with nacre init, or to set NACRE_PRESET to ${usefulPresets}.`;
  const origin = preset === undefined ? '' : ` (preset ${preset})`;
  if (names.length === 0) return 'No program may run, except by the rules.';
  return `Only these programs may run${origin}: ${listPrograms([...new Set(names)])}. cd, export and other builtins that only control the shell are always allowed.`;
}

/** Whether a rule applies to every use of a program, not only to some arguments or one folder. */
export function isAboutProgram({ args, cwd }: PolicyRule): boolean {
  return args === undefined && cwd === undefined;
}

function listPrograms(names: readonly string[]): string {
  const missing = usual.filter((name) => !names.includes(name));
  if (missing.length > maxExceptions) return cut(names.filter(isNotRepeated(names)));
  const shown = examples.filter((name) => names.includes(name)).join(', ');
  const exceptions = missing.length === 0 ? '' : `, but not ${missing.join(', ')}`;
  const hasPackages = npmPackages.every((name) => names.includes(name));
  const others = names
    .filter((name) => !usual.includes(name) && !(hasPackages && npmPackages.includes(name)))
    .filter(isNotRepeated(names));
  const packages = hasPackages ? ['usual npm packages (prisma, rimraf and others)'] : [];
  const more = others.length === 0 ? '' : `; and ${[...packages, cut(others)].join(', ')}`;
  return `the usual ones for files, text and scripts (${shown} and others${exceptions})${more}`;
}

// `node_modules/.bin/tsc` adds nothing if `tsc` is listed.
function isNotRepeated(names: readonly string[]): (name: string) => boolean {
  return (name) => {
    const slash = name.lastIndexOf('/');
    return slash < 0 || !names.includes(name.slice(slash + 1));
  };
}

function cut(names: readonly string[]): string {
  let chars = 0;
  const shown = names.filter((name) => {
    chars += name.length + 2;
    return chars <= maxListChars;
  });
  const left = names.length - shown.length;
  return left === 0 ? shown.join(', ') : `${shown.join(', ')} and ${left} more`;
}
