// The ready-made lists. A development preset lists the build tools of one language, and other programs that agents
// usually run. Its interpreters run arbitrary code, so each further program in it adds convenience, not power; a
// sandbox contains both.

const reading = words(`
  basename cat cksum cmp column comm command cut date df diff dirname du echo egrep env expr fgrep find fold
  grep head hexdump id join jq ls mapfile md5sum nl nproc od paste printenv printf ps pwd read readarray readlink realpath rev rg
  seq sha1sum sha256sum sort stat strings tac tail tr tree type uname uniq wc which whoami`);

const editing = words(`
  awk base64 bash bunzip2 bzip2 chmod cp csplit curl envsubst file gunzip gzip install jobs kill ln lsof make mkdir mktemp mv nohup
  openssl patch perl pgrep pkill python python3 rm rmdir sed sh sleep source split sqlite3 stdbuf tar tee time timeout
  touch trap truncate unlink unzip wget xargs xxd xz yes zcat zip . `);

/** Packages that build, check, test or serve a project on this machine, and none that publish or deploy it. */
export const npmPackages = words(`
  @angular/cli @biomejs/biome @tailwindcss/cli astro attw ava babel c8 changeset commitlint concurrently copyfiles cpx
  create-next-app create-react-app create-vite cross-env cspell cypress del-cli depcheck dotenv dotenv-cli drizzle-kit
  electron env-cmd expo graphql-codegen http-server husky jsdoc json-server kill-port knex knip lerna license-checker
  lint-staged madge markdownlint markdownlint-cli markdownlint-cli2 mkdirp msw ncu nest ng npm-check-updates npm-run-all
  nuxi nyc only-allow openapi-typescript parcel patch-package postcss prisma publint react-native rimraf run-p run-s sass
  sequelize serve shadcn shx size-limit sort-package-json source-map-explorer storybook svelte-check tailwindcss tap ts-prune
  typedoc typeorm vue-tsc wait-on zx`);

const javascript = [
  ...words(`
  biome bun bunx corepack deno esbuild eslint jest mocha next node nodemon npm npx nx oxlint playwright pnpm pnpx
  prettier rollup stylelint swc ts-node tsc tsup tsx turbo vite vitest webpack yarn`),
  ...npmPackages,
  ...under(
    ['node_modules/.bin', './node_modules/.bin'],
    words(`biome esbuild eslint jest mocha next nx playwright prettier prisma rollup tailwindcss ts-node tsc tsup tsx
      turbo vite vitest webpack`),
  ),
];

const python = [
  ...words(`
  alembic bandit black celery coverage django-admin flake8 flask gunicorn hatch ipython isort jupyter mkdocs mypy nox pdm
  pip pip-audit pip-compile pip-sync pip3 pipenv poetry pre-commit pylint pyright pytest pyupgrade ruff sphinx-build
  streamlit tox uv uvicorn uvx vulture`),
  ...under(
    ['.venv/bin', './.venv/bin', 'venv/bin', './venv/bin'],
    words('alembic black coverage flake8 flask isort mypy pip pre-commit pytest python python3 ruff uvicorn'),
  ),
];

const go = words(`
  buf cc dlv gcc go gofmt goimports golangci-lint gopls gotestsum govulncheck mockgen protoc sqlc staticcheck templ
  wire`);

const rust = words(`
  cargo cargo-audit cargo-clippy cargo-deny cargo-expand cargo-fmt cargo-llvm-cov cargo-machete cargo-nextest
  cargo-tarpaulin cargo-watch cc clippy-driver gcc rust-analyzer rustc rustdoc rustfmt rustup trunk wasm-pack`);

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
