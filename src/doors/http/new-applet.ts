// `nacre applet new NAME`: copies the files of `applet-template/` into a new folder, with the applet's slug and title.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NacreError } from '../../contract/failure.ts';
import { makeFolder } from '../../support/make-folder.ts';
import type { Arguments, HttpAccess, IoAccess, ProcessAccess } from '../door.ts';
import { print } from '../print.ts';
import { isSlug, type Manifest, slugRule } from './applets/manifest.ts';

type AppletDeps = IoAccess & Arguments & Pick<HttpAccess, 'http'> & Pick<ProcessAccess, 'cwd'>;

/** `nacre applet new NAME`. */
export async function appletDoor({ io, words, http, cwd }: AppletDeps): Promise<number> {
  const slug = toSlug(words);
  const appletsDir = resolve(cwd, http.appletsDir ?? defaultDir);
  const folder = join(appletsDir, slug);
  createFolder(appletsDir, folder);
  try {
    for (const [name, text] of toFiles(slug)) writeFileSync(join(folder, name), text);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw cannotWrite(folder, error);
  }
  await print(io.stdout, toNextStep(folder, http.appletsDir === undefined, cwd), io.interrupted);
  return 0;
}

const defaultDir = 'applets';

function toSlug([verb, name, ...more]: readonly string[]): string {
  if (verb !== 'new' || name === undefined || more.length > 0)
    throw new NacreError('invalid_request', toUsageProblem(verb, more), {
      hint: 'Run nacre applet new NAME, such as nacre applet new disk-usage.',
    });
  if (isSlug(name)) return name;
  const similar = toSimilarSlug(name);
  throw new NacreError('invalid_request', `The applet name ${JSON.stringify(name)} ${slugRule}.`, {
    hint: isSlug(similar)
      ? `Try nacre applet new ${similar}.`
      : 'The name becomes its folder and its host name, as in disk-usage.localhost.',
  });
}

function toUsageProblem(verb: string | undefined, more: readonly string[]): string {
  if (verb === undefined) return 'nacre applet needs a subcommand; the only one is new.';
  if (verb !== 'new') return `nacre applet has no subcommand ${verb}; the only one is new.`;
  if (more.length > 0) return 'nacre applet new accepts one name.';
  return 'nacre applet new needs a name.';
}

/** Turns a text into a slug, if it contains any usable characters: `My Applet!` becomes `my-applet`. */
function toSimilarSlug(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, 32).replace(/-$/, '');
}

function createFolder(appletsDir: string, folder: string): void {
  try {
    makeFolder(appletsDir, 0o755);
    mkdirSync(folder);
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isTaken) throw cannotWrite(folder, error);
    throw new NacreError('invalid_request', `${folder} already exists.`, {
      hint: 'Choose another name; nothing was changed.',
    });
  }
}

function cannotWrite(folder: string, error: unknown): NacreError {
  const reason = error instanceof Error ? error.message : String(error);
  return new NacreError('invalid_request', `Cannot create ${folder}: ${reason}.`, {
    hint: 'Name a folder that you can write to with --applets-dir.',
    cause: error,
  });
}

// Resolved here, since the build puts all code into one folder with `applet-template` in it.
const templateFolder = fileURLToPath(new URL('./applet-template', import.meta.url));

function toFiles(slug: string): ReadonlyMap<string, string> {
  const title = toTitle(slug);
  const manifest = {
    slug,
    title,
    description: 'Lists the files of a folder.',
    permissions: ['shell:ls'],
  } satisfies Partial<Manifest>;
  const fill = (text: string) => text.replaceAll('APPLET_TITLE', title).replaceAll('APPLET_SLUG', slug);
  const files = readdirSync(templateFolder).map(
    (name) => [name, fill(readFileSync(join(templateFolder, name), 'utf8'))] as const,
  );
  return new Map([...files, ['applet.json', `${JSON.stringify(manifest, null, 2)}\n`]]);
}

function toTitle(slug: string): string {
  const words = slug.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function toNextStep(folder: string, isDefaultDir: boolean, cwd: string): string {
  const shown = relative(cwd, folder);
  const next = isDefaultDir
    ? `Serve it with\n  nacre serve --applets-dir ${defaultDir}\nand open the link that it prints.`
    : 'A server with this applets_dir already shows it in its console; otherwise start one with nacre serve.';
  return `Created ${shown.startsWith('..') ? folder : shown}: applet.json, index.html, app.js, style.css, README.md.\n${next}\nThe rules for applets are in its README.md.\n`;
}
