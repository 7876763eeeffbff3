import { type Command, type CommandContext, maxCommandBytes } from '../../contract/command.ts';
import type { Decision, Rules } from '../../contract/decision.ts';
import type { Facts } from '../../contract/facts.ts';
import { decide } from '../../policy/decide.ts';
import { understand } from '../../policy/understand.ts';
import type { InputJudge } from '../../sessions/command-registry.ts';

/** The command that reads the input, and what `decide` needs. */
export interface JudgeOptions {
  readonly command: Command;
  readonly env: Readonly<Record<string, string>>;
  readonly facts: Facts;
  readonly rules: Rules;
}

/**
 * Creates the judge of a command that executes its stdin, such as a shell; undefined for all others. It judges
 * everything typed so far together, because a shell remembers functions and variables.
 */
export function createInputJudge(options: JudgeOptions): InputJudge | undefined {
  if (!executesStdin(options)) return undefined;
  const onlyListed = options.rules.allow.kind !== 'all';
  let typed = '';
  return {
    onlyListed,
    judge(text) {
      if (onlyListed && !text.endsWith('\n')) return denial('incomplete_input', incomplete);
      if (typed.length + text.length > maxCommandBytes) return denial('too_large', tooLong);
      const whole = decideOn(options, { kind: 'text', text: typed + text });
      if (onlyListed) return whole;
      // Without a list, half a command may be typed too (`unparsable`), and only dangers count. The new text is also
      // judged alone: what was typed before may have been deleted or interrupted by now.
      const judged = [whole, decideOn(options, { kind: 'text', text })];
      const objection = judged.find(({ verdict, rule }) => verdict !== 'allow' && rule !== 'unparsable');
      return objection ?? { ...whole, verdict: 'allow' };
    },
    typed(text) {
      const isWhole = decideOn(options, { kind: 'text', text: typed + text }).rule !== 'unparsable';
      typed = isWhole ? typed + text : text;
    },
  };
}

// Probe: if policy objects to this text on stdin, the command executes its stdin.
const probe = { kind: 'text', text: 'rm -rf /\n' } as const;

function executesStdin(options: JudgeOptions): boolean {
  const { allow, danger, policy = [], confirm = 'never' } = options.rules;
  if (allow.kind === 'all' && danger === 'off' && policy.length === 0 && confirm === 'never') return false;
  return [probe, { kind: 'later' } as const].some((stdin) => decideOn(options, stdin).verdict !== 'allow');
}

function decideOn({ command, env, facts, rules }: JudgeOptions, stdin: CommandContext['stdin']): Decision {
  return decide(understand(command, { env, stdin }), facts, rules);
}

const incomplete = {
  reason: 'An incomplete command is not allowed in a shell while only listed programs may run.',
  hint: 'Type complete commands and end them with a newline.',
};
const tooLong = {
  reason: `More than ${maxCommandBytes} characters of commands are not allowed in one shell.`,
  hint: 'Start another shell, or run a script.',
};

function denial(rule: string, words: Pick<Decision, 'reason' | 'hint'>): Decision {
  return { verdict: 'deny', rule, ...words, programs: [] };
}
