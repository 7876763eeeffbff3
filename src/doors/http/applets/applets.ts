// Applets: folders with an applet.json and static files, each served on its own origin.
// `list` and `find` read the folder every time, so new and changed applets show up without a restart.
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { AllowList } from '../../../contract/decision.ts';
import { toOneLine } from '../../../support/escape-controls.ts';
import { readRegularFile } from '../../../support/regular-file.ts';
import { toProblems, zodMessages } from '../../../tools/common/define-tool.ts';
import type { HttpAccess } from '../../door.ts';
import type { HttpCaller } from '../access/callers.ts';
import { type Manifest, manifestSchema, programsOf, unknownKeys } from './manifest.ts';

/** An applet with a valid manifest. */
export interface Applet {
  readonly manifest: Manifest;
  /** The canonical path of its folder. */
  readonly folder: string;
  /** The caller that its page is authenticated as. */
  readonly caller: HttpCaller;
  /** Programs that its manifest asks for and the server does not allow. */
  readonly refused: readonly string[];
  /** Keys of its manifest that are ignored. */
  readonly ignored: readonly string[];
}

/** The applets in `applets_dir`. */
export interface Applets {
  list(): { readonly applets: readonly Applet[]; readonly problems: readonly string[] };
  find(slug: string): Applet | undefined;
}

const maxManifestBytes = 65_536;

/**
 * Reads applets from `dir`; there are none if it is undefined. All applets together count as one of `shares` callers.
 */
export function createApplets(
  dir: string | undefined,
  { shellRules, terminalRules }: Pick<HttpAccess, 'shellRules' | 'terminalRules'>,
  terminalShells: readonly string[],
  shares: number,
): Applets {
  const read = (name: string): Applet => {
    const folder = realpathSync(join(dir ?? '', name));
    const { manifest, ignored } = readManifest(join(folder, 'applet.json'), name);
    const programs = programsOf(manifest);
    const named = `the permissions of the applet ${name}`;
    const rules = shellRules({ allow: programs, named, share: { key: 'applets', of: shares } });
    const shells = terminalShells.filter((shell) => programs.includes(shell));
    const terminal = { shells, rules: { ...terminalRules(), share: rules.share } };
    return {
      manifest,
      folder,
      caller: {
        client: `applet ${name}`,
        token: `applet ${name}`,
        owner: `applet/${name}`,
        rules,
        terminal,
        tools: [],
      },
      ignored,
      refused: programs.filter((one) => !terminalShells.includes(one) && !lists(rules.rules.allow, one)),
    };
  };
  return {
    list() {
      const names = attempt(() => namesIn(dir));
      if (typeof names === 'string') return { applets: [], problems: [`applets_dir: ${names}`] };
      const found = names.map((name) => attempt(() => read(name)));
      return {
        applets: found.flatMap((one) => (typeof one === 'string' ? [] : [one])),
        problems: found.flatMap((one) => (typeof one === 'string' ? [one] : [])),
      };
    },
    find(slug) {
      const found = attempt(() => (namesIn(dir).includes(slug) ? read(slug) : undefined));
      return typeof found === 'string' ? undefined : found;
    },
  };
}

/** Warnings about invalid manifests, and about applets that ask for programs they may not run. */
export function warnOfApplets(applets: Applets): readonly string[] {
  const found = applets.list();
  // The terminal is off by default, and the console says how to turn it on.
  const asking = found.applets.filter(
    ({ manifest, refused }) => refused.length > 0 && manifest.slug !== 'terminal',
  );
  return [
    ...found.problems,
    ...found.applets.flatMap(({ manifest, ignored }) =>
      ignored.map(
        (key) => `the applet.json of ${manifest.slug} has an unknown key ${key}, which is ignored.`,
      ),
    ),
    ...asking.map(
      ({ manifest, refused }) =>
        `the applet ${manifest.slug} asks for ${refused.join(', ')}, which neither SHELL_ALLOWLIST nor NACRE_TERMINAL_SHELLS allows.`,
    ),
  ];
}

function namesIn(dir: string | undefined): readonly string[] {
  if (dir === undefined) return [];
  return readdirSync(dir)
    .filter((name) => isFile(join(dir, name, 'applet.json')))
    .sort();
}

// `applets_dir` may contain plain files and broken links, for which `statSync` throws.
function isFile(path: string): boolean {
  return attempt(() => statSync(path).isFile()) === true;
}

function attempt<T>(step: () => T): T | string {
  try {
    return step();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function readManifest(path: string, name: string): Pick<Applet, 'manifest' | 'ignored'> {
  const text = readRegularFile(path, maxManifestBytes);
  const json = toJson(path, text);
  const parsed = manifestSchema.safeParse(json, zodMessages);
  if (!parsed.success) {
    const problems = toProblems(parsed.error, manifestSchema).map(({ sentence }) => sentence);
    throw new Error(`${path}: ${problems.join('; ')}.`);
  }
  if (parsed.data.slug !== name) {
    throw new Error(
      `${path}: slug is ${parsed.data.slug}, but the folder is ${name}; they must be the same.`,
    );
  }
  return { manifest: parsed.data, ignored: unknownKeys(json).map(toOneLine) };
}

function toJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not valid JSON: ${error instanceof Error ? error.message : error}.`);
  }
}

function lists(allow: AllowList, program: string): boolean {
  return allow.kind === 'all' || (allow.kind === 'names' && allow.names.includes(program));
}
