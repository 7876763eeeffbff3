import { localMachine } from '../contract/machine.ts';
import { doors, loadControl } from '../doors/catalog.ts';
import { createDisplay } from '../doors/display.ts';
import type {
  Arguments,
  ControlAccess,
  DiagnosisAccess,
  DoorDeps,
  EngineAccess,
  Greeted,
  Io,
  MachinesAccess,
  NewPage,
  PageLink,
  Program,
  RemoteCaller,
  ServerDescription,
  SettingsAccess,
} from '../doors/door.ts';
import { sharedFlags } from '../doors/shared-flags.ts';
import { presetNames, presets } from '../policy/presets.ts';
import { settingGroups } from '../rules/all-settings.ts';
import { homeOf } from '../rules/home-folders.ts';
import { createLiveSettings, fixedSettings, type LiveSettings } from '../rules/live-settings.ts';
import { type Resolved, rulesFor, rulesForShell, rulesForTerminal } from '../rules/rules-for.ts';
import type { ReadFiles } from '../rules/settings-files.ts';
import { toSettingsInForce } from '../rules/settings-in-force.ts';
import { checkUserFile, type SettingsSource } from '../rules/settings-source.ts';
import { listGeneralWarnings, warnIfNothingRuns } from '../rules/settings-warnings.ts';
import { memoizeLast } from '../support/memoize-last.ts';
import { type EngineHost, engineOnDemand, toMachineDeps } from './create-whole-engine.ts';
import { createWorkerAccess } from './create-worker-access.ts';
import { judgePrograms } from './judge-programs.ts';
import { describeNewerCopy } from './newer-copy.ts';
import { toPlaces } from './places.ts';
import { toServerStatus } from './to-server-status.ts';
import { version } from './version.ts';

/** The process that `main` runs in. */
export interface ProcessContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly io: Io;
  readonly program: Program;
  /** Set if an MCP client was greeted before `main` was loaded. */
  readonly greeted?: Greeted | undefined;
  /** The settings files that were read for the greeting. */
  readonly files?: ReadFiles | undefined;
}

/** One parsed command line with its `ProcessContext`. */
interface Invocation extends ProcessContext, Arguments, Pick<DiagnosisAccess, 'settingsFault'> {
  /** The file that `--config` names. */
  readonly config: string | undefined;
  readonly remoteCallers: readonly RemoteCaller[] | undefined;
  /** Set for servers, which follow changes of `config.yaml`. */
  readonly source: SettingsSource | undefined;
}

/** Creates `DoorDeps`: everything that a door can ask for. */
export function createDoorDeps(resolved: Resolved, invocation: Invocation): DoorDeps {
  const { io, cwd, env, program, words, given } = invocation;
  const { values } = resolved;
  const places = toPlaces(values, invocation);
  const { access, host } = createEngineAccess(resolved, invocation, places.controlDir, () => live);
  const { engine } = access;
  const live = createSettings(resolved, invocation, engine);
  return {
    io,
    display: createDisplay(io.stdout, env),
    words,
    given,
    commandLine: { doors, shared: sharedFlags, groups: settingGroups },
    version,
    newerCopy: () => [describeNewerCopy(version, program, env.PATH ?? '') ?? []].flat(),
    ...createSettingsAccess(resolved, cwd, places.settingsFile),
    places,
    cwd,
    machine: { home: homeOf(env), platform: process.platform, env, isRoot: process.getuid?.() === 0 },
    program,
    ...access,
    ...createWorkerAccess(resolved, host, engine),
    maxOutputChars: values.maxOutputChars,
    reply: values.reply,
    ownRules: rulesFor('cli', resolved),
    async tools(narrowing) {
      const { assembleTools } = await import('./assemble-tools.ts');
      return assembleTools({ settings: live, openEngine: engine, cwd }, narrowing);
    },
    greeted: invocation.greeted,
    http: values,
    refresh: live.refresh,
    shellRules: (narrowing) => rulesForShell(live.now(), narrowing),
    terminalRules: (narrowing) => rulesForTerminal(live.now(), narrowing),
    noteOnApps: async () => (await loadExecRules()).noteOnApps(invocation.remoteCallers, live.now()),
    controlDir: places.controlDir,
    async openBrowser(link) {
      const { openBrowser } = await import('../worker/browser/open-browser.ts');
      return openBrowser(link, { platform: process.platform, env });
    },
    ...createDiagnosisAccess(invocation),
    ...createMachinesAccess(resolved, host),
  };
}

