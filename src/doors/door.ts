// The contract between the assembly and its doors:
// 1. each small interface below is one thing a door can ask for, and `DoorDeps` is all of them together
// 2. a door is a function that declares only the interfaces it uses
// 3. `catalog.ts` lists the doors as `DoorEntry`, so the compiler checks that `DoorDeps` has what each door declares

import type { Duplex, Readable, Writable } from 'node:stream';
import type { Retention } from '../audit/choose-pruned.ts';
import type { KeptState } from '../contract/backend.ts';
import type { PageRole } from '../contract/console.ts';
import type { NacreError } from '../contract/failure.ts';
import type { MachineExamination } from '../contract/machine.ts';
import type { Narrowing } from '../contract/narrowing.ts';
import type { ReplyShape } from '../contract/reply.ts';
import type { ServerTrial } from '../contract/report.ts';
import type { RunContext } from '../engine/context/call-context.ts';
import type { Engine } from '../engine/engine.ts';
import type { TakeUpContext } from '../engine/take-up.ts';
import type { ServerStatus } from '../servers/server-status.ts';
import type { Declarations, SettingGroups, Values } from '../settings/define.ts';
import type { GivenSetting, ParsedFlags } from '../settings/parse-flags.ts';
import type { SettingInForce, SettingNote } from '../settings/setting-in-force.ts';
import type { Patience } from '../tools/common/time-limits.ts';
import type { Tool } from '../tools/common/tool.ts';
import type { Display } from './display.ts';
import type { HttpSettings } from './settings.ts';
import type { SharedFlags } from './shared-flags.ts';

/** The standard streams, passed in so that tests can open a door inside their own process. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Aborts on SIGINT, SIGTERM or SIGHUP; its `reason` is the signal's name. */
  readonly interrupted: AbortSignal;
}

/** The streams of this process, for all doors. */
export interface IoAccess {
  readonly io: Io;
}

/** The terminal or pipe that stdout goes to. */
export interface DisplayAccess {
  readonly display: Display;
}

/** The command line after `nacre DOOR`, without its own flags. */
export interface Arguments {
  readonly words: readonly string[];
  /** Settings given as flags, such as `--sandbox`. */
  readonly given: readonly GivenSetting[];
}

/** Everything that can be typed after `nacre`, for completion scripts and the man page. */
export interface CommandLine {
  readonly doors: DoorGroup;
  readonly shared: Declarations;
  readonly groups: SettingGroups;
}

/** The declarations that `--help` is generated from. */
export interface CommandLineAccess {
  readonly commandLine: CommandLine;
}

/** The version of this package, and newer copies of it on this machine. */
export interface VersionAccess {
  readonly version: string;
  /** One sentence if a newer nacre is installed elsewhere; empty otherwise. */
  newerCopy(): readonly string[];
}

/** The resolved settings and the warnings they cause. */
export interface SettingsAccess {
  readonly settings: readonly SettingInForce[];
  /** Describes what `exec: auto` enforces; loads the program entries of the policy. */
  noteOnExec(): Promise<SettingNote | undefined>;
  readonly presets: readonly string[];
  /** The programs of each preset. */
  readonly presetPrograms: Readonly<Record<string, readonly string[]>>;
  /** Checks the text of the user's settings file; throws `settings_invalid` for one that nacre would refuse. */
  checkUserFile(text: string): Promise<void>;
  /** Warnings for every door, such as an unknown NACRE_* variable. */
  readonly warnings: readonly string[];
  /** Warnings for doors that serve tools, such as an unset ALLOWED_COMMANDS. */
  readonly toolWarnings: readonly string[];
}

/** nacre's own folders and files, below `state_dir` unless set otherwise. */
export interface Places {
  readonly stateDir: string;
  readonly audit: {
    readonly dir: string;
    readonly keyPath: string | undefined;
    readonly retention: Retention;
  };
  /** Saved workflow runs, read by `--resume`. */
  readonly workflowDir: string;
  readonly recordingDir: string;
  /** Backups of configuration files that `nacre init`, `allow` or `deny` changed. */
  readonly backupDir: string;
  /** The user's settings file, or the one that `--config` names; it need not exist. */
  readonly settingsFile: string;
  /** Sockets of running servers, for `nacre ps` and other control commands. */
  readonly controlDir: string;
}

/** Access to nacre's own folders and files. */
export interface PlaceAccess {
  readonly places: Places;
}

/** The machine and environment that this process was started with. */
export interface Machine {
  readonly home: string;
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if nacre runs with uid 0. */
  readonly isRoot: boolean;
}

/** The Node binary and the `cli.js` that this process runs. */
export interface Program {
  readonly node: string;
  readonly script: string;
}

/** The process itself: its directory, machine and program. */
export interface ProcessAccess {
  readonly cwd: string;
  readonly machine: Machine;
  readonly program: Program;
}

