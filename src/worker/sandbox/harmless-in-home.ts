// Files and folders of a home directory that a sandbox shows: programs, their libraries, and caches of public packages. None
// is a place where a program keeps passwords or tokens; `~/.cargo/credentials.toml`, for example, is next to `~/.cargo/bin`.
// A folder that is not listed here stays hidden until the setting `home_show` names it.

const inCache = `
  .cache: Cypress JetBrains/RemoteDev bazel bazelisk black bun ccache clangd composer/files coursier deno electron
    electron-builder fontconfig go-build golangci-lint gopls helm/repository jedi matplotlib mesa_shader_cache mise
    ms-playwright mypy nix node node-gyp npm pip pipenv pnpm poetry pre-commit prettier puppeteer pypoetry/artifacts
    pypoetry/cache pypoetry/virtualenvs pytest rattler ruff rustup selenium sccache torch turbo typescript uv virtualenv
    vcpkg yarn zig`;

const inTools = `
  .: .asdf .bun .deno .dotnet .elan .fnm .fonts .ghcup .goenv .gvm .jenv .juliaup .konan .linuxbrew .n .nodenv .nvm
    .nix-profile .opam .phpenv .plenv .pyenv .rbenv .rustup .rvm .sdkman .tfenv .yarn .pnpm-store anaconda3 flutter
    mambaforge micromamba miniconda3 miniforge3
  .cabal: bin lib packages store
  .cargo: bin env git registry
  .composer: cache vendor
  .conda: envs pkgs
  .config/composer: vendor
  .coursier: bin cache
  .espressif: dist python_env tools
  .foundry: bin
  .gem: ruby specs
  .bundle: cache
  .gradle: caches jdks native wrapper
  .hex: packages
  .ivy2: cache local
  .julia: artifacts compiled packages registries
  .krew: bin store
  .local: bin include lib lib64 pipx
  .local/share: aquasecurity bash-completion bob claude/versions coursier/bin deno fish/vendor_completions.d fnm fonts
    gem go icons man mamba mise nvm pipx pnpm powershell pypoetry/venv rtx swiftly/toolchains themes umake uv
    virtualenv virtualenvs zinit
  .local/state: fnm_multishells nix/profiles
  .m2: repository wrapper
  .mix: archives elixir escripts
  .npm: _cacache _npx
  .npm-global: bin lib share
  .nuget: packages
  .platformio: packages penv platforms
  .pub-cache: bin global_packages hosted
  .stack: pantry programs snapshots
  .swiftpm: cache
  .terraform.d: plugin-cache plugins
  .volta: bin tools
  .wasmer: bin lib
  Android: Sdk
  go: bin pkg`;

const inSettings = `
  .: .editorconfig .gitattributes .gitignore .gitignore_global .gitmessage .inputrc .node-version .nvmrc .python-version
    .ruby-version .tool-versions
  .config/git: attributes ignore`;

/** Paths relative to a home directory. */
export const harmlessInHome: readonly string[] = [inCache, inTools, inSettings].flatMap(toPaths);

/** Settings of git, with the name and address for commits; they are shown unless they contain a password or token. */
export const gitSettings: readonly string[] = ['.gitconfig', '.config/git/config'];

/** Folders of programs that belong to no user's home directory. */
export const sharedProgramFolders: readonly string[] = ['/home/linuxbrew/.linuxbrew'];

/** Folders next to a folder of programs from which they load libraries; not `share`: `~/.local/share` contains key rings. */
export const libraryFolders: readonly string[] = ['lib', 'lib64', 'libexec'];

// A line `FOLDER: NAME NAME …`, continued by lines that are indented further.
function toPaths(table: string): readonly string[] {
  return table
    .trim()
    .split(/\n {2}(?! )/)
    .flatMap((line) => {
      const [folder = '', ...names] = line.trim().split(/\s+/);
      const prefix = folder === '.:' ? '' : `${folder.slice(0, -1)}/`;
      return names.map((name) => `${prefix}${name}`);
    });
}
