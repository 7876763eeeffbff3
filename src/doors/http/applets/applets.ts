// Applets: folders with an applet.json and static files, each on an origin of its own.
// The folder is looked at anew whenever the list is asked for, so that new and changed ones are there at once.
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import type { AllowList } from '../../../contract/decision.ts';
import type { Assembly } from '../../door.ts';
import type { HttpCaller } from '../callers.ts';
import { type Manifest, manifestSchema, programsOf } from './manifest.ts';

/** One applet that can be opened. */
export interface Applet {
  readonly manifest: Manifest;
  /** Its canonical folder. */
  readonly folder: string;
  /** Who its page is when it calls. */
  readonly caller: HttpCaller;
  /** Programs that it asks for and the server does not allow. */
  readonly refused: readonly string[];
}

/** The applets of a folder. */
export interface Applets {
  list(): { readonly applets: readonly Applet[]; readonly problems: readonly string[] };
  find(slug: string): Applet | undefined;
}

const longestManifest = 65_536;

/** Finds the applets of a folder; without one there are none. */
export function createApplets(
  dir: string | undefined,
  { shellRules, terminalRules }: Pick<Assembly, 'shellRules' | 'terminalRules'>,
  terminalShells: readonly string[],
): Applets {
  const read = (name: string): Applet => {
    const folder = realpathSync(join(dir ?? '', name));
    const manifest = readManifest(join(folder, 'applet.json'), name);
    const programs = programsOf(manifest);
    const rules = shellRules({ allow: programs, named: `the permissions of the applet ${name}` });
    const shells = terminalShells.filter((shell) => programs.includes(shell));
    const terminal = { shells, rules: terminalRules() };
    return {
      manifest,
      folder,
      caller: { client: `applet ${name}`, owner: `applet/${name}`, rules, terminal, tools: [] },
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

/** What is wrong with applets, and which of them ask for more than they get. */
export function warnOfApplets(applets: Applets): readonly string[] {
  const found = applets.list();
  const asking = found.applets.filter(({ refused }) => refused.length > 0);
  return [
    ...found.problems,
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

// Beside applets there may be anything, such as files, which cannot be looked into.
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

function readManifest(path: string, name: string): Manifest {
  const text = readFileSync(path, 'utf8');
  if (text.length > longestManifest) throw new Error(`${path} is longer than ${longestManifest} characters.`);
  const parsed = manifestSchema.safeParse(toJson(path, text));
  if (!parsed.success) throw new Error(`${path}: ${toWords(parsed.error)}.`);
  if (parsed.data.slug !== name) {
    throw new Error(
      `${path}: slug is ${parsed.data.slug}, but the folder is ${name}; they must be the same.`,
    );
  }
  return parsed.data;
}

function toJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not valid JSON: ${error instanceof Error ? error.message : error}.`);
  }
}

function toWords({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join('.') || 'the manifest'}: ${message}`).join('; ');
}

function lists(allow: AllowList, program: string): boolean {
  return allow.kind === 'all' || (allow.kind === 'names' && allow.names.includes(program));
}
