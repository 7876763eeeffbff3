// The ready-made lists. A development preset lists the build tools of one language, and other programs that agents
// usually run. Its interpreters run arbitrary code, so each further program in it adds convenience, not power; a
// sandbox contains both.

const reading = words(`
  basename cat cksum cmp column comm command cut date df diff dirname du echo egrep env expr fgrep find fold
  grep head hexdump id join jq ls mapfile md5sum nl nproc od paste printenv printf ps pwd read readarray readlink realpath rev rg
  seq sha1sum sha256sum sort stat strings tac tail tr type uname uniq wc which whoami`);

const editing = words(`
  awk base64 bash bunzip2 bzip2 chmod cp csplit curl envsubst file gunzip gzip install jobs kill ln lsof make mkdir mktemp mv nohup
  openssl patch perl pgrep pkill python python3 rm rmdir sed sh sleep source split sqlite3 stdbuf tar tee time timeout
  touch trap tree truncate unlink unzip wget xargs xxd xz yes zcat zip . `);

const javascript = [
  ...words(`
  biome bun bunx corepack deno esbuild eslint jest mocha next node nodemon npm npx nx oxlint playwright pnpm pnpx
  prettier rollup stylelint swc ts-node tsc tsup tsx turbo vite vitest webpack yarn`),
  ...under(
    ['node_modules/.bin', './node_modules/.bin'],
    words('biome eslint jest prettier tsc tsx vite vitest'),
  ),
];

const python = [
  ...words(`
  bandit black coverage flake8 flask hatch isort mypy nox pdm pip pip3 pipenv poetry pre-commit pylint pyright pytest
  ruff tox uv uvicorn uvx`),
  ...under(['.venv/bin', './.venv/bin', 'venv/bin', './venv/bin'], words('mypy pip pytest python ruff')),
];

const go = words('cc dlv gcc go gofmt goimports golangci-lint gopls gotestsum govulncheck staticcheck');

const rust = words(
  'cargo cargo-clippy cargo-fmt cargo-nextest cc clippy-driver gcc rust-analyzer rustc rustdoc rustfmt rustup',
);

const native = words('ar c++ cc clang clang++ cmake ctest g++ gcc ld meson ninja nm objdump pkg-config');

/** The preset names, from narrowest to widest. */
export const presetNames = [
  'none',
  'read-only',
  'git',
  'dev-node',
  'dev-python',
  'dev-go',
  'dev-rust',
  'dev',
  'full',
] as const;

/** One preset name. */
export type PresetName = (typeof presetNames)[number];

/** The values of `allowedCommands` and `fileWrites` that each preset implies. */
export const presets: Readonly<
  Record<PresetName, { readonly allowedCommands: readonly string[]; readonly fileWrites?: 'none' }>
> = {
  none: { allowedCommands: [] },
  'read-only': { allowedCommands: sorted(reading), fileWrites: 'none' },
  git: { allowedCommands: sorted(reading, ['git']) },
  'dev-node': { allowedCommands: sorted(reading, editing, ['git'], javascript) },
  'dev-python': { allowedCommands: sorted(reading, editing, ['git'], python) },
  'dev-go': { allowedCommands: sorted(reading, editing, ['git'], go) },
  'dev-rust': { allowedCommands: sorted(reading, editing, ['git'], rust) },
  dev: { allowedCommands: sorted(reading, editing, ['git'], javascript, python, go, rust, native) },
  full: { allowedCommands: ['*'] },
};

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

// `node_modules/.bin/tsc` is not `tsc` (P3), so the usual relative paths are listed as well.
function under(folders: readonly string[], names: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => names.map((name) => `${folder}/${name}`));
}

function sorted(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())].sort();
}
