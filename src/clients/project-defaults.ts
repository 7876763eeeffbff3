// The proposals of `nacre init` for a folder: a preset for the kind of project, and the hosts that its package managers need.

/** A kind of project, recognised by a file in its folder. */
type ProjectKind = 'node' | 'python' | 'go' | 'rust';

const marks: Readonly<Record<ProjectKind, readonly string[]>> = {
  node: ['package.json', 'deno.json'],
  python: ['pyproject.toml', 'requirements.txt', 'setup.py', 'setup.cfg', 'Pipfile', 'uv.lock'],
  go: ['go.mod', 'go.work'],
  rust: ['Cargo.toml'],
};

const registries: Readonly<Record<ProjectKind, readonly string[]>> = {
  node: ['registry.npmjs.org', 'registry.yarnpkg.com'],
  python: ['pypi.org', 'files.pythonhosted.org'],
  go: ['proxy.golang.org', 'sum.golang.org'],
  rust: ['crates.io', 'index.crates.io', 'static.crates.io'],
};

// Dependencies of all four kinds can be git repositories on GitHub, and `git fetch` and `git push` reach it over HTTPS.
const everyKind = ['github.com'];

/** The file names that `presetFor` looks for. */
export const projectMarks: readonly string[] = Object.values(marks).flat();

/**
 * The preset for a folder with these files: `dev-node`, `dev-python`, `dev-go` or `dev-rust`, and `dev` for a mixture.
 * A folder without any of these files may become any kind of project, so it also gets `dev`.
 */
export function presetFor(files: readonly string[]): string {
  const kinds = kindsOf().filter((kind) => marks[kind].some((name) => files.includes(name)));
  return kinds.length === 1 ? `dev-${kinds[0]}` : 'dev';
}

/** The hosts from which the package managers of a development preset download; none for other presets. */
export function registriesOf(preset: string | undefined): readonly string[] {
  const kinds = kindsOf().filter((kind) => preset === 'dev' || preset === `dev-${kind}`);
  return kinds.length === 0 ? [] : [...kinds.flatMap((kind) => registries[kind]), ...everyKind];
}

function kindsOf(): readonly ProjectKind[] {
  return Object.keys(marks) as ProjectKind[];
}
