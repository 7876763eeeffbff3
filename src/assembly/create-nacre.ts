// nacre inside another program:
// 1. the settings object is validated like a settings file; files, flags and NACRE_* variables are not read,
// 2. the tools are created and bound to their rules, 3. the engine is created when a command first needs it.
// Like `cli.ts` this file reads `process.env`, which commands inherit as they do through every door.

import { z } from 'zod';
import { instanceClosed } from '../contract/failure.ts';
import type { MachineReport } from '../contract/report.ts';
import { cwdText } from '../contract/request.ts';
import type { ToolResult } from '../contract/tool-result.ts';
import { createBackgroundShells } from '../doors/functions/background-shells.ts';
import { type Instance, registerInstance, setDefaultFactory } from '../doors/functions/default-instance.ts';
import { type FunctionTool, toFunctionTool, withOwnResult } from '../doors/functions/function-tool.ts';
import { createProgramCommands, type ProgramCommands } from '../doors/functions/program-commands.ts';
import { createProgramWorkflows, type ProgramWorkflows } from '../doors/functions/program-workflows.ts';
import { requireObject } from '../doors/functions/require-object.ts';
import { ToolRegistry } from '../doors/functions/tool-registry.ts';
import { allSettings } from '../rules/all-settings.ts';
import { fixedSettings } from '../rules/live-settings.ts';
import { type Resolved, readRules, rulesFor } from '../rules/rules-for.ts';
import { listSettings } from '../settings/define.ts';
import { candidatesFromObject, type GivenSettings } from '../settings/read-object.ts';
import { resolveCandidates } from '../settings/resolve-candidates.ts';
import { createId } from '../support/ids.ts';
import { isObject } from '../support/is-object.ts';
import { requireOwnerAccess } from '../support/umask.ts';
import { receive } from '../tools/common/define-tool.ts';
import type { ToolFamily } from '../tools/settings.ts';
import { assembleTools } from './assemble-tools.ts';
import { engineOnDemand } from './create-whole-engine.ts';
import { toPlaces } from './places.ts';
import type { ToolInputs, ToolOwnResults } from './tool-inputs.ts';

/** Settings by their reference names in camelCase: `allowedCommands` for `allowed_commands`. */
export type NacreSettings<F extends ToolFamily | 'all' = ToolFamily | 'all'> = Omit<
  GivenSettings<typeof allSettings>,
  'tools'
> & {
  /** Tool families to offer; `bash` by default. */
  readonly tools?: readonly F[] | undefined;
};

/** The environment and working directory for commands; `process.env` and `process.cwd()` by default. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly cwd?: string | undefined;
}

type Inputs<F> = F extends ToolFamily ? ToolInputs[F] : ToolInputs[ToolFamily];
type ResultOf<Name> = Name extends keyof ToolOwnResults ? ToolOwnResults[Name] : ToolResult;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** An instance of nacre inside a program, returned by `createNacre`. */
export interface Nacre<F extends ToolFamily | 'all' = ToolFamily> extends ProgramCommands, ProgramWorkflows {
  /** The tools that the settings enable, by their names in camelCase. */
  readonly tools: {
    readonly [Name in keyof Intersection<Inputs<F>>]: FunctionTool<
      Intersection<Inputs<F>>[Name],
      ResultOf<Name>
    >;
  };
  /** The same tools by the names that models use, such as `execute_command`. */
  readonly registry: ToolRegistry;
  /** Metrics about all commands so far, in the Prometheus text format. */
  metrics(): Promise<string>;
  /** The machine report, as `nacre doctor` shows it. */
  report(): Promise<MachineReport>;
  /** Kills every command and releases all resources; later calls are rejected. */
  close(): Promise<void>;
}

/** Creates a nacre for this program; rejects with one `settings_invalid` error that lists every problem. */
export async function createNacre<const F extends ToolFamily | 'all' = 'bash'>(
  settings: NacreSettings<F> = {},
  surroundings: Surroundings = {},
): Promise<Nacre<F>> {
  const given = requireObject(settings, 'createNacre');
  const around = receive(
    'createNacre',
    surroundingsSchema,
    surroundings,
    'Correct these fields; nothing was started.',
  );
  const { instance: _instance, ...nacre } = open(await readRules(resolve(given)), around, 'program');
  return nacre as Nacre<F>;
}

const surroundingsSchema = z.strictObject({
  env: z.custom<Surroundings['env']>(isEnvironment, 'must be an object of strings').optional(),
  cwd: cwdText.optional(),
});

function isEnvironment(value: unknown): boolean {
  const isText = (one: unknown) => one === undefined || typeof one === 'string';
  return isObject(value) && Object.values(value).every(isText);
}

setDefaultFactory(() => open(resolve({}), {}, 'default').instance);

// `bash` is the default here, unlike on the command line, because models know these tools best.
function resolve({ tools = ['bash'], ...settings }: NacreSettings): Resolved {
  const given = candidatesFromObject({ ...settings, tools }, listSettings(allSettings));
  return resolveCandidates({ more: [given] }, allSettings);
}

function open(
  resolved: Resolved,
  { env = process.env, cwd = process.cwd() }: Surroundings,
  origin: 'program' | 'default',
): Nacre<'all'> & { readonly instance: Instance } {
  requireOwnerAccess();
  const { maxOutputChars, killGraceMs } = resolved.values;
  const owner = createId('program');
  const rules = { ...rulesFor('program', resolved), room: owner };
  const log = (line: string) => void process.stderr.write(line);
  const loadExecAllow = async () => {
    const { execAllowFor } = await import('../rules/exec-allow.ts');
    const programs = execAllowFor(undefined, resolved);
    return () => programs;
  };
  const engine = engineOnDemand(resolved, { env, cwd, log, loadExecAllow }, instanceClosed);
  const settings = fixedSettings(resolved);
  const assembled = assembleTools({ settings, openEngine: engine.open, cwd }).list();
  const tools = assembled.map((tool) => toFunctionTool(tool, owner));
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  const stopOptions = { signal: 'SIGTERM', graceMs: killGraceMs } as const;
  const close = async () => {
    release();
    await engine.close();
  };
  const workflows = createProgramWorkflows({
    engine: engine.open,
    rules,
    maxOutputChars,
    tools: async () => assembled,
    dir: toPlaces(resolved.values, { env, cwd }).workflowDir,
  });
  const instance = {
    executionTools: tools,
    ...workflows,
    shells: createBackgroundShells(engine.open, rules, { owner, stopOptions }),
    close,
  };
  const release = registerInstance(instance, origin);
  return {
    ...createProgramCommands(engine.open, rules, maxOutputChars),
    ...workflows,
    tools: Object.fromEntries(
      assembled.map((tool) => [toCamelCase(tool.name), withOwnResult(tool, owner)]),
    ) as unknown as Nacre<'all'>['tools'],
    registry,
    metrics: async () => (await engine.open()).metrics(),
    report: async () => (await engine.open()).report(),
    close,
    instance,
  };
}

function toCamelCase(name: string): string {
  const joined = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `${joined.charAt(0).toLowerCase()}${joined.slice(1)}`;
}
