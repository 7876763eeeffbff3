// Variables that choose which code runs (P7). Under a list of names they may not be set; data variables may.
// A variable that is missing here counts as data.

/** How a variable chooses code: by itself, as a command line, or only with certain values. */
export type CodeVariable = { readonly kind: 'refuse' } | { readonly kind: 'command' };

/** What setting a variable to a value (undefined: not known) means, or undefined for data. */
export function codeVariable(name: string, value: string | undefined): CodeVariable | undefined {
  const isHarmless =
    value === undefined
      ? onlyForPeople.has(name)
      : Object.hasOwn(harmlessValues, name) && harmlessValues[name]?.test(value);
  if (isHarmless) return undefined;
  if (commands.has(name)) return { kind: 'command' };
  return mayChooseCode(name) ? { kind: 'refuse' } : undefined;
}

/** Whether a variable of this name may choose code, whatever its value. */
export function mayChooseCode(name: string): boolean {
  if (isOwnName(name)) return false;
  return names.has(name) || commands.has(name) || pattern.test(name) || spelledAnyhow.test(name);
}

/** Names in small letters are the script's own, but for a few long ones of npm and yarn. */
export function isOwnName(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 0x61 && first <= 0x7a && name.length < shortestAnyhow;
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

const names = new Set(
  words(`
  PATH BASH_ENV ENV BASHOPTS SHELLOPTS POSIXLY_CORRECT BASH_COMPAT PS4 PROMPT_COMMAND PS0 PS1 PS2 BASH_CMDS BASH_ALIASES BASH_LOADABLES_PATH EXECIGNORE
  BASH_XTRACEFD CDPATH INPUTRC SHELL HOSTALIASES
  PAGER MANPAGER SYSTEMD_PAGER LESS LESSOPEN LESSCLOSE LESSEDIT LESSKEY LESSKEYIN LESSKEY_CONTENT MORE
  EDITOR VISUAL FCEDIT SUDO_EDITOR SYSTEMD_EDITOR KUBE_EDITOR HGEDITOR SVN_EDITOR BROWSER SUDO_ASKPASS SSH_ASKPASS ASKPASS
  GIT_SSH GIT_SSH_COMMAND GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PROXY_COMMAND
  GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS
  GIT_ALLOW_PROTOCOL
  NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE DENO_DIR BUN_OPTIONS TS_NODE_PROJECT
  PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE PYTHONEXECUTABLE PYTHONINSPECT
  PERL5OPT PERL5LIB PERLLIB PERL5DB PERL5SHELL PERL_MM_OPT PERL_MB_OPT RUBYOPT RUBYLIB RUBYSHELL GEM_PATH GEM_HOME BUNDLE_GEMFILE
  LUA_INIT LUA_PATH LUA_CPATH PHPRC PHP_INI_SCAN_DIR TCLLIBPATH GUILE_LOAD_PATH EMACSLOADPATH VIMINIT EXINIT VIM VIMRUNTIME MYVIMRC
  JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS JAVA_OPTS ANT_OPTS SBT_OPTS
  MAKEFLAGS MAKEFILES MFLAGS GNUMAKEFLAGS CMAKE_TOOLCHAIN_FILE RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RUSTFLAGS
  GCC_EXEC_PREFIX COMPILER_PATH
  GOFLAGS GOTOOLCHAIN GOENV CGO_CFLAGS CGO_LDFLAGS
  RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH SVN_SSH HGRCPATH TAR_OPTIONS ZIPOPT GREP_OPTIONS AWKPATH AWKLIBPATH
  ANSIBLE_CONFIG DOCKER_CONFIG
  GCONV_PATH LOCPATH NLSPATH TERMINFO TERMINFO_DIRS TERMCAP RESOLV_HOST_CONF LIBPATH SHLIB_PATH
  GIO_EXTRA_MODULES GTK_MODULES GTK_PATH QT_PLUGIN_PATH OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES
  PSQLRC PSQL_EDITOR WGETRC CURL_HOME SCREENRC XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS
  TF_CLI_CONFIG_FILE TF_CLI_ARGS
  `),
);

const pattern = anyOf(
  /LD_/,
  /DYLD_/,
  /BASH_FUNC_/,
  /GIT_CONFIG_(?:KEY|VALUE)_\d+$/,
  /CARGO_TARGET_.*_(?:RUNNER|LINKER)$/,
  /TF_CLI_ARGS_/,
  /(?:GLIBC_TUNABLES|MALLOC_CONF)$/,
  /PIP_(?:CONFIG_FILE|PYTHON)$/,
  /CORECLR_PROFILER|COR_PROFILER|DOTNET_STARTUP_HOOKS$/,
);

/** Names that npm and yarn read in any case. */
const spelledAnyhow =
  /^(?:npm_config_(?:script_shell|node_options|git|prefix|userconfig|globalconfig|editor|viewer|shell|init_module|onload_script|node_gyp)|YARN_(?:YARN_PATH|PLUGINS|RC_FILENAME))$/i;

const shortestAnyhow = 'yarn_plugins'.length;

/** One expression for several beginnings, since every assignment asks. */
function anyOf(...starts: readonly RegExp[]): RegExp {
  return new RegExp(`^(?:${starts.map(({ source }) => source).join('|')})`);
}

/** Variables whose value is a command line for programs such as make: judged as one when they are passed on. */
const commands = new Set(words('CC CXX CPP LD AR AS NM RANLIB STRIP FC LEX YACC CMAKE MAKE PYTHON CARGO'));

const heapOnly = /^(?:\s*-(?:Xm[sxn]|Xss)\d+[kmgKMG]?\s*)*$/;

// What a prompt shows is expanded once and not read again, but for subscripts, which are expressions. Signs are decoded
// before: an octal number may become any other sign.
const sign = String.raw`[^$\x60\\}]|\\[adehHjlnrstTuvVwW@A!#[\]]|\\?\$(?=\s)`;
const shown = String.raw`\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*(?:\[0\])?(?:##\*/)?\})`;
const perhaps = String.raw`\$\{[A-Za-z_]\w*(?:\[0\])?:[-+](?:${sign}|${shown})*\}`;
const plainPrompt = new RegExp(`^(?:${sign}|\\}|${shown}|${perhaps})*$`);

// A shell shows them to a person who types: whoever may start that one may run what is typed.
const onlyForPeople = new Set(['PS1', 'PS2']);

/** Values with which a variable of the lists above chooses nothing. */
const harmlessValues: Readonly<Record<string, RegExp>> = {
  ENV: /^[A-Za-z0-9_-]*$/,
  LESS: /^(?:-?[A-Za-z]+\s*)*$/,
  MORE: /^(?:-?[A-Za-z]+\s*)*$/,
  NODE_OPTIONS:
    /^(?:\s*--(?:max-old-space-size=\d+|max-semi-space-size=\d+|max_old_space_size=\d+|no-warnings|no-deprecation|trace-warnings|trace-deprecation|enable-source-maps|stack-trace-limit=\d+|unhandled-rejections=[a-z-]+|dns-result-order=[a-z0-9]+|experimental-vm-modules|openssl-legacy-provider)\s*)*$/,
  MAKEFLAGS: /^-?[jkswn]*\s*-?j?\s*\d*$/,
  PYTHONWARNINGS: /^(?:(?:ignore|default|error|always|module|once)(?:::[A-Za-z]+Warning)?,?)*$/,
  GOFLAGS: /^(?:\s*-(?:mod=\w+|v|count=\d+|race|trimpath)\s*)*$/,
  BROWSER: /^(?:none)?$/,
  RUSTFLAGS: /^(?!.*(?:linker|link-arg|-Z))/s,
  JAVA_TOOL_OPTIONS: heapOnly,
  JAVA_OPTS: heapOnly,
  MAVEN_OPTS: heapOnly,
  GRADLE_OPTS: heapOnly,
  PS1: plainPrompt,
  PS2: plainPrompt,
  PS4: plainPrompt,
};
