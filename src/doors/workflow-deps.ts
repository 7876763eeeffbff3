import type { Caller } from '../contract/caller.ts';
import { NacreError } from '../contract/failure.ts';
import type { RunContext } from '../engine/context/call-context.ts';
import type { Engine } from '../engine/engine.ts';
import { didYouMean } from '../settings/nearest.ts';
import { createId } from '../support/ids.ts';
import type { Tool } from '../tools/common/tool.ts';
import type { WorkflowDeps } from '../workflows/run-step.ts';

/** Parts of a door that workflow steps need. */
export interface WorkflowEngineDeps {
  engine(): Promise<Engine>;
  tools(): Promise<readonly Tool[]>;
  /** Rules for steps with a `command`; tools have their own. */
  readonly rules: Pick<RunContext, 'rules' | 'rulesOn' | 'cwdRoots' | 'room'>;
  readonly maxOutputChars: number;
  readonly door: Caller['door'];
}

/** Connects a workflow to the engine and the tools of a door. */
export function createWorkflowDeps({
  engine,
  tools,
  rules,
  maxOutputChars,
  door,
}: WorkflowEngineDeps): WorkflowDeps {
  const owner = createId('workflow');
  // Steps with a command and steps with a tool share loopback and /tmp.
  const { room = owner } = rules;
  return {
    async run(request, { client, ...context }) {
      const howToGetRest = 'Write it to a file in the step.';
      return (await engine()).run(
        { ...request, maxOutputChars },
        { ...rules, ...context, room, caller: { door, client }, howToGetRest },
      );
    },
    async callTool(name, input, { client, ...context }) {
      const offered = await tools();
      const tool = offered.find((one) => one.name === name);
      if (tool) return tool.call(input, { ...context, owner, room, caller: { door, client } });
      const names = offered.map((one) => one.name);
      throw new NacreError('invalid_request', `There is no tool ${name}.${didYouMean(name, names)}`, {
        hint: `Use one of ${names.join(', ')}, or enable others with --tools.`,
      });
    },
    skip: async (command, client, reason) => (await engine()).skip(command, { door, client }, reason),
  };
}
