// Variables in the namespace of a program that can run code, such as GIT_… and CARGO_…: a list allows those that are known
// to be data. An unknown one is refused, because each release of these programs reads new ones.

/** A namespace of variables: its prefix and the names after the prefix that are data. A `*` stands for any text. */
interface Family {
  readonly prefix: string;
  readonly data: ReadonlySet<string>;
  readonly starts: readonly string[];
  /** True if names such as `…_VERSION`, which scripts make up, count as data too. */
  readonly own: boolean;
}

function family(prefix: string, data = '', own: 'scripts too' | 'program only' = 'scripts too'): Family {
  const words = data.split(/\s+/).filter((word) => word !== '');
  return {
    prefix,
    data: new Set(words.filter((word) => !word.endsWith('*'))),
    starts: words.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1)),
    own: own === 'scripts too',
  };
}

const families: readonly Family[] = [
  family(
    'ANSIBLE_',
    'HOST_KEY_CHECKING FORCE_COLOR NOCOLOR RETRY_FILES_ENABLED FORKS VERBOSITY REMOTE_USER DIFF_ALWAYS GATHERING DEPRECATION_WARNINGS LOCALHOST_WARNING',
  ),
  family('BAT_', 'THEME STYLE TABS PAGING'),
  family(
    'BUNDLE_',
    'JOBS RETRY WITHOUT WITH FROZEN DEPLOYMENT PATH CLEAN NO_CACHE SILENCE_* DISABLE_* ALLOW_OFFLINE_INSTALL FORCE_RUBY_PLATFORM',
  ),
  family('BUN_', 'CONFIG_VERBOSE_FETCH ENABLE_CRASH_REPORTING'),
  family(
    'CARGO_',
    'INCREMENTAL LOG TERM_* BUILD_JOBS BUILD_TARGET BUILD_TARGET_DIR TARGET_DIR HTTP_* NET_RETRY NET_OFFLINE NET_GIT_FETCH_WITH_CLI PROFILE_* REGISTRIES_CRATES_IO_PROTOCOL PKG_*',
  ),
  family(
    'CCACHE_',
    'DIR MAXSIZE MAXFILES DISABLE RECACHE BASEDIR SLOPPINESS COMPRESS COMPRESSLEVEL NOHASHDIR READONLY STATS UMASK CPP2',
  ),
  family('CGO_', 'ENABLED'),
  family('CLOUDSDK_', 'CORE_* COMPUTE_* ACTIVE_CONFIG_NAME AUTH_*'),
  family(
    'CMAKE_',
    'BUILD_TYPE BUILD_PARALLEL_LEVEL GENERATOR GENERATOR_PLATFORM EXPORT_COMPILE_COMMANDS COLOR_DIAGNOSTICS INSTALL_PREFIX CONFIGURATION_TYPES OSX_ARCHITECTURES',
  ),
  family('COREPACK_', 'ENABLE_* DEFAULT_TO_LATEST'),
  family('CURL_', 'CA_BUNDLE'),
  family('DBUS_', '', 'program only'),
  family('DENO_', 'NO_UPDATE_CHECK NO_PROMPT JOBS TLS_CA_STORE CERT AUTH_TOKENS'),
  family(
    'DOCKER_',
    'BUILDKIT DEFAULT_PLATFORM CONTENT_TRUST API_VERSION CERT_PATH TLS TLS_VERIFY SCAN_SUGGEST CLI_HINTS HIDE_LEGACY_COMMANDS CLI_EXPERIMENTAL CLIENT_TIMEOUT CONTEXT',
  ),
  family(
    'DOTNET_',
    'CLI_TELEMETRY_OPTOUT NOLOGO SKIP_FIRST_TIME_EXPERIENCE ENVIRONMENT ROLL_FORWARD SYSTEM_GLOBALIZATION_INVARIANT CLI_UI_LANGUAGE CLI_HOME NOLOGO ENABLE_DIAGNOSTICS',
  ),
  family('EMACS', '', 'program only'),
  family('FZF_', '', 'program only'),
  family('GEM_', 'SPEC_CACHE'),
  family(
    'GH_',
    'TOKEN HOST REPO DEBUG NO_UPDATE_NOTIFIER PROMPT_DISABLED FORCE_TTY ENTERPRISE_TOKEN SPINNER_DISABLED MDWIDTH NO_EXTENSION_UPDATE_NOTIFIER',
  ),
  family(
    'GIT_',
    `AUTHOR_* COMMITTER_* TERMINAL_PROMPT MERGE_AUTOEDIT OPTIONAL_LOCKS LITERAL_PATHSPECS GLOB_PATHSPECS NOGLOB_PATHSPECS ICASE_PATHSPECS
    REFLOG_ACTION FLUSH ADVICE CURL_VERBOSE LFS_SKIP_SMUDGE DISCOVERY_ACROSS_FILESYSTEM CEILING_DIRECTORIES DEPTH SSH_VARIANT PROTOCOL NAMESPACE
    DEFAULT_HASH DEFAULT_REF_FORMAT CONFIG_NOSYSTEM ATTR_NOSYSTEM MERGE_VERBOSITY HTTP_LOW_SPEED_LIMIT HTTP_LOW_SPEED_TIME HTTP_USER_AGENT SSL_NO_VERIFY NO_REPLACE_OBJECTS
    COMMIT BRANCH SHA TAG REF REPO TOKEN HASH ROOT REV URL REMOTE USERNAME PASSWORD STRATEGY CLONE_PROTECTION_ACTIVE`,
  ),
  family('GRADLE_', 'VERSION'),
  family('HELM_', 'NAMESPACE DEBUG KUBECONTEXT KUBETOKEN MAX_HISTORY CACHE_HOME BURST_LIMIT'),
  family('LESS', 'CHARSET UTFBINFMT ANSIENDCHARS _TERMCAP_*', 'program only'),
  family('LUA_', '', 'program only'),
  family('LUAROCKS_', '', 'program only'),
  family('MAVEN_', 'USER_HOME'),
  family('MSBUILD', 'TERMINALLOGGER NODECOUNT LOGVERBOSE', 'program only'),
  family('MSBuild', '', 'program only'),
  family(
    'MYSQL_',
    'PWD HOST TCP_PORT UNIX_PORT DATABASE USER PASSWORD ROOT_PASSWORD ALLOW_EMPTY_PASSWORD PORT ROOT_HOST',
  ),
  family('NIX_', '', 'program only'),
  family(
    'NODE_',
    'ENV NO_WARNINGS DEBUG DISABLE_COLORS PENDING_DEPRECATION PRESERVE_SYMLINKS TLS_REJECT_UNAUTHORIZED EXTRA_CA_CERTS APP_INSTANCE CONFIG_ENV AUTH_TOKEN DISABLE_COMPILE_CACHE REPL_MODE USE_ENV_PROXY USE_SYSTEM_CA TEST_CONTEXT NO_COLOR CLUSTER_SCHED_POLICY',
  ),
  family('NUGET_', 'PACKAGES HTTP_CACHE_PATH PERSIST_DG XMLDOC_MODE CERT_REVOCATION_MODE', 'scripts too'),
  family('NVIM_', '', 'program only'),
  family('OPENSSL_', '', 'program only'),
  family('PERL', '_UNICODE _HASH_SEED _PERTURB_KEYS _BADLANG _VERSION', 'program only'),
  family(
    'PIP_',
    'INDEX_URL EXTRA_INDEX_URL NO_INDEX NO_CACHE_DIR DISABLE_PIP_VERSION_CHECK DEFAULT_TIMEOUT TIMEOUT RETRIES QUIET VERBOSE NO_INPUT REQUIRE_VIRTUALENV ROOT_USER_ACTION BREAK_SYSTEM_PACKAGES CACHE_DIR TRUSTED_HOST PROGRESS_BAR NO_COLOR PREFER_BINARY ONLY_BINARY NO_BINARY FIND_LINKS USER NO_BUILD_ISOLATION CONSTRAINT',
  ),
  family('PNPM_', 'HOME'),
  family(
    'POETRY_',
    'VIRTUALENVS_* NO_INTERACTION CACHE_DIR INSTALLER_* HTTP_BASIC_* PYPI_TOKEN_* REQUESTS_TIMEOUT',
  ),
  family('PSQL', '', 'program only'),
  family(
    'PYTHON',
    'UNBUFFERED DONTWRITEBYTECODE HASHSEED IOENCODING UTF8 FAULTHANDLER NOUSERSITE VERBOSE OPTIMIZE DEBUG DEVMODE COERCECLOCALE TRACEMALLOC PROFILEIMPORTTIME ASYNCIODEBUG MALLOC MALLOCSTATS NODEBUGRANGES INTMAXSTRDIGITS SAFEPATH WARNDEFAULTENCODING _VERSION _COLORS PLATLIBDIR CASEOK _GIL',
  ),
  family('RIPGREP_', '', 'program only'),
  family(
    'RSYNC_',
    'PASSWORD PROXY PROTECT_ARGS OLD_ARGS ICONV MAX_ALLOC PARTIAL_DIR CHECKSUM_LIST COMPRESS_LIST',
    'program only',
  ),
  family('RUBY', '_VERSION _YJIT_ENABLE _GC_* _DEBUG'),
  family(
    'RUST',
    '_BACKTRACE _LOG _LIB_BACKTRACE _TEST_THREADS _TEST_NOCAPTURE _MIN_STACK _LOG_STYLE _TEST_TIME_UNIT C_BOOTSTRAP UP_MAX_RETRIES UP_IO_THREADS UP_NO_BACKTRACE',
  ),
  family('SSH_', 'AUTH_SOCK AGENT_PID CONNECTION CLIENT TTY ASKPASS_REQUIRE'),
  family('SUDO_', 'USER UID GID COMMAND PROMPT'),
  family('SYSTEMD_', 'COLORS URLIFY LOG_LEVEL LOG_COLOR PAGERSECURE'),
  family(
    'TF_',
    'VAR_* TOKEN_* LOG LOG_CORE LOG_PROVIDER IN_AUTOMATION INPUT WORKSPACE REGISTRY_CLIENT_TIMEOUT',
  ),
  family(
    'TS_NODE_',
    'TRANSPILE_ONLY FILES COMPILER_OPTIONS LOG_ERROR PREFER_TS_EXTS SKIP_PROJECT SKIP_IGNORE TYPE_CHECK PRETTY',
  ),
  family(
    'UV_',
    'NO_CACHE CACHE_DIR INDEX_URL DEFAULT_INDEX INDEX EXTRA_INDEX_URL LINK_MODE COMPILE_BYTECODE SYSTEM_PYTHON PYTHON_DOWNLOADS PYTHON_PREFERENCE OFFLINE FROZEN LOCKED NO_SYNC NO_PROGRESS CONCURRENT_* HTTP_TIMEOUT PRERELEASE RESOLUTION BREAK_SYSTEM_PACKAGES NATIVE_TLS REQUIRE_HASHES EXCLUDE_NEWER NO_BUILD_ISOLATION PUBLISH_TOKEN THREADPOOL_SIZE',
  ),
  family('WGET', '', 'program only'),
  family(
    'YARN_',
    'CACHE_FOLDER CHECKSUM_BEHAVIOR NETWORK_* HTTP_TIMEOUT HTTP_RETRY NPM_REGISTRY_SERVER NPM_AUTH_TOKEN ENABLE_* NODE_LINKER COMPRESSION_LEVEL PREFER_INTERACTIVE VERSION REGISTRY',
  ),
  family(
    'npm_config_',
    `access also arch audit audit_level auth_type before bin_links build_from_source ca cache color commit_hooks depth description dev disturl
    dry_run engine_strict fetch_retries fetch_retry_factor fetch_retry_maxtimeout fetch_retry_mintimeout fetch_timeout force foreground_scripts fund global
    heading https_proxy ignore_scripts include include_workspace_root init_author_email init_author_name init_license init_version install_links json
    legacy_bundling legacy_peer_deps libc lockfile_version loglevel long maxsockets message noproxy offline omit only optional os package_lock package_lock_only
    parseable platform prefer_dedupe prefer_offline prefer_online production progress proxy rebuild_bundle registry save save_bundle save_dev save_exact
    save_optional save_peer save_prefix save_prod scope searchlimit shrinkwrap silent strict_peer_deps strict_ssl tag tag_version_prefix target timing
    unicode unsafe_perm update_notifier user_agent verbose workspace workspaces workspaces_update yes`,
    'program only',
  ),
];

