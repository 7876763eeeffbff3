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

/** An option whose value names something that the program reads or skips. */
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
  `actionlint ast-grep biome checkov cloc codespell cspell dprint duf dust editorconfig-checker erd exa eza gitleaks hadolint jsonlint ls-lint lsd
  markdownlint markdownlint-cli2 nacre onefetch pastel prettier pv remark scc semgrep sg shellcheck shfmt tokei trivy trufflehog typos vale
  yamllint z zoxide`.split(/\s+/),
);

/** Programs whose entry judges options only. */
const writers = new Set(
  `afio ar aria2c asciinema aws axel az borg borgmatic brz buildah bzr bzrtools c++ cargo cc cdk chg chromium clang clang++ cmake cnpm composer
  conda convert cookiecutter csplit cvs dar darcs dart docker-compose dos2unix dpkg dpkg-deb dpkg-source duckdb dump dune duplicity etckeeper
  exiftool fetchmail ffmpeg flox flutter fossil ftp g++ gallery-dl gcc gcc-ar gcloud gem gh gio glab go google-chrome gpgtar gs gsutil guix hatch
  helm hg http https incus initdb jar javadoc jj jlink jmod jpackage jpegoptim jupyter keytool ld lftp limactl link llvm-ar llvm-strip lsyncd
  luarocks lxc lz4 magick mamba mbsync mbuffer mencoder meson micromamba minikube mix mkdocs mknod mocha mogrify mongodump mongoexport multipass
  mutool nerdctl nix oc opam openssl patchelf pdm pg_ctl pixi playwright podman podman-compose poetry ps2pdf pscp psftp qpdf rails ranlib rclone
  rdiff-backup rebar3 restic restore rotatelogs rpm rsnapshot sam serverless sl sls sphinx-build sqlite3 sshfs stack strip svn svnadmin tectonic
  terraform tftp tofu unison unix2dos uudecode uv vagrant vcsh vercel virtualenv wrangler xh xmllint yadm youtube-dl yt-dlp`.split(
    /\s+/,
  ),
);
