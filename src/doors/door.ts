import type { Readable, Writable } from 'node:stream';
import type { NacreError } from '../contract/failure.ts';
import type { Narrowing } from '../contract/narrowing.ts';
import type { ServerTrial } from '../contract/report.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunContext } from '../engine/run.ts';
import type { Declarations, SettingGroups } from '../settings/define.ts';
import type { GivenSetting } from '../settings/parse-flags.ts';
import type { Origin } from '../settings/resolve-offers.ts';
import type { Tool } from '../tools/define-tool.ts';
import type { HttpSettings } from './settings.ts';

/** The process's own ends, so that a door can be opened inside another process, too. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Fires when the process is asked to end; its reason is the signal's name. */
  readonly interrupted: AbortSignal;
}

/** One setting as it is in force. */
export interface SettingInForce {
  /** Its name in a settings file. */
  readonly key: string;
  readonly value: unknown;
  /** What a project file demands beside the value. */
  readonly limit: unknown;
  readonly origin: Origin;
  /** Whether a running server takes in a change of it. */
  readonly isLive: boolean;
}

/** What the process stands on. */
export interface Machine {
  readonly home: string;
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The Node and the script that this process runs. */
export interface Program {
  readonly node: string;
  readonly script: string;
}

/** All that can be typed: the commands, the flags that every one takes, and the settings under their headings. */
export interface CommandLine {
  readonly doors: Readonly<Record<string, DoorEntry>>;
  readonly shared: Declarations;
  readonly groups: SettingGroups;
}

/** What a door is given by the assembly; whatever costs time is made at the first use. */
export interface Assembly {
  readonly io: Io;
  readonly version: string;
  /** Words of the command line that are no flags. */
  readonly words: readonly string[];
  /** Values of the door's own flags. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** The settings that the command line gave. */
  readonly given: readonly GivenSetting[];
  readonly commandLine: CommandLine;
  readonly settings: readonly SettingInForce[];
  /** What the person who started us should know. */
  readonly warnings: readonly string[];
  /** The same for those who offer tools. */
  readonly toolWarnings: readonly string[];
  /** The rules for commands that the person at the command line types. */
  readonly ownRules: Pick<RunContext, 'rules' | 'cwdRoots'>;
  readonly maxOutputChars: number;
  /** Where the audit log is, and the key that signs it; where runs of workflows are kept. */
  readonly places: {
    readonly stateDir: string;
    readonly audit: { readonly dir: string; readonly keyPath: string | undefined };
    readonly workflowDir: string;
    readonly recordingDir: string;
    /** Where files that nacre changes for others are kept as they were. */
    readonly backupDir: string;
  };
  /** How and for whom HTTP is served. */
  readonly http: HttpSettings;
  /** The directory that the process was started in. */
  readonly cwd: string;
  readonly machine: Machine;
  readonly program: Program;
  /** A sentence about a newer nacre that is installed elsewhere, if there is one. */
  newerCopy(): readonly string[];
  /** The names of the presets. */
  readonly presets: readonly string[];
  /** Takes in what has changed in the user's settings; throws for what a running server cannot take in. */
  refresh(): Promise<void>;
  /** The rules for what apps run without a shell, narrowed for one caller. */
  shellRules(narrowing?: Narrowing): Pick<RunContext, 'rules' | 'cwdRoots' | 'refuseSensitive'>;
  /** The rules for shells that the settings let pages open at a terminal, in the directories of one caller. */
  terminalRules(narrowing?: Narrowing): Pick<RunContext, 'rules' | 'cwdRoots' | 'refuseSensitive'>;
  /** The tools that the settings ask for, narrowed for one caller. */
  tools(narrowing?: Narrowing): Promise<readonly Tool[]>;
  engine(): Promise<Engine>;
  /** Where the sockets of running servers are. */
  readonly controlDir: string;
  /** Lets other terminals reach the commands of this process. */
  openControl(): Promise<void>;
  /** What is wrong with the settings, for a door that is opened all the same; defaults hold in their place. */
  readonly settingsFault: NacreError | undefined;
  /** Makes one call to this nacre as a client would, in a process of its own. */
  tryServer(): Promise<ServerTrial>;
  /** Ends every command; from then on there is no engine. */
  close(): Promise<void>;
}

/** A way in; resolves to the process's exit code. */
export interface Door {
  open(assembly: Assembly): Promise<number>;
}

/** Who comes through a door beside the person at the command line: models, by tools, and apps, by HTTP. */
export type Served = 'tools' | 'apps';

/** A door as the command line offers it. */
export interface DoorEntry {
  readonly summary: string;
  /** The words after the door's name, for help; empty for a door that takes none. */
  readonly usage: string;
  /** The door's own flags, declared like settings. */
  readonly flags: Declarations;
  /** The first word that is no flag ends the flags: what follows belongs to a command. */
  readonly takesCommand?: boolean;
  /** Whom it serves until it is ended, so that a question can wait there for its answer; nobody else when absent. */
  readonly serves?: readonly Served[] | undefined;
  /** It is opened with settings that are wrong, too, to tell what is. */
  readonly diagnoses?: boolean;
  load(): Promise<Door>;
}
