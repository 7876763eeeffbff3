// The two scripts that run on another machine before the worker is installed. The login shell there, which may be of any kind,
// passes them to `sh -c`, so they contain no single quotes, exclamation marks or line breaks.

/**
 * Starts the loader with the first Node that is new enough. $1 is `evaluateLoader`, $2 the loader, $3 the tag of messages; the
 * other arguments of the loader follow. $0 is a second folder in which to look for Node, or `nacre` if there is none.
 */
export const startScript = [
  't="$3"; say() { echo; echo "$t $1"; }; k=$0; case $k in *UID) k=${k%UID}$(id -u);; esac;',
  'command -v bash >/dev/null 2>&1 || { say "{\\"error\\":\\"no-bash\\"}"; exit 1; };',
  's="$1"; shift; own=;',
  'if [ "$k" != nacre ] && [ -O "$k/node/node" ]; then own="$k/node/node"; fi;',
  'for n in node nodejs "$HOME/.cache/nacre/node/node" "$own" "$HOME/.local/bin/node" "$HOME/.volta/bin/node"',
  '/usr/local/bin/node /opt/node/bin/node "$HOME"/.nvm/versions/node/*/bin/node; do',
  'p=$(command -v "$n" 2>/dev/null) || continue; [ -n "$p" ] || continue;',
  '"$p" -e "$s" "$@"; r=$?;',
  'case $r in 97|126|127) ;; *) exit $r;; esac; done;',
  'l=none; for f in /lib/ld-linux* /lib64/ld-linux*; do if [ -e "$f" ]; then l=glibc; fi; done;',
  'for f in /lib/ld-musl-*; do if [ -e "$f" ]; then l=musl; fi; done;',
  'say "{\\"need\\":\\"node\\",\\"os\\":\\"$(uname -s)\\",\\"arch\\":\\"$(uname -m)\\",\\"libc\\":\\"$l\\"}"',
].join(' ');

/** Evaluates the loader, which is its first argument in base64, on the other machine. */
export const evaluateLoader = 'eval(Buffer.from(require("process").argv[1],"base64").toString())';

/**
 * Receives a Node binary. $1 is the tag, $2 the size, $3 the SHA-256, $4 the folder of nacre, in which `~/` stands for the
 * home directory and UID for the user id. `head -c` stops after $2 bytes, because some roads cannot send the end of input.
 */
export const putNodeScript = [
  'umask 077; r=$4; case $r in "~/"*) r=$HOME/${r#??};; *UID) r=${r%UID}$(id -u);; esac;',
  'mkdir -p "$r/node" || exit 1; f=$r/node/.new.$$; trap "rm -f \\"\\$f\\"" EXIT;',
  'echo; echo "$1 {\\"need\\":\\"data\\"}";',
  'head -c "$2" >"$f" || exit 1;',
  'if command -v sha256sum >/dev/null 2>&1; then set -- "$1" "$2" "$3" $(sha256sum "$f");',
  'if [ "$3" != "$4" ]; then echo "the SHA-256 of the copy does not match" >&2; exit 1; fi; fi;',
  'chmod 700 "$f"; "$f" --version >/dev/null || exit 98; mv -f "$f" "$r/node/node" || exit 1;',
  'echo; echo "$1 {\\"done\\":true}"',
].join(' ');