/** The engine, created at the first call of `engine`. */
export interface EngineAccess {
  engine(): Promise<Engine>;
  /** Kills every command; `engine()` rejects from then on. */
  close(): Promise<void>;
}

/** The commands that the detached worker keeps, for the local user. */
export interface KeptCommands {
  readonly engine: Engine;
  /** Disconnects from the worker; its commands keep running. */
  close(): Promise<void>;
}

/** A running detached worker. */
export interface RunningWorker {
  readonly pid: number;
  readonly build: string;
  readonly folder: string;
}

/** The detached worker of this user, which keeps commands when their server has ended. */
export interface WorkerAccess {
  /** Connects to it; undefined if there is none and none has left commands on disk. */
  keptCommands(): Promise<KeptCommands | undefined>;
  findWorkers(): readonly RunningWorker[];
  /** The commands that are kept on disk, of all workers. */
  listKept(): readonly KeptState[];
  /** Ends it with everything that it keeps. */
  endWorkers(): Promise<{ readonly ended: readonly number[]; readonly killed: readonly number[] }>;
  /** Opens a stream to it, and starts it if there is none. */
  openWorker(): Promise<Duplex>;
  /** A sentence about the commands of earlier connections that still run; undefined if there are none. */
  describeKept(context: TakeUpContext): Promise<string | undefined>;
}

/** The machines of the settings. */
export interface MachinesAccess {
  /** The machine for commands without `on`. */
  readonly defaultMachine: string;
  readonly machineNames: readonly string[];
  /** Connects to a machine and reports what it finds; never rejects. */
  examineMachine(name: string, withinMs: number): Promise<MachineExamination>;
}

/** The settings `max_output_chars` and `reply`. */
export interface ReplySettings {
  readonly maxOutputChars: number;
  readonly reply: ReplyShape | 'auto';
}

/** Rules for commands that the local user types, as in `nacre run`. */
export interface UserRules {
  readonly ownRules: Pick<RunContext, 'rules' | 'cwdRoots'>;
}

/** The tools of one caller. A change of the settings changes their time limits, which are part of their schemas. */
export interface OfferedTools {
  /** The tools for a client with that patience, `usual` by default; the same object until the tools change. */
  list(patience?: Patience): readonly Tool[];
  /** Describes the rules for a model: programs, directories and time limits; the same text until the settings change. */
  instructions(patience?: Patience): Promise<string>;
}

/** The tools that the setting `tools` enables, narrowed for one caller. */
export interface ToolAccess {
  tools(narrowing?: Narrowing): Promise<OfferedTools>;
}

/** The first messages of an MCP client, if they were answered before this door was loaded. */
export interface GreetingAccess {
  readonly greeted: Greeted | undefined;
}

/** The input after a greeting, and what the client already knows. */
export interface Greeted {
  /** A stream of all input, including the messages that were answered. */
  readonly stdin: Readable;
  /** Ids of requests that have their reply. */
  readonly answered: Set<string | number>;
  /** The instructions that the client received. */
  readonly introduced: string | undefined;
  /** True if the input has ended and every message was answered. */
  readonly isOver: boolean;
}

/** The first replies to an MCP client, without the code of the tools: they are listed from data that the build wrote. */
export interface Greeting {
  instructions(patience: Patience): Promise<string>;
  /** Undefined if the list is not known in advance. */
  list(patience: Patience): readonly Omit<Tool, 'call'>[] | undefined;
  /** The setting `reply`. */
  readonly reply: ReplyShape | 'auto';
}

/** The settings of a running server. */
export interface LiveAccess {
  /** Re-reads the user's `config.yaml` if it changed; throws if a running server cannot apply the change. */
  refresh(): Promise<void>;
}

/** The rules of one HTTP caller. */
export type HttpRules = Pick<
  RunContext,
  'rules' | 'rulesOn' | 'cwdRoots' | 'judgeDefaultCwd' | 'share' | 'refuseSensitive'
>;

/** The HTTP settings, and the rules for HTTP callers. */
export interface HttpAccess extends LiveAccess {
  readonly http: HttpSettings;
  /** Rules for POST /api/shell, narrowed for one caller. */
  shellRules(narrowing?: Narrowing): HttpRules;
  /** Rules for shells opened at a terminal (`terminal_shells`), limited to the caller's directories. */
  terminalRules(narrowing?: Narrowing): HttpRules;
  /** A clause about what `exec: auto` enforces on POST /api/shell, if it differs from the tools. */
  noteOnApps(): Promise<string | undefined>;
}

/** The sockets through which other terminals reach running servers. */
export interface ControlFolder {
  readonly controlDir: string;
}