// Loaded when it is needed: it uses the program entries of the policy, which are large.
const loadExecRules = () => import('../rules/exec-allow.ts');

function createSettingsAccess(resolved: Resolved, cwd: string, settingsFile: string): SettingsAccess {
  return {
    settings: toSettingsInForce(resolved),
    noteOnExec: async () => (await loadExecRules()).noteOnExec(resolved),
    presets: presetNames,
    presetPrograms: Object.fromEntries(presetNames.map((name) => [name, presets[name].allowedCommands])),
    checkUserFile: (text) => checkUserFile({ path: settingsFile, text }),
    warnings: listGeneralWarnings(resolved, cwd),
    toolWarnings: warnIfNothingRuns(resolved),
  };
}

function createEngineAccess(
  resolved: Resolved,
  invocation: Invocation,
  controlDir: string,
  live: () => LiveSettings,
): { readonly access: EngineAccess & ControlAccess; readonly host: EngineHost } {
  const { io, cwd, remoteCallers } = invocation;
  const host: EngineHost = {
    ...invocation,
    async loadExecAllow() {
      const { execAllowFor } = await loadExecRules();
      const listIn = memoizeLast((now: Resolved) => execAllowFor(remoteCallers, now));
      return () => listIn(live().now());
    },
    log: (line) => void io.stderr.write(line),
    openInbox: remoteCallers && (() => openControl()),
  };
  const engine = engineOnDemand(resolved, host);
  let createLink: ((page?: NewPage) => PageLink) | undefined;
  let describe = (): ServerDescription => ({ door: 'mcp', clients: [] });
  const server = { cwd, engine: engine.open, describe: () => describe() };
  const serverStatus = () => toServerStatus({ ...server, now: () => live().now() });
  let control: Promise<{ close(): Promise<void> }> | undefined;
  const openControl = async () => {
    control ??= loadControl().then(({ serveControl }) =>
      serveControl(controlDir, {
        engine: engine.open,
        createLink: (page) => createLink?.(page),
        status: serverStatus,
        judge: (programs, folder) => judgePrograms({ ...server, live }, programs, folder),
      }),
    );
    // If `serveControl` failed, the next call tries again.
    control.catch(() => {
      control = undefined;
    });
    await control;
  };
  const access: EngineAccess & ControlAccess = {
    engine: engine.open,
    openControl,
    serverStatus,
    offerLinks(create) {
      createLink = create;
    },
    describeServer(how) {
      describe = how;
    },
    async close() {
      await (await control?.catch(() => undefined))?.close();
      await engine.close();
    },
  };
  return { access, host };
}

function createMachinesAccess({ values, machines }: Resolved, host: EngineHost): MachinesAccess {
  const others = machines?.others ?? [];
  return {
    defaultMachine: machines?.defaultName ?? localMachine,
    machineNames: others.map(({ name }) => name),
    async examineMachine(name, withinMs) {
      const { tryMachine } = await import('../machines/try-machine.ts');
      const machine = others.find((one) => one.name === name);
      if (!machine)
        return { name, road: 'none', isReachable: false, problem: `There is no machine ${name}.` };
      return tryMachine(machine, toMachineDeps(values, host), withinMs);
    },
  };
}

function createSettings(
  resolved: Resolved,
  { source, io }: Invocation,
  engine: EngineAccess['engine'],
): LiveSettings {
  if (!source) return fixedSettings(resolved);
  return createLiveSettings(resolved, {
    ...source,
    isOutOfReach: async () => !source.hasOtherName() && (await (await engine()).report()).hidesOwnFiles,
    log: (line) => void io.stderr.write(line),
  });
}

function createDiagnosisAccess({
  settingsFault,
  program,
  config,
  given,
  env,
  cwd,
}: Invocation): DiagnosisAccess {
  return {
    settingsFault,
    async tryServer() {
      const { tryServer } = await import('../worker/trial/try-server.ts');
      const file = config === undefined ? [] : ['--config', config];
      const flags = given.map(({ flags: [flag], text }) => `${flag}=${text}`);
      const args = [program.script, 'mcp', ...file, ...flags];
      return tryServer({ command: program.node, args, env, cwd });
    },
  };
}
