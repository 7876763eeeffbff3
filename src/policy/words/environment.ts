import { isUnknownOfFamily } from './variable-families.ts';

// Variables that choose which code runs (P7), such as PATH and LD_PRELOAD. Under a list of names they may not be set.
// 1. `names` and `pattern` choose code for some program whenever they are in its environment, so they are judged even if a
//    script sets them without exporting them.
// 2. The value of a variable in `commands` is a command line, which is judged like one.
// 3. An exported variable in the namespace of a program (variable-families.ts) must be known to be data.
// Every other variable is data and may be set.

/** How a variable chooses code: `refuse` is never allowed under a list, `command` contains a command line to judge. */
export type CodeVariable =
  | { readonly kind: 'refuse' }
  /** `rest` are words that the program adds to the command line. */
  | { readonly kind: 'command'; readonly rest: string }
  /** A command line that git also runs for the todo lists of rebases; `forLists` if only for them. */
  | { readonly kind: 'editor'; readonly forLists: boolean };

/** Classifies setting a variable to a value (undefined if unknown); returns undefined for data. */
export function codeVariable(
  name: string,
  value: string | undefined,
  exported: boolean,
): CodeVariable | undefined {
  const isHarmless =
    value === undefined
      ? harmlessUnknown.has(name)
      : Object.hasOwn(harmlessValues, name) && harmlessValues[name]?.test(value);
  if (isHarmless) return undefined;
  if (compilers.has(name))
    return exported && !(value !== undefined && compiler.test(value))
      ? { kind: 'command', rest: '' }
      : undefined;
  const rest = commands.get(name) ?? (exported && isUnlistedCommand(name) ? '' : undefined);
  if (rest !== undefined) {
    if (value !== undefined && runsNothing.test(value)) return undefined;
    return editors.has(name)
      ? { kind: 'editor', forLists: name === 'GIT_SEQUENCE_EDITOR' }
      : { kind: 'command', rest };
  }
  return mayChooseCode(name, exported) ? { kind: 'refuse' } : undefined;
}

/** Returns true for a name that is not known, but looks as if a program runs the value. */
function isUnlistedCommand(name: string): boolean {
  return commandName.test(name) && !names.has(name) && !pattern.test(name) && !isUnknownOfFamily(name);
}

/** Returns true if a variable of this name chooses code for at least some values. */
export function mayChooseCode(name: string, exported: boolean): boolean {
  if (isScriptName(name)) return exported && isUnknownOfFamily(name);
  return (
    names.has(name) ||
    commands.has(name) ||
    compilers.has(name) ||
    pattern.test(name) ||
    (exported && (isUnknownOfFamily(name) || commandName.test(name)))
  );
}

