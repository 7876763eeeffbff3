// Variables that choose which code runs (P7), such as PATH and LD_PRELOAD. Under a list of names they may not be set.
// A variable that is not listed here counts as data and may be set.

/** How a variable chooses code: `refuse` is never allowed under a list, `command` contains a command line to judge. */
export type CodeVariable = { readonly kind: 'refuse' } | { readonly kind: 'command' };

/** Classifies setting a variable to a value (undefined if unknown); returns undefined for data. */
export function codeVariable(name: string, value: string | undefined): CodeVariable | undefined {
  const isHarmless =
    value === undefined
      ? interactiveOnly.has(name)
      : Object.hasOwn(harmlessValues, name) && harmlessValues[name]?.test(value);
  if (isHarmless) return undefined;
  if (commands.has(name)) return { kind: 'command' };
  return mayChooseCode(name) ? { kind: 'refuse' } : undefined;
}

/** Returns true if a variable of this name chooses code for at least some values. */
export function mayChooseCode(name: string): boolean {
  if (isScriptName(name)) return false;
  return names.has(name) || commands.has(name) || pattern.test(name) || anyCase.test(name);
}

/** Returns true for names in lower case, which belong to the script, except a few long ones that npm and yarn read. */
export function isScriptName(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 0x61 && first <= 0x7a && name.length < shortestAnyCase;
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

/** Names that npm and yarn read in upper and lower case. */
const anyCase =
  /^(?:npm_config_(?:script_shell|node_options|git|prefix|userconfig|globalconfig|editor|viewer|shell|init_module|onload_script|node_gyp)|YARN_(?:YARN_PATH|PLUGINS|RC_FILENAME))$/i;

const shortestAnyCase = 'yarn_plugins'.length;

/** Combines several prefixes into one expression, because it is tested on every assignment. */
function anyOf(...starts: readonly RegExp[]): RegExp {
  return new RegExp(`^(?:${starts.map(({ source }) => source).join('|')})`);
}

/** Variables whose value is a command line, for example for make; it is judged as one when they are exported. */
const commands = new Set(words('CC CXX CPP LD AR AS NM RANLIB STRIP FC LEX YACC CMAKE MAKE PYTHON CARGO'));

const heapOnly = /^(?:\s*-(?:Xm[sxn]|Xss)\d+[kmgKMG]?\s*)*$/;

// Bash expands a prompt once and does not re-read the result, except subscripts, which are arithmetic. It decodes
// backslash escapes first, and `\nnn` may become any character, so only the named escapes are harmless.
const literal = String.raw`[^$\x60\\}]|\\[adehHjlnrstTuvVwW@A!#[\]]|\\?\$(?=\s)`;
const shown = String.raw`\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*(?:\[0\])?(?:##\*/)?\})`;
const perhaps = String.raw`\$\{[A-Za-z_]\w*(?:\[0\])?:[-+](?:${literal}|${shown})*\}`;
const plainPrompt = new RegExp(`^(?:${literal}|\\}|${shown}|${perhaps})*$`);

// Only interactive shells print these prompts, and an interactive shell runs anything that is typed anyway.
const interactiveOnly = new Set(['PS1', 'PS2']);

/** Values with which a variable listed above does not choose code. */
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