/** The control socket of this process. */
export interface ControlAccess {
  /** Opens the socket on which `nacre ps` and the other control commands reach this process. */
  openControl(): Promise<void>;
  /** Lets `nacre open` ask this process for links to its console. */
  offerLinks(create: (page?: NewPage) => PageLink): void;
  /** The state of this server, as `nacre status` shows it. */
  serverStatus(): Promise<ServerStatus>;
  /** Lets `nacre status` ask this process which door it serves, and for whom. */
  describeServer(describe: () => ServerDescription): void;
}

/** How a server describes itself to `nacre status`. */
export interface ServerDescription {
  readonly door: 'mcp' | 'http';
  /** The address that it listens on, if it does. */
  readonly address?: string;
  /** The names of the clients that use it now. */
  readonly clients: readonly string[];
}

/** A one-time link to the console of a server. */
export interface PageLink {
  /** The address of the server, without the ticket. */
  readonly address: string;
  readonly link: string;
}

/** The page that a link opens. */
export interface NewPage {
  readonly role: PageRole;
  /** Its name in records; empty for none. */
  readonly name: string;
}

/** The browser of the local user. */
export interface BrowserAccess {
  /** Opens a page in the user's browser; false if there is none or it cannot be started. */
  openBrowser(link: string): Promise<boolean>;
}

/** Everything that only `nacre doctor` asks for. */
export interface DiagnosisAccess {
  /** Set when the settings are invalid and the door opens nevertheless, with the defaults and the state folder. */
  readonly settingsFault: NacreError | undefined;
  /** Starts this nacre as an MCP server, as a client would, and makes one call. */
  tryServer(): Promise<ServerTrial>;
}

/** Everything the assembly offers to a door. */
export interface DoorDeps
  extends IoAccess,
    DisplayAccess,
    Arguments,
    CommandLineAccess,
    VersionAccess,
    SettingsAccess,
    PlaceAccess,
    ProcessAccess,
    WorkerAccess,
    MachinesAccess,
    EngineAccess,
    ReplySettings,
    UserRules,
    ToolAccess,
    GreetingAccess,
    HttpAccess,
    ControlFolder,
    ControlAccess,
    BrowserAccess,
    DiagnosisAccess {}

/** The values of the flags in `DoorDefinition.flags`. */
export interface FlagAccess<Flags> {
  readonly flags: Flags;
}

/** Handles one subcommand, such as `nacre run`; resolves to the exit code. */
export type Door<Flags> = (deps: DoorDeps & FlagAccess<Flags>) => Promise<number>;

/** A kind of remote caller: `model` calls tools over MCP, `app` runs programs over HTTP. */
export type RemoteCaller = 'model' | 'app';

/** A command line that opens a door, and one sentence that says what it does. */
export type DoorExample = readonly [line: string, meaning: string];

/** A door as `catalog.ts` declares it. */
export interface DoorDefinition<Flags extends Declarations> {
  /** One line of at most 65 characters in the list of commands. */
  readonly summary: string;
  /** More sentences for the help of this command alone. */
  readonly details?: string;
  /** Positional arguments, for help; empty if the door accepts none. */
  readonly usage: string;
  /** Two command lines or more that people would type, for help; each with its meaning. */
  readonly examples: readonly [DoorExample, DoorExample, ...DoorExample[]];
  /** The door's own flags, declared like settings. */
  readonly flags: Flags;
  /** Flags end at the first positional argument, as in `nacre run ls -l`. */
  readonly takesCommand?: boolean;
  /** Set for long-running servers. Only they follow changes of `config.yaml` and hold approval requests. */
  readonly remoteCallers?: readonly RemoteCaller[];
  /** The directory to serve in, if `flags` name one. */
  readonly workingDir?: (flags: Values<Flags>) => string | undefined;
  /** The door opens even if the settings are invalid: it reports `settingsFault` itself, or `main.ts` prints a warning. */
  readonly onInvalidSettings?: 'report' | 'warn';
  /** Runs before the door opens; true if it changed the user's settings file, which is then read again. */
  readonly prepare?: (deps: DoorDeps & FlagAccess<Values<Flags & SharedFlags>>) => Promise<boolean>;
  load(): Promise<Door<Values<Flags & SharedFlags>>>;
}

/** A door as `main.ts` uses it. */
export interface DoorEntry extends Omit<DoorDefinition<Declarations>, 'workingDir' | 'prepare' | 'load'> {
  /** Checks the door's own flags; throws `settings_invalid` with every problem. */
  parse(given: ParsedFlags): ParsedDoor;
}

/** Doors under one heading of `nacre --help`, by the subcommand that opens them. */
export type DoorGroup = Readonly<Record<string, DoorEntry>>;

/** A door with valid flags, as `DoorEntry.parse` returns it. */
export interface ParsedDoor {
  readonly shared: Values<SharedFlags>;
  readonly workingDir: string | undefined;
  /** True if the settings have to be read again before `open`. */
  prepare(deps: DoorDeps): Promise<boolean>;
  open(deps: DoorDeps): Promise<number>;
}