/** Returns true for names in lower case, which belong to the script. */
export function isScriptName(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 0x61 && first <= 0x7a;
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

const names = new Set(
  words(`
  PATH BASH_ENV ENV BASHOPTS SHELLOPTS POSIXLY_CORRECT BASH_COMPAT PS4 PROMPT_COMMAND PS0 PS1 PS2 BASH_CMDS BASH_ALIASES BASH_LOADABLES_PATH EXECIGNORE
  BASH_XTRACEFD HISTFILE TAPE SSLKEYLOGFILE DOCKER_HOST PYTHONPLATLIBDIR CDPATH INPUTRC SHELL HOSTALIASES MAILPATH TEXTDOMAIN TEXTDOMAINDIR
  LESS LESSOPEN LESSCLOSE LESSKEY LESSKEYIN LESSKEY_CONTENT LESSKEYIN_SYSTEM LESSHISTFILE MORE MANOPT MANLESS MANROFFOPT GROFF_COMMAND_PREFIX GROFF_BIN_PATH GROFF_TMAC_PATH
  GIT_SSH GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS
  GIT_ALLOW_PROTOCOL GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_ATTR_SOURCE
  NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_REDIRECT_WARNINGS NODE_COMPILE_CACHE DENO_DIR BUN_OPTIONS TS_NODE_PROJECT
  ELECTRON_RUN_AS_NODE ELECTRON_OVERRIDE_DIST_PATH
  PYTEST_PLUGINS PYTEST_ADDOPTS PIPENV_PYTHON VIRTUALENV_PYTHON COVERAGE_RCFILE COVERAGE_PROCESS_START
  PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE PYTHONEXECUTABLE PYTHONINSPECT PYTHONPYCACHEPREFIX
  UV_PYTHON UV_PROJECT_ENVIRONMENT UV_CONFIG_FILE UV_TOOL_BIN_DIR
  PERL5OPT PERL5LIB PERLLIB PERL5DB PERL5SHELL PERL_MM_OPT PERL_MB_OPT RUBYOPT RUBYLIB RUBYSHELL GEM_PATH GEM_HOME BUNDLE_GEMFILE
  LUA_INIT LUA_PATH LUA_CPATH PHPRC PHP_INI_SCAN_DIR TCLLIBPATH GUILE_LOAD_PATH GUILE_LOAD_COMPILED_PATH EMACSLOADPATH VIMINIT EXINIT GVIMINIT VIM VIMRUNTIME
  MYVIMRC R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_LIBS R_LIBS_USER JULIA_LOAD_PATH JULIA_DEPOT_PATH ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS ELIXIR_ERL_OPTIONS
  JAVA_HOME JRE_HOME JDK_HOME JAVACMD JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH MAVEN_OPTS MAVEN_ARGS M2_HOME M2 ANT_HOME KOTLIN_HOME SCALA_HOME SBT_HOME GRADLE_OPTS GRADLE_USER_HOME JAVA_OPTS ANT_OPTS ANT_ARGS SBT_OPTS
  MAKEFLAGS MAKEFILES MFLAGS GNUMAKEFLAGS CMAKE_TOOLCHAIN_FILE RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RUSTDOC RUSTFMT RUSTFLAGS RUSTDOCFLAGS
  RUSTUP_TOOLCHAIN RUSTUP_HOME CARGO_HOME CARGO_ENCODED_RUSTFLAGS
  GCC_EXEC_PREFIX COMPILER_PATH CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
  GOBIN GOFLAGS GOTOOLCHAIN GOENV GOROOT GOTOOLDIR GOVCS GOCACHEPROG GOAUTH GCCGO CGO_CFLAGS CGO_LDFLAGS
  RSYNC_CONNECT_PROG RSYNC_SHELL HG HGRCPATH HGMERGE SVN_MERGE TAR_OPTIONS ZIP UNZIP ZIPOPT UNZIPOPT DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES GREP_OPTIONS ACKRC ACK_OPTIONS AWKPATH AWKLIBPATH GAWK_PERSIST_FILE
  ANSIBLE_CONFIG DOCKER_CONFIG CONTAINERS_CONF CONTAINERS_CONF_OVERRIDE KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AZURE_CONFIG_DIR AZURE_EXTENSION_DIR
  CLOUDSDK_CONFIG GNUPGHOME
  GCONV_PATH LOCPATH NLSPATH GETCONF_DIR TERMINFO TERMINFO_DIRS TERMCAP RESOLV_HOST_CONF LIBPATH SHLIB_PATH
  GIO_EXTRA_MODULES GIO_MODULE_DIR GTK_MODULES GTK_PATH GDK_PIXBUF_MODULE_FILE QT_PLUGIN_PATH LIBMYSQL_PLUGINS LIBMYSQL_PLUGIN_DIR MYSQL_HOME SQLITE_HISTORY
  PGSERVICEFILE PGSYSCONFDIR PSQLRC WGETRC SYSTEM_WGETRC CURL_HOME SCREENRC SYSSCREENRC XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS
  SSH_SK_HELPER SSH_SK_PROVIDER SSH_PKCS11_HELPER RIPGREP_CONFIG_PATH FZF_DEFAULT_OPTS FZF_DEFAULT_OPTS_FILE BAT_CONFIG_PATH BAT_CONFIG_DIR BAT_OPTS
  TF_CLI_CONFIG_FILE TF_CLI_ARGS TF_DATA_DIR TF_PLUGIN_CACHE_DIR HELM_PLUGINS HELM_BIN
  TIME_STYLE LS_COLORS TMPDIR FFREPORT
  `),
);

/** Variables whose value is a command line, and the words that the program adds to it. */
const commands = new Map<string, string>([
  ...words(
    `EDITOR VISUAL FCEDIT LESSEDIT SUDO_EDITOR SYSTEMD_EDITOR KUBE_EDITOR HGEDITOR SVN_EDITOR PSQL_EDITOR GH_EDITOR GIT_EDITOR GIT_SEQUENCE_EDITOR
    BROWSER GH_BROWSER SUDO_ASKPASS SSH_ASKPASS GIT_ASKPASS WGET_ASKPASS ASKPASS GIT_EXTERNAL_DIFF KUBECTL_EXTERNAL_DIFF`,
  ).map((name) => [name, ' "$file"'] as const),
  ...words(
    'PAGER MANPAGER SYSTEMD_PAGER GIT_PAGER GH_PAGER AWS_PAGER BAT_PAGER DELTA_PAGER PSQL_PAGER PSQL_WATCH_PAGER ACK_PAGER FZF_DEFAULT_COMMAND FZF_CTRL_T_COMMAND FZF_ALT_C_COMMAND',
  ).map((name) => [name, ''] as const),
  ...words('GIT_SSH_COMMAND CVS_RSH SVN_SSH RSYNC_RSH').map((name) => [name, ' git@host'] as const),
]);

const editors = new Set(['EDITOR', 'VISUAL', 'GIT_EDITOR', 'GIT_SEQUENCE_EDITOR']);

// Programs skip a command line of these values, or would run the same pager without the variable.
const runsNothing = /^(?:|:|true|false|cat|more|less(?: -[FRXSKEnNiM]+){0,9})$/;

// The name of a variable that a program probably runs.
const commandName = /_(?:COMMAND|CMD|EDITOR|PAGER|BROWSER|ASKPASS|SHELL|WRAPPER|LAUNCHER|PRELOAD|RUNNER)$/;

const pattern = anyOf(
  /LD_/,
  /DYLD_/,
  /BASH_FUNC_/,
  /GIT_CONFIG_(?:KEY|VALUE)_\d+$/,
  /CARGO_TARGET_\w{1,80}_(?:RUNNER|LINKER|RUSTFLAGS)$/,
  /TF_CLI_ARGS_/,
  /LUA_(?:INIT|PATH|CPATH)_/,
  /CLOUDSDK_PYTHON/,
  /(?:GLIBC_TUNABLES|MALLOC_CONF)$/,
  /PIP_(?:CONFIG_FILE|PYTHON)$/,
  /CORECLR_PROFILER|COR_PROFILER|DOTNET_STARTUP_HOOKS$/,
  /(?:Csc|Vbc|Fsc|Resgen|SGen|AL)Tool(?:Path|Exe)$|(?:Pre|Post)BuildEvent$/,
);

/** Combines several prefixes into one expression, because it is tested on every assignment. */
function anyOf(...starts: readonly RegExp[]): RegExp {
  return new RegExp(`^(?:${starts.map(({ source }) => source).join('|')})`);
}

/** Variables whose value is a command line that make and other build tools run; judged when they are exported. */
const compilers = new Set(
  words(`
    CC CXX CPP LD AR AS NM RANLIB STRIP FC LEX YACC CMAKE MAKE PYTHON CARGO PKG_CONFIG OBJCOPY HOSTCC AUTOCONF AUTOHEADER AUTOMAKE ACLOCAL
    AUTOM4TE AUTOPOINT LIBTOOLIZE GTKDOCIZE M4 GREP EGREP FGREP ZCAT SED AWK GDB TROFF PERL RUBY XZ BZIP2 DIFF
  `),
);

// A build tool runs these programs anyway.
const compiler =
  /^(?:(?:ccache|sccache|distcc) )?(?:(?:x86_64|aarch64|arm|riscv64|i686)[\w-]{0,40}-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|tcc|icx?c|ld|lld|mold|gold|ar|as|nm|ranlib|strip|objcopy|gfortran|flex|lex|bison|yacc|autoconf|autoheader|automake|aclocal|autom4te|autopoint|libtoolize|m4|[ef]?grep|zcat|g?sed|[gm]?awk|gdb|perl|ruby|pkg-config|python3?|cargo|cmake|make)(?:-\d[\d.]*)?(?: -(?:std=[\w+]+|m(?:32|64)|O\d|g))*$/;

// `ls -l` prints the format after `+`, and mktemp prints the folder. Another program could read either as an option.
const noOptionWord = /^(?![\s\S]*(?:^|[\s+])-)/;

// A Java that the system, a package manager or sdkman has installed.
const installedJava =
  /^(?!.*\/\.\.(?:\/|$))(?:|\/(?:usr\/(?:lib|local|java)|opt|Library)\/[\w. /+-]+|(?:~|\/root|\/home\/[\w-]+)\/\.(?:sdkman|jdks|jenv|asdf)\/[\w./+-]+)$/;

const heapOnly = /^\s*(?:-(?:Xm[sxn]|Xss)\d+[kmgKMG]?(?:\s+|$))*$/;

// Bash expands a prompt once and does not re-read the result, except subscripts, which are arithmetic. It decodes
// backslash escapes first, and `\nnn` may become any character, so only the named escapes are harmless.
const literal = String.raw`[^$\x60\\}]|\\[adehHjlnrstTuvVwW@A!#[\]]|\\?\$(?=\s)`;
const shown = String.raw`\$(?:[A-Za-z_]\w*(?!\w)|\{[A-Za-z_]\w*(?:\[0\])?(?:##\*/)?\})`;
const perhaps = String.raw`\$\{[A-Za-z_]\w*(?:\[0\])?:[-+](?:${literal}|${shown})*\}`;
const plainPrompt = new RegExp(`^(?:${literal}|\\}|${shown}|${perhaps})*$`);

// Variables that may have an unknown value. Only interactive shells print the prompts, and an interactive shell runs anything that is
// typed anyway. The others put text into output, where another program could read it as an option; in everyday commands that text is a
// path or the output of dircolors.
const harmlessUnknown = new Set(['PS1', 'PS2', 'TIME_STYLE', 'LS_COLORS', 'TMPDIR']);

// Letters of options without a value: `-k` and `-o` name files.
const letters = /^(?:-?[aABcCdeEfFgGiIJKLmMnNqQrRsSuUwWX]+(?:\s+|$))*$/;
const trace = /^(?:[012]|true|false|)$/;
const nowhere = /^(?:|\/dev\/null)$/;
const homeAws = /^(?:~|\/root|\/home\/[\w-]+)\/\.aws\/[\w.-]+$/;

// A path without a hidden folder such as .git, into which git would write hooks.
const plainPath = /^(?!.*(?:^|\/)\.[^./])/s;

// A folder that git fills with files of any name: not a home directory, not a system one, and none above the current one.
const workTree =
  /^(?!.*(?:^|\/)\.[^./])(?!.*\.\.)(?!~|\/+(?:(?:(?:root|home\/[^/]*|Users\/[^/]*|home)\/*)?$|(?:etc|usr|bin|sbin|lib\w*|boot|var|proc|sys|dev)(?:\/|$)))/s;

// Folders of the project, whose files a listed interpreter may run anyway.
const relativePaths = /^(?:(?:\.{1,2}|(?:\.\/)?[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*)(?:\/?(?::|$)))+$/;

// Flags without a plugin, a linker or another program, and without text that a shell would expand.
const compilerFlags = /^(?!.*(?:plugin|wrapper|specs|linker|link-arg|-Z|-B|-load|fuse-ld|@|`|\$))/s;

/** Values with which a variable listed above does not choose code. */
const harmlessValues: Readonly<Record<string, RegExp>> = {
  ENV: /^[A-Za-z0-9_-]*$/,
  // Scripts use these names for paths; zip and unzip read options from them.
  ZIP: /^(?![\s\S]*(?:^|\s)-)/,
  UNZIP: /^(?![\s\S]*(?:^|\s)-)/,
  DEPENDENCIES_OUTPUT: plainPath,
  SUNPRO_DEPENDENCIES: plainPath,
  HISTFILE: /^(?:|\/dev\/null)$/,
  SSLKEYLOGFILE: plainPath,
  DOCKER_HOST: /^(?:unix|tcp|fd|npipe):\/\/\S*$/,
  SHELL: /^\/(?:usr\/)?bin\/(?:bash|sh|dash|zsh)$/,
  LESS: letters,
  MORE: letters,
  // After a `$`, less reads more options.
  MANLESS: /^[^$]*$/,
  LESSHISTFILE: /^(?:|-|\/dev\/null)$/,
  NODE_OPTIONS:
    /^\s*(?:--(?:max-old-space-size=\d+|max-semi-space-size=\d+|max_old_space_size=\d+|no-warnings|no-deprecation|trace-warnings|trace-deprecation|enable-source-maps|stack-trace-limit=\d+|unhandled-rejections=[a-z-]+|dns-result-order=[a-z0-9]+|experimental-vm-modules|openssl-legacy-provider|no-experimental-[a-z-]+|experimental-strip-types|inspect)(?:\s+|$))*$/,
  MAKEFLAGS: /^(?:-?j ?\d*|-?[kswn]+|)$/,
  PYTHONWARNINGS: /^(?:(?:ignore|default|error|always|module|once)(?:::[A-Za-z]+Warning)?(?:,|$))*$/,
  PYTHONPATH: relativePaths,
  PYTEST_ADDOPTS:
    /^\s*(?:-(?:-(?:color|tb|cov|cov-report|maxfail|durations|timeout|disable-warnings|ff|lf|sw|strict-markers|no-header|no-cov|verbose|quiet|exitfirst)(?:=[\w./-]*)?|[vqxsln]+\d*|p no:\w+)(?:\s+|$))*$/,
  COVERAGE_RCFILE: /^[\w.-]+$/,
  COVERAGE_PROCESS_START: /^[\w.-]+$/,
  PIPENV_PYTHON: /^(?:python)?[\d.]+$/,
  VIRTUALENV_PYTHON: /^(?:python)?[\d.]+$/,
  GOFLAGS: /^\s*(?:-(?:mod=\w+|v|count=\d+|race|trimpath|buildvcs=\w+)(?:\s+|$))*$/,
  GOBIN: plainPath,
  GOTOOLCHAIN: /^(?:local|auto|go[\d.]+)$/,
  BROWSER: /^none$/,
  RUSTFLAGS: compilerFlags,
  RUSTDOCFLAGS: compilerFlags,
  CFLAGS: compilerFlags,
  CXXFLAGS: compilerFlags,
  CPPFLAGS: compilerFlags,
  LDFLAGS: compilerFlags,
  RUSTUP_TOOLCHAIN: /^(?:stable|beta|nightly|\d)[\w.-]*$/,
  UV_PYTHON: /^(?:cpython|pypy|python)?@?[\d.]*$/,
  UV_PROJECT_ENVIRONMENT: /^\.?[\w-]+$/,
  TS_NODE_PROJECT: /^(?:\.\/)?[\w./-]+\.json$/,
  GIT_DIR: /^(?:\.\/)?\.git\/?$/,
  GIT_WORK_TREE: workTree,
  GIT_INDEX_FILE: plainPath,
  GIT_TRACE: trace,
  GIT_TRACE_CURL: trace,
  GIT_TRACE_PACKET: trace,
  GIT_TRACE_PERFORMANCE: trace,
  GIT_TRACE_SETUP: trace,
  GIT_CONFIG_GLOBAL: nowhere,
  GIT_CONFIG_SYSTEM: nowhere,
  RIPGREP_CONFIG_PATH: nowhere,
  KUBECONFIG: /^(?:~|\/root|\/home\/[\w-]+)\/\.kube\/[\w.-]+$/,
  AWS_CONFIG_FILE: homeAws,
  AWS_SHARED_CREDENTIALS_FILE: homeAws,
  FZF_DEFAULT_OPTS:
    /^\s*(?:--(?:height|layout|border|reverse|info|multi|ansi|cycle)(?:=[\w%-]*)?(?:\s+|$))*$/,
  JAVA_HOME: installedJava,
  JDK_HOME: installedJava,
  JRE_HOME: installedJava,
  JAVA_TOOL_OPTIONS: heapOnly,
  JAVA_OPTS: heapOnly,
  MAVEN_OPTS: heapOnly,
  GRADLE_OPTS: heapOnly,
  FFREPORT: /^(?![\s\S]*file=)/,
  TIME_STYLE: noOptionWord,
  TMPDIR: noOptionWord,
  // These three entries set the text around the code of a colour.
  LS_COLORS: /^(?![\s\S]*(?:^|:)[lre]c=)/,
  PS1: plainPrompt,
  PS2: plainPrompt,
  PS4: plainPrompt,
};
