import type { FoundProgram } from '../../contract/decision.ts';
import type { Outcome } from '../../contract/outcome.ts';

const lookAtProcesses = new Set([
  'ps',
  'pgrep',
  'top',
  'kill',
  'pkill',
  'killall',
  'lsof',
  'fuser',
  'ss',
  'netstat',
]);
const gainRights = new Set([
  'sudo',
  'su',
  'doas',
  'pkexec',
  'passwd',
  'newgrp',
  'fusermount',
  'fusermount3',
  'mount',
  'umount',
]);

/** What a reader must know to make sense of a result: programs that work otherwise than usual under what was enforced. */
export function noticesFor(
  programs: readonly FoundProgram[],
  { enforcement, kept }: Pick<Outcome, 'enforcement' | 'kept'>,
): readonly string[] {
  if (enforcement === null) return [];
  const named = (wanted: ReadonlySet<string>) =>
    programs.map(({ name }) => toBaseName(name)).find((name) => wanted.has(name));
  const looker = enforcement.processes === 'own' ? named(lookAtProcesses) : undefined;
  const gainer = enforcement.setuid ? undefined : named(gainRights);
  return [
    ...kept.map(({ pid, command }) => `${command} (pid ${pid}) stays until nacre ends (keep).`),
    ...(looker
      ? [
          `${looker} saw only processes that this command started (processes: own); processes: host shows all.`,
        ]
      : []),
    ...(gainer
      ? [
          enforcement.sandbox === 'off'
            ? `${gainer} cannot gain rights here (processes: own, level ${enforcement.level}); processes: host lets it.`
            : `${gainer} cannot gain rights here (sandbox: ${enforcement.sandbox}).`,
        ]
      : []),
  ];
}

function toBaseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
