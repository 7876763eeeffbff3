import { maxCommandBytes } from '../../contract/command.ts';
import type { Decision } from '../../contract/decision.ts';
import type { Facts } from '../../contract/facts.ts';
import type { CommandRequest } from '../../contract/request.ts';
import { decide } from '../../policy/decide.ts';
import type { CommandContext } from '../../policy/plan.ts';
import { understand } from '../../policy/understand.ts';
import type { InputJudge } from '../../sessions/command-registry.ts';
import type { RunContext } from '../run.ts';

/** What a judge goes by. */
export interface JudgeOptions {
  readonly request: Pick<CommandRequest, 'command' | 'env'>;
  readonly facts: Facts;
  readonly rules: RunContext['rules'];
}

/**
 * Makes the judge of what is typed into a command that runs it, such as a shell; undefined for all others, whose input is
 * their own business. All that was typed is judged together, because a shell remembers.
 */
export function createInputJudge(options: JudgeOptions): InputJudge | undefined {
  if (!readsCommands(options)) return undefined;
  const onlyListed = options.rules.allow.kind !== 'all';
  let typed = '';
  return {
    onlyListed,
    judge(text) {
      if (onlyListed && !text.endsWith('\n')) return refusal('incomplete_input', incomplete);
      if (typed.length + text.length > maxCommandBytes) return refusal('too_large', tooMuch);
      const whole = decideOn(options, { kind: 'text', text: typed + text });
      if (onlyListed) return whole;
      // Where everything may run, half a command may be typed, too; only danger counts. It may stand in this half, and what
      // was typed before may be gone by now, deleted or interrupted.
      const judged = [whole, decideOn(options, { kind: 'text', text })];
      const stopped = judged.find(({ verdict, rule }) => verdict !== 'allow' && rule !== 'unparsable');
      return stopped ?? { ...whole, verdict: 'allow' };
    },
    typed(text) {
      const isWhole = decideOn(options, { kind: 'text', text: typed + text }).rule !== 'unparsable';
      typed = isWhole ? typed + text : text;
    },
  };
}

// Whoever reads its input as commands would do this; nobody else would.
const probe = { kind: 'text', text: 'rm -rf /\n' } as const;

function readsCommands(options: JudgeOptions): boolean {
  const { allow, danger, policy = [], confirm = 'never' } = options.rules;
  if (allow.kind === 'all' && danger === 'off' && policy.length === 0 && confirm === 'never') return false;
  return [probe, { kind: 'later' } as const].some((stdin) => decideOn(options, stdin).verdict !== 'allow');
}

function decideOn({ request, facts, rules }: JudgeOptions, stdin: CommandContext['stdin']): Decision {
  return decide(understand(request.command, { env: request.env, stdin }), facts, rules);
}

const incomplete = {
  reason: 'Half a command is not allowed in a shell while only listed programs are.',
  hint: 'Type complete commands and end them with a line end.',
};
const tooMuch = {
  reason: `More than ${maxCommandBytes} characters of commands are not allowed in one shell.`,
  hint: 'Start another shell, or run a script.',
};

function refusal(rule: string, words: Pick<Decision, 'reason' | 'hint'>): Decision {
  return { verdict: 'deny', rule, ...words, programs: [] };
}
