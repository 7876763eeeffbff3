// The long options of Node.js, without their dashes; those that take code are in `javascript` (interpreters.ts).

/** Options without a value, or with a value only after `=`. */
export const nodeFlags = `
  abort-on-uncaught-exception allow-addons allow-child-process allow-wasi allow-worker build-snapshot check completion-bash
  cpu-prof disable-wasm-trap-handler disallow-code-generation-from-strings enable-etw-stack-walking enable-fips
  enable-source-maps experimental-eventsource experimental-import-meta-resolve experimental-network-imports
  experimental-network-inspection experimental-permission experimental-print-required-tla experimental-test-coverage
  experimental-test-module-mocks experimental-vm-modules experimental-wasm-modules experimental-websocket expose-gc
  force-context-aware force-fips force-node-api-uncaught-exceptions-policy frozen-intrinsics heap-prof help
  huge-max-old-generation-size insecure-http-parser interactive interpreted-frames-native-stack jitless no-addons no-deprecation
  no-experimental-detect-module no-experimental-fetch no-experimental-global-customevent no-experimental-global-webcrypto
  no-experimental-repl-await no-experimental-require-module no-extra-info-on-fatal-exception no-force-async-hooks-checks
  no-global-search-paths enable-network-family-autoselection no-network-family-autoselection no-warnings node-memory-debug
  openssl-legacy-provider openssl-shared-config pending-deprecation preserve-symlinks preserve-symlinks-main prof prof-process
  report-compact report-exclude-network report-on-fatalerror report-on-signal report-uncaught-exception test test-force-exit
  test-only throw-deprecation tls-max-v1.2 tls-max-v1.3 tls-min-v1.0 tls-min-v1.1 tls-min-v1.2 tls-min-v1.3 trace-atomics-wait
  trace-deprecation trace-exit trace-promises trace-sigint trace-sync-io trace-tls trace-uncaught trace-warnings
  track-heap-objects use-bundled-ca use-openssl-ca v8-options version watch watch-preserve-output zero-fill-buffers inspect
  inspect-brk inspect-wait max-old-space-size max-semi-space-size max_old_space_size stack-size stack-trace-limit expose_gc
  harmony trace-gc experimental-strip-types experimental-transform-types no-experimental-strip-types
  experimental-sqlite no-experimental-sqlite permission experimental-require-module
  use-system-ca use-env-proxy run node-snapshot experimental-detect-module experimental-fetch experimental-global-navigator
  no-experimental-global-navigator experimental-repl-await experimental-json-modules`
  .trim()
  .split(/\s+/);

/** Options whose value may be the next word. */
export const nodeValued = `
  allow-fs-read allow-fs-write build-snapshot-config conditions cpu-prof-dir cpu-prof-interval cpu-prof-name diagnostic-dir
  disable-proto disable-warning dns-result-order env-file env-file-if-exists experimental-default-type experimental-policy
  experimental-sea-config heap-prof-dir heap-prof-interval heap-prof-name heapsnapshot-near-heap-limit heapsnapshot-signal
  icu-data-dir input-type debug-port inspect-port inspect-publish-uid max-http-header-size
  network-family-autoselection-attempt-timeout policy-integrity redirect-warnings report-directory report-dir
  report-filename report-signal secure-heap secure-heap-min snapshot-blob test-concurrency test-name-pattern test-reporter
  test-reporter-destination test-shard test-timeout title tls-cipher-list tls-keylog trace-event-categories
  trace-event-file-pattern trace-require-module unhandled-rejections use-largepages v8-pool-size watch-path
  experimental-config-file test-coverage-include test-coverage-exclude test-coverage-lines test-coverage-branches
  test-coverage-functions test-skip-pattern test-global-setup watch-kill-signal localstorage-file max-old-space-size-percentage
  test-isolation experimental-test-isolation`
  .trim()
  .split(/\s+/);

/** Options whose value is a file or folder that Node.js writes. */
export const nodeWrites =
  'cpu-prof-dir cpu-prof-name diagnostic-dir heap-prof-dir heap-prof-name localstorage-file redirect-warnings report-dir report-directory report-filename test-reporter-destination tls-keylog trace-event-file-pattern'.split(
    ' ',
  );
