import { localMachine } from '../contract/machine.ts';
import type { JudgedPrograms } from '../doors/control/judged-programs.ts';
import type { ServerDescription } from '../doors/door.ts';
import type { Engine } from '../engine/engine.ts';
import type { LiveSettings } from '../rules/live-settings.ts';
import { rulesForFamily } from '../rules/rules-for.ts';
import { toFamilies } from '../tools/settings.ts';

/** The parts of a server that `judgePrograms` uses. */
export interface JudgeDeps {
  readonly cwd: string;
  engine(): Promise<Engine>;
  live(): LiveSettings;
  describe(): ServerDescription;
}

/** Applies a changed settings file, and judges each program for this server's agents; `nacre allow` and `deny` show the result. */
export async function judgePrograms(
  deps: JudgeDeps,
  programs: readonly string[],
  cwd: string | undefined,
): Promise<JudgedPrograms> {
  await deps.live().refresh();
  const resolved = deps.live().now();
  const [family = 'terminal'] = toFamilies(resolved.values.tools);
  const rules = rulesForFamily(family, resolved);
  const engine = await deps.engine();
  const judged = programs.map(async (program) => {
    const { decision } = await engine.check(
      { command: { kind: 'shell', script: program }, on: localMachine, cwd },
      rules,
    );
    return { program, verdict: decision.verdict, reason: decision.reason };
  });
  const { source, where } = resolved.origins.allowedCommands;
  return {
    cwd: deps.cwd,
    clients: deps.describe().clients,
    list: { source, where },
    programs: await Promise.all(judged),
  };
}
