// The two scripts that run on another machine before there is a worker. A login shell of any kind passes them on as
// arguments of `sh -c`, so they have neither single quotes, exclamation marks nor line breaks.

/**
 * Starts the loader with the first Node that is new enough. $1 evaluates the loader, $2 is the loader, $3 the tag of messages, then
 * come the other arguments of the loader; $0 is a second folder to look for Node in, or `nacre`.
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
 * Receives a Node binary. $1 is the tag, $2 the size, $3 the SHA-256, $4 the folder of nacre, in which `~/` is the home and UID the number of the user.
 * `head` needs no end of its input, which some roads cannot send.
 */
export const putNodeScript = [
  'umask 077; r=$4; case $r in "~/"*) r=$HOME/${r#??};; *UID) r=${r%UID}$(id -u);; esac;',
  'mkdir -p "$r/node" || exit 1; f=$r/node/.new.$$; trap "rm -f \\"\\$f\\"" EXIT;',
  'echo; echo "$1 {\\"need\\":\\"data\\"}";',
  'head -c "$2" >"$f" || exit 1;',
  'if command -v sha256sum >/dev/null 2>&1; then set -- "$1" "$2" "$3" $(sha256sum "$f");',
  'if [ "$3" != "$4" ]; then echo "the copy has another digest" >&2; exit 1; fi; fi;',
  'chmod 700 "$f"; "$f" --version >/dev/null || exit 98; mv -f "$f" "$r/node/node" || exit 1;',
  'echo; echo "$1 {\\"done\\":true}"',
].join(' ');
