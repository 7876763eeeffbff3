import { z } from 'zod';
import type { Command } from '../../contract/command.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { commandText, directoryText, envMap, inputText } from '../../contract/request.ts';
import type { RunContext } from '../../engine/context/call-context.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Checked } from '../../engine/journey/check.ts';
import { receive } from '../../tools/common/define-tool.ts';
import { type ExecutionContext, toToolContext, workingDirNames } from './execution-context.ts';
import { requireObject } from './require-object.ts';

/** Options of `Nacre.run`. */
export interface RunOptions
  extends Pick<ExecutionContext, 'on' | 'workingDir' | 'dryRun' | 'env' | 'signal' | 'onOutput'> {
  /** Text for stdin; empty by default. */
  readonly input?: string | undefined;
  /** Kills the command after this time; no limit by default. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of characters of stdout and stderr together; `max_output_chars` of the settings by default. */
  readonly maxOutputChars?: number | undefined;
}

/** Commands that a program runs directly, without a tool. */
export interface ProgramCommands {
  /** Runs bash text, or a program with its arguments; rejects with a `NacreError` if the command could not run. */
  run(command: string | readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Reports what policy would decide about a command; nothing runs. */
  check(
    command: string | readonly string[],
    options?: Pick<RunOptions, 'on' | 'workingDir' | 'env'>,
  ): Promise<Checked>;
}

const runSchema = z.strictObject({
  command: z.union(
    [commandText, z.array(commandText).min(1)],
    'must be bash text, or a program and its arguments',
  ),
  input: inputText.optional(),
  timeoutMs: z.int().min(1).max(86_400_000).optional(),
  maxOutputChars: z.int().min(1).max(200_000).optional(),
});
const checkSchema = z.strictObject({
  command: runSchema.shape.command,
  on: z.string().min(1).max(32).optional(),
  workingDir: directoryText('workingDir').optional(),
  env: envMap.optional(),
});

/** Creates `run` and `check` for an engine, under the rules for the program's own commands. */
export function createProgramCommands(
  open: () => Promise<Engine>,
  rules: Pick<RunContext, 'rules' | 'rulesOn' | 'cwdRoots' | 'room'>,
  maxOutputChars: number,
): ProgramCommands {
  return {
    async run(command, options = {}) {
      const { input, timeoutMs, maxOutputChars: maxChars, ...rest } = requireObject(options, 'run');
      const args = receive('run', runSchema, { command, input, timeoutMs, maxOutputChars: maxChars });
      const { on, workingDir: cwd, env, ...context } = toToolContext(rest, 'the options of run');
      const engine = await open();
      return engine.run(
        {
          command: toCommand(args.command),
          on,
          input: args.input,
          cwd,
          env,
          timeoutMs: args.timeoutMs ?? null,
          maxOutputChars: args.maxOutputChars ?? maxOutputChars,
        },
        {
          ...context,
          ...rules,
          cwdNames: workingDirNames,
          howToGetRest: 'Pass a larger maxOutputChars, or listen with onOutput.',
        },
      );
    },
    async check(command, options = {}) {
      const {
        on,
        workingDir: cwd,
        env,
        ...args
      } = receive('check', checkSchema, {
        ...requireObject(options, 'check'),
        command,
      });
      return (await open()).check(
        { command: toCommand(args.command), on, cwd, env },
        { ...rules, cwdNames: workingDirNames, caller: { door: 'functions', client: 'in process' } },
      );
    },
  };
}

function toCommand(command: string | readonly string[]): Command {
  if (typeof command === 'string') return { kind: 'shell', script: command };
  const [program = '', ...args] = command;
  return { kind: 'argv', argv: [program, ...args] };
}
