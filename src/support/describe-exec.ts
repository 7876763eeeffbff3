import type { ExecList, SandboxName } from '../contract/isolation.ts';

/** Describes what `exec: auto` enforces under a list; if nothing, why, and whether the sandbox limits programs instead. */
export function describeAutoExec(list: ExecList | undefined, sandbox: SandboxName): string {
  if (list === undefined) return 'nothing is enforced by the kernel, because every program is allowed';
  if (list.open.length === 0) return 'the kernel executes only the listed programs and their helpers';
  // Users know programs by name rather than by path.
  const [paths, names] = [true, false].map((isPath) =>
    list.open.filter((one) => one.includes('/') === isPath),
  );
  const shown = [...(names ?? []), ...(paths ?? [])].slice(0, shownPrograms).join(', ');
  const more = list.open.length - shownPrograms;
  const rest = more > 0 ? ` and ${more} more` : '';
  return `nothing is enforced by the kernel, because listed programs may run others (${shown}${rest}); ${
    sandbox === 'off' ? 'set sandbox to limit them' : `the sandbox ${sandbox} limits them`
  }`;
}

const shownPrograms = 5;

/** One sentence for each program that the kernel refused to execute, with the next step. */
export function describeDeniedPrograms(programs: readonly string[], isInSession: boolean): readonly string[] {
  // Landlock rules cannot be widened in a running shell.
  const how = isInSession ? 'nacre allow, which applies to new shells' : 'nacre allow';
  const names = new Set(programs.map((path) => path.slice(path.lastIndexOf('/') + 1)));
  return [...names].map(
    (name) => `${name} was stopped by the kernel: not listed. The user can add it with ${how}.`,
  );
}
