// Programs of many kinds write a file or fill a folder that an operand names: `rclone copyto h:x FILE`, `sshfs h: FOLDER`,
// `sphinx-build docs FOLDER`. Unless a program is known to read its operands, or its entry judges them, none may be protected.
import { type Arg, knownArg, prefixOf } from '../words/arg.ts';
import { judgeLoaded } from './judge-write.ts';
import type { WalkScope } from './scope.ts';
import type { Walk } from './walk.ts';

/** Refuses operands that name protected files; `isKnown` is true for programs with an entry. */
export function judgeOperands(
  walk: Walk,
  program: string,
  args: readonly Arg[],
  scope: WalkScope,
  isKnown: boolean,
): void {
  if (isKnown ? !writers.has(program) : readers.has(program)) return;
  args.forEach((arg, at) => {
    if (prefixOf(arg).startsWith('-') || readOption.test(args[at - 1]?.text ?? '')) return;
    for (const path of pathsIn(arg)) judgeLoaded(walk, path, program, scope);
  });
}

/** An option whose value the program reads or leaves out. */
const readOption =
  /^-(?:[IXxeki]$|-?(?:[\w-]{0,40}-)?(?:exclude|ignore|skip|filter|input|config|settings|include|git-dir|work-tree|project|from|source|file|key|cert|cwd|dir)$)/;

/** The word itself, and the path in `local:PATH`, `out=PATH` and `OPEN:PATH,creat`. */
function pathsIn(arg: Arg): readonly Arg[] {
  const { text } = arg;
  if (text === undefined) return [arg];
  const inside = /^(?:\[[^\]]{0,80}\]|[\w.-]{1,40}[=:](?!\/\/))([^,]*)/.exec(text)?.[1];
  return inside === undefined ? [arg] : [arg, knownArg(inside, arg)];
}

/** Programs without an entry that only read. */
const readers = new Set(
  `actionlint ast-grep checkov cloc codespell dust duf editorconfig-checker erd exa eza gitleaks hadolint jsonlint lsd ls-lint markdownlint
  biome cspell dprint markdownlint-cli2 nacre onefetch pastel prettier pv remark scc semgrep shellcheck shfmt sg tokei trivy trufflehog
  typos vale yamllint z zoxide`.split(/\s+/),
);

/** Programs whose entry judges options only. */
const writers = new Set(
  `link lz4 dos2unix unix2dos mknod ffmpeg convert magick sqlite3 duckdb gh glab cargo cmake helm terraform tofu sshfs pscp psftp rclone restic borg borgmatic duplicity rdiff-backup rsnapshot unison dar afio restore lsyncd svn svnadmin hg sl chg jj cvs bzr
  brz darcs fossil aws gsutil gcloud az oc podman nerdctl buildah podman-compose docker-compose minikube lxc incus multipass limactl
  jar jlink jmod jpackage keytool javadoc ar gcc-ar llvm-ar strip llvm-strip patchelf ranlib qpdf mutool ps2pdf gs exiftool
  jpegoptim mogrify sphinx-build mkdocs virtualenv meson initdb pg_ctl asciinema xmllint gpgtar dpkg-deb dpkg-source go rails dune mix flutter rebar3
  stack dart composer cnpm gem luarocks opam conda mamba micromamba pixi uv pdm poetry hatch vagrant yt-dlp youtube-dl gallery-dl ftp lftp tftp
  gio dpkg rpm mbsync fetchmail cdk sam serverless sls wrangler vercel rotatelogs mbuffer csplit uudecode chromium google-chrome mencoder
  bzrtools nix flox guix cookiecutter http https xh axel aria2c mongodump mongoexport tectonic dump openssl jupyter yadm vcsh etckeeper`.split(
    /\s+/,
  ),
);
