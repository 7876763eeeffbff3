import { z } from 'zod';
import type { Command } from '../../contract/command.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { commandText, cwdText, envMap, inputText } from '../../contract/request.ts';
import type { Checked } from '../../engine/check.ts';
import type { Engine } from '../../engine/engine.ts';
import type { RunContext } from '../../engine/run.ts';
import { receive } from '../../tools/receive.ts';
import { type ExecutionContext, toToolContext } from './execution-context.ts';

/** How a program's own command runs. */
export interface RunOptions
  extends Pick<ExecutionContext, 'workingDir' | 'dryRun' | 'env' | 'signal' | 'onOutput'> {
  /** Text for the command's stdin, which is empty without it. */
  readonly input?: string | undefined;
  /** After this the command is ended; without it there is no limit. */
  readonly timeoutMs?: number | undefined;
  /** Most characters of stdout and stderr together. */
  readonly maxOutputChars?: number | undefined;
}

/** Commands that the program itself asks for, without a tool in between. */
export interface OwnCommands {
  /** Runs text for bash, or a program with its arguments; rejects with a `NacreError` for what kept it from running. */
  run(command: string | readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Tells what would become of a command; nothing runs. */
  check(
    command: string | readonly string[],
    options?: Pick<RunOptions, 'workingDir' | 'env'>,
  ): Promise<Checked>;
}

const limits = z.strictObject({
  command: z.union(
    [commandText, z.array(commandText).min(1)],
    'must be text, or a program and its arguments',
  ),
  input: inputText.optional(),
  timeoutMs: z.int().min(1).max(86_400_000).optional(),
  maxOutputChars: z.int().min(1).max(200_000).optional(),
});
const place = z.strictObject({
  command: limits.shape.command,
  workingDir: cwdText.optional(),
  env: envMap.optional(),
});

/** Makes these calls of an engine and the rules that bind the program itself. */
export function ownCommands(
  open: () => Promise<Engine>,
  rules: Pick<RunContext, 'rules' | 'cwdRoots'>,
  maxOutputChars: number,
): OwnCommands {
  return {
    async run(command, { input, timeoutMs, maxOutputChars: most, ...rest } = {}) {
      const given = receive('run', limits, { command, input, timeoutMs, maxOutputChars: most });
      const { workingDir: cwd, env, ...context } = toToolContext(rest);
      const engine = await open();
      return engine.run(
        {
          command: toCommand(given.command),
          input: given.input,
          cwd,
          env,
          timeoutMs: given.timeoutMs ?? null,
          maxOutputChars: given.maxOutputChars ?? maxOutputChars,
        },
        { ...context, ...rules, howToGetRest: 'Ask for more with maxOutputChars, or listen with onOutput.' },
      );
    },
    async check(command, options = {}) {
      const { workingDir: cwd, env, ...given } = receive('check', place, { ...options, command });
      return (await open()).check({ command: toCommand(given.command), cwd, env }, rules);
    },
  };
}

function toCommand(command: string | readonly string[]): Command {
  if (typeof command === 'string') return { kind: 'shell', script: command };
  const [program = '', ...args] = command;
  return { kind: 'argv', argv: [program, ...args] };
}