// Names that scripts make up for their own data, with the prefix of any program.
const ownData =
  /_(?:VERSION|NAME|TAG|BRANCH|USER|USERNAME|EMAIL|PASSWORD|TOKEN|HOST|HOSTNAME|PORT|URL|REGISTRY|IMAGE|REPO|SHA|HASH|COMMIT|REF|REGION|TIMEOUT|LEVEL|DEBUG|COLOR|COUNT|SIZE|ENABLED|DISABLED|OS|ARCH|ID|KEY_ID)$/;

const byStart = new Map<string, Family[]>();
for (const one of families) {
  const start = one.prefix.slice(0, 2).toLowerCase();
  byStart.set(start, [...(byStart.get(start) ?? []), one]);
}

/** Returns true if a program that can run code may read the variable, and the variable is not known to be data. */
export function isUnknownOfFamily(name: string): boolean {
  const found = byStart.get(name.slice(0, 2).toLowerCase())?.filter((one) => isOf(one, name)) ?? [];
  return found.length > 0 && !found.some((one) => isData(one, name));
}

function isOf({ prefix }: Family, name: string): boolean {
  return prefix === 'npm_config_' ? name.toLowerCase().startsWith(prefix) : name.startsWith(prefix);
}

function isData({ prefix, data, starts, own }: Family, name: string): boolean {
  const rest =
    prefix === 'npm_config_'
      ? name.slice(prefix.length).toLowerCase().replaceAll('-', '_')
      : name.slice(prefix.length);
  if (data.has(rest) || starts.some((start) => rest.startsWith(start))) return true;
  return own && ownData.test(name);
}
