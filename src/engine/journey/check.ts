import type { Decision } from '../../contract/decision.ts';
import type { CommandRequest } from '../../contract/request.ts';
import { decide } from '../../policy/decide.ts';
import { decideCwd } from '../../policy/decide-place.ts';
import { understand } from '../../policy/understand.ts';
import type { RunContext } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';

/** Result of `check`: the decision, and where the programs are. */
export interface Checked {
  readonly decision: Decision;
  readonly cwd: string;
  /** Path of each program in the server's `PATH`; null if it is not there. */
  readonly found: Readonly<Record<string, string | null>>;
}

/** The same stages as `admit`, without records: parses, inspects and judges a command that does not run. */
export async function check(
  { backend }: Pick<EngineDeps, 'backend'>,
  request: Pick<CommandRequest, 'command' | 'on' | 'cwd' | 'env'>,
  {
    rules,
    cwdRoots,
    cwdNames,
    judgeDefaultCwd,
  }: Pick<RunContext, 'rules' | 'cwdRoots' | 'cwdNames' | 'judgeDefaultCwd'>,
): Promise<Checked> {
  const plan = understand(request.command, { env: request.env, stdin: { kind: 'none' } });
  const facts = await backend.inspect({
    machine: request.on,
    cwd: request.cwd,
    roots: cwdRoots.flat(),
    programs: plan.programs,
  });
  const cwd = decideCwd(facts, cwdRoots, {
    given: request.cwd !== undefined,
    judgeDefault: judgeDefaultCwd,
    names: cwdNames,
  });
  return { decision: decide(plan, facts, rules), cwd, found: facts.programs };
}
