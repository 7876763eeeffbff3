import type { ServerCard } from '../../../contract/console.ts';

/** The reply to GET /api/server. */
export interface ServerReply {
  readonly version: string;
  readonly servers: readonly ServerCard[];
  readonly total: number;
  readonly machine: {
    readonly supervision: string;
    readonly sandbox: string;
    readonly files: string;
    readonly network: string;
    readonly exec: string;
    /** Why commands do not run in namespaces, and the next step. */
    readonly fault: { readonly reason: string; readonly fix: string } | null;
    readonly gaps: readonly string[];
  };
  readonly storage: Readonly<Record<'audit' | 'recordings', FolderSize>>;
  readonly places: Readonly<Record<string, string>>;
  readonly settings: readonly SettingRow[];
  readonly applets: readonly AppletRow[];
  readonly problems: readonly string[];
  readonly terminal_shells: readonly string[];
}

/** The number of files in a folder, and their total size. */
interface FolderSize {
  readonly files: number;
  readonly bytes: number;
}

/** A setting with its value in force, and where it is set. */
export interface SettingRow {
  readonly key: string;
  readonly value: unknown;
  readonly origin: { readonly source: string; readonly where: string };
}

/** An applet. `refused` lists the programs that it requests but may not run. */
export interface AppletRow {
  readonly slug: string;
  readonly title?: string;
  readonly description?: string;
  readonly permissions: readonly string[];
  readonly refused: readonly string[];
}
