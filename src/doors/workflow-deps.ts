import type { Caller } from '../contract/caller.ts';
import { NacreError } from '../contract/failure.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunContext } from '../engine/call-context.ts';
import { didYouMean } from '../settings/nearest.ts';
import { createId } from '../support/create-id.ts';
import type { Tool } from '../tools/common/tool.ts';
import type { WorkflowDeps } from '../workflows/run-step.ts';

/** What a door brings along for the steps of a workflow. */
export interface WorkflowDoorDeps {
  engine(): Promise<Engine>;
  tools(): Promise<readonly Tool[]>;
  readonly rules: Pick<RunContext, 'rules' | 'cwdRoots'>;
  readonly maxOutputChars: number;
  readonly door: Caller['door'];
}

/** Runs steps under the rules of whoever wrote them, and tools under their own. */
export function createWorkflowDeps({
  engine,
  tools,
  rules,
  maxOutputChars,
  door,
}: WorkflowDoorDeps): WorkflowDeps {
  const owner = createId('workflow');
  return {
    async run(request, { client, ...context }) {
      const howToGetRest = 'Let the step write it to a file.';
      return (await engine()).run(
        { ...request, maxOutputChars },
        { ...rules, ...context, caller: { door, client }, howToGetRest },
      );
    },
    async callTool(name, input, { client, ...context }) {
      const offered = await tools();
      const tool = offered.find((one) => one.name === name);
      if (tool) return tool.call(input, { ...context, owner, caller: { door, client } });
      const names = offered.map((one) => one.name);
      throw new NacreError('invalid_request', `There is no tool ${name}.${didYouMean(name, names)}`, {
        hint: `Tools: ${names.join(', ')}; --tools offers others.`,
      });
    },
    skip: async (command, client, reason) => (await engine()).skip(command, { door, client }, reason),
  };
}
