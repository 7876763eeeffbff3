import { nearest } from '../settings/nearest.ts';
import { isListed } from './match-rules.ts';
import { presets } from './presets.ts';
import { programNamed } from './programs/catalog.ts';
import { baseName } from './words/paths.ts';

/** Another way to do what a program does; `needs` is the program that must be listed for it. */
interface OtherWay {
  readonly needs?: string;
  readonly use: string;
}

const program = (name: string, use = name): OtherWay => ({ needs: name, use });
const ownEditTool: OtherWay = { use: "your client's own edit tool" };
const editing = [program('sed', 'sed -i'), ownEditTool];
const paging = [program('cat'), program('head')];
const searching = [program('rg'), program('grep', 'grep -rn')];
const python = [program('python3'), program('python'), program('uv', 'uv run python')];
const packages = [program('npm'), program('pnpm'), program('yarn'), program('bun')];
const runner = [program('npx'), program('npm', 'npm exec'), program('pnpm', 'pnpm exec')];
const pip = [program('pip3'), program('pip'), program('python3', 'python3 -m pip'), program('uv', 'uv pip')];
const download = [program('curl', 'curl -LO'), program('wget')];
const withoutIt: OtherWay = { use: 'the command without it' };
const separately: OtherWay = { use: 'the commands themselves, without a shell around them,' };

// The first way whose program is listed is suggested.
const otherWays: Readonly<Record<string, readonly OtherWay[]>> = {
  ...{ python, python2: python, python3: python, pypy3: python },
  ...{ pip, pip3: pip, pipx: pip },
  ...{ rg: searching, ag: searching, ack: searching, grep: searching },
  egrep: [program('grep', 'grep -E'), program('rg')],
  fgrep: [program('grep', 'grep -F'), program('rg', 'rg -F')],
  ...{ fd: [program('find')], fdfind: [program('find')], locate: [program('find')] },
  find: [program('fd'), program('ls', 'ls -R')],
  tree: [program('find'), program('ls', 'ls -R')],
  ...{ eza: [program('ls')], exa: [program('ls')], bat: [program('cat')], batcat: [program('cat')] },
  ...{ less: paging, more: paging, most: paging },
  ...{ wget: download, curl: [program('wget', 'wget -qO-')], aria2c: download, http: download },
  ...{ npm: packages, yarn: packages, pnpm: packages, bun: packages },
  ...{ npx: runner, bunx: runner, pnpx: runner },
  ...{ nodejs: [program('node')], node: [program('nodejs'), program('bun'), program('deno')] },
  ...{ tsx: [program('npx', 'npx tsx')], 'ts-node': [program('npx', 'npx ts-node')] },
  ...{ vim: editing, vi: editing, nvim: editing, nano: editing, emacs: editing, ed: editing, code: editing },
  perl: [program('sed'), program('awk'), program('python3', 'python3 -c')],
  ...{ gawk: [program('awk')], mawk: [program('awk')], gsed: [program('sed')], gmake: [program('make')] },
  jq: [program('python3', 'python3 -m json.tool'), program('node', 'node -p')],
  ...{ pytest: [program('python3', 'python3 -m pytest')], tox: [program('pytest')] },
  ...{ docker: [program('podman')], podman: [program('docker')] },
  ...{ zip: [program('tar')], unzip: [program('tar'), program('python3', 'python3 -m zipfile')] },
  ...{ sudo: [withoutIt], doas: [withoutIt] },
  ...{ bash: [separately], sh: [separately], zsh: [separately], dash: [separately] },
};

const inPresets = new Set(Object.values(presets).flatMap(({ allowedCommands }) => allowedCommands));

/**
 * A sentence that names the nearest allowed way to do what a refused program does; undefined if none is known. A name
 * that is neither in the catalog of programs nor in a preset is compared with the listed ones, as it may be mistyped.
 */
export function nearestWay(name: string, listed: readonly string[]): string | undefined {
  const base = baseName(name);
  const known = Object.hasOwn(otherWays, base) ? (otherWays[base] ?? []) : [];
  const way = known.find(
    ({ needs }) => needs === undefined || (needs !== base && isListed(needs, listed, [])),
  );
  if (way !== undefined) return `Use ${way.use} instead.`;
  const isProgram = programNamed(base) !== undefined || inPresets.has(base);
  const meant = isProgram ? undefined : nearest(base, listed);
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
}
