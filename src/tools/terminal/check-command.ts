import { z } from 'zod';
import { commandText, cwdText } from '../../contract/request.ts';
import type { Checked } from '../../engine/journey/check.ts';
import { toYamlReply } from '../../output/yaml-reply.ts';
import { defineTool } from '../common/define-tool.ts';
import { omitUndefined } from '../common/describe-outcome.ts';
import type { AllowedCheck, Tool, ToolReply } from '../common/tool.ts';
import { terminalFailure } from './reply.ts';

const input = z.strictObject({
  command: commandText.describe('Bash command line'),
  cwd: cwdText.optional(),
});

/** Input of `check_command`. */
export type CheckCommandInput = z.input<typeof input>;

const output = z.looseObject({
  verdict: z.enum(['allow', 'ask', 'deny']).optional(),
  rule: z.string().optional(),
  reason: z.string().optional(),
  hint: z.string().optional(),
  remedy: z.string().optional().describe('Only the user can do that'),
  programs: z.array(z.looseObject({ name: z.string() })).optional(),
});

/** `check_command`: reports what policy would decide about a command, without running it. */
export function checkCommand(check: AllowedCheck): Tool {
  return defineTool({
    name: 'check_command',
    title: 'Check a command',
    description:
      'Says whether a command would be allowed, which programs it would run and why it would be refused. Runs nothing. Example: {"command":"npm test | tee log"}',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    choosesMachine: true,
    input,
    output,
    async run({ command, cwd }, context) {
      return toReply(await check({ command: { kind: 'shell', script: command }, cwd }, context));
    },
    fail: terminalFailure,
  });
}

function toReply({ decision, found }: Checked): ToolReply {
  const { verdict, rule, reason, hint, remedy } = decision;
  const programs = decision.programs.map(({ name, pos, end, via }) => ({
    name,
    at: `${pos}-${end}`,
    ...(found[name] && { path: found[name] }),
    ...(via !== undefined && { started_by: via }),
  }));
  const structured = omitUndefined<string | typeof programs>({
    verdict,
    rule,
    reason,
    hint,
    remedy,
    programs,
  });
  return { text: toYamlReply(structured), structured, isError: false };
}
