import { type Arg, prefixOf } from '../words/arg.ts';
import type { Effect } from './program.ts';

// Long options of git's commands that are known to run nothing and to write no file of the caller's choice; also in their
// `no-` form. git-subcommands.ts judges the others. `tests/policy/known-options.test.ts` compares the list with git's help.
const known = new Set(
  `
  3way abbrev abbrev-commit abbrev-ref abort absolute-git-dir add add-file add-header add-virtual-file after
  after-context again aggressive ahead-behind all all-match all-progress all-progress-implied
  allow-binary-replacement allow-empty allow-empty-message allow-onelevel allow-overlap allow-unknown-type
  allow-unrelated-histories also-filter-submodules alternate-refs always amend ancestry-path anchored and annotate
  annotate-stdin anonymize anonymize-map append apply assume-unchanged atomic attach author author-date-order auto
  auto-gc auto-maintenance autosquash autostash bare base basic-regexp batch batch-all-objects batch-check
  batch-command before before-context binary bisect bisect-all bisect-vars blob bool bool-or-int bool-or-str
  boundary branch branches break break-rewrites broken buffer build-options bundle-uri cache cached cacheinfo
  candidates cc check checkout cherry cherry-mark cherry-pick children chmod cleanup clear-decorations
  clear-resolve-undo color color-by-age color-lines color-moved color-moved-ws color-words column combined-all-paths
  comment-lines commit commit-header committer committer-date-is-author-date compact-summary cone conflict
  connectivity-only contains contents context continue convert-graft-file copy count cover-from-description
  cover-letter create create-reflog creation-factor cruft cruft-expiration cumulative current dangling data date
  date-order debug debug-unpack decorate decorate-refs decorate-refs-exclude deduplicate deepen default delete
  deleted delta-islands dense depth deref dereference detach diff-algorithm diff-filter diff-merges diff3 directory
  dirstat dirstat-by-file dirty disambiguate discard-changes disk-usage dissociate divider do-walk dry-run
  dst-prefix dual-color edit edit-description email empty empty-directory encode-email-headers encoding
  end-of-options edit-todo remote-submodules eol error-unmatch exact-match exclude exclude-existing exclude-first-parent-only exclude-from
  exclude-hidden exclude-per-directory exclude-promisor-objects exclude-standard exit-code expand-tabs expire
  expire-to expire-unreachable expiry-date ext-grep extended-regexp fake-missing-tagger ff ff-only file
  filename-max-length files files-with-matches files-without-match filter filter-print-omitted
  filter-provided-objects filters find-copies find-copies-harder find-object find-renames first-parent fixed-strings
  fixed-value fixup flags follow follow-symlinks follow-tags force force-create force-if-includes force-in-body-from
  force-rebase force-remove force-untracked-cache force-with-lease force-write-index fork-point format from
  fsmonitor fsmonitor-valid full full-diff full-history full-index full-name full-tree function-context geometric
  get get-all get-color get-colorbool get-regexp get-url get-urlmatch git-common-dir git-completion-helper git-dir
  git-path glob global gpg-sign graft graph grep grep-reflog group guess guess-remote hard hardlinks hash head
  header heading heads help histogram human-readable if-exists if-missing ignore-all-space ignore-blank-lines
  ignore-cache-tree ignore-case ignore-cr-at-eol ignore-date ignore-errors ignore-if-in-upstream
  ignore-matching-lines ignore-missing ignore-other-worktrees ignore-removal ignore-rev ignore-revs-file
  ignore-skip-worktree-bits ignore-skip-worktree-entries ignore-space-at-eol ignore-space-change ignore-submodules
  ignore-unmatch ignore-unmerged ignore-whitespace ignored import-marks import-marks-if-exists in-commit-order
  in-place in-reply-to inaccurate-eof include include-untracked includes incremental indent indent-heuristic
  independent index index-info index-version indexed-objects info-only init initial-branch inline int intent-to-add
  inter-hunk-context interactive interdiff into-name invert-grep invert-match ipv4 ipv6 irreversible-delete
  is-ancestor is-bare-repository is-inside-git-dir is-inside-work-tree is-shallow-repository ita-invisible-in-index
  ita-visible-in-index jobs keep keep-base keep-cr keep-dashdash keep-empty keep-index keep-largest-pack
  keep-non-patch keep-pack keep-redundant-commits keep-subject keep-unreachable killed left-only left-right
  line-number line-porcelain line-prefix list literally local local-env-vars local-user lock log log-size long
  lost-found mailmap mainline mark-tags marker-size match max-age max-count max-depth max-pack-size max-parents
  merge merge-base merged merges message message-id messages min-age min-parents minimal mirror missing missing-ok
  mixed mode modified more move multiple naked name name-objects name-only name-status negotiate-only
  negotiation-tip nl no-commit-id no-fetch no-revs no-walk non-matching normalize not notes null numbered
  numbered-files numstat object-dir object-format object-names object-only objects objects-edge
  objects-edge-aggressive octopus oneline only only-input only-matching only-trailers only-untracked onto or origin
  orphan others ours output-indicator-context output-indicator-new output-indicator-old overlay overwrite-ignore
  pack-kept-objects padding parents parse parseopt patch patch-format patch-with-raw patch-with-stat path
  path-format pathspec-file-nul pathspec-from-file patience peel-tag perl perl-regexp pickaxe-all pickaxe-regex
  points-at porcelain post-rewrite prefetch prefix preserve-merges pretty progress prune prune-tags push-option
  python quiet quit quoted-cr range-diff raw raw-mode really-refresh reapply-cherry-picks reason rebase
  rebase-merges rebasing recommend-shallow recount recurse recurse-submodules recurse-submodules-default recursive
  reedit-message reencode ref reference reference-excluded-parents reference-if-able refetch reflog reflogs refmap
  refresh refs refspec refspec-pattern regexp-ignore-case reject reject-shallow relative relative-date remote
  remotes remove remove-empty remove-section rename-empty renames renormalize replace replace-all repo
  rerere-autoupdate reroll-count reschedule-failed-exec reset reset-author reset-author-date resolve-git-dir
  resolve-undo resolved resolvemsg reuse-message reverse revs-only rewrite rfc right-only root rotate-to schedule
  scheduler scissors score-debug server-option set-upstream set-upstream-to sha1-name shallow-exclude shallow-since
  shallow-submodules shared shared-index-path shell short shortstat show-cdup show-current show-current-patch
  show-email show-forced-updates show-function show-linear-break show-name show-notes show-number show-object-format
  show-origin show-original-ids show-prefix show-pulls show-scope show-signature show-stash show-stats
  show-superproject-working-tree show-toplevel sign signature signature-file signed signed-tags signoff
  simplify-by-decoration simplify-merges since since-as-filter single-branch single-worktree skip skip-to
  skip-worktree soft sort source sparse sparse-checkout sparse-index split-index sq sq-quote squash src-prefix stable stage
  staged stale-fix standard-notes start-number stat stat-count stat-graph-width stat-name-width stat-only stat-width
  status stdin stdin-paths stdout stop-at-non-option strategy strategy-option strict strip-comments stuck-long
  subject-prefix submodule submodule-prefix suffix summary summary-limit symbolic symbolic-full-name symref system
  tag-of-filtered-object tags task tcl temp test-untracked-cache text textconv theirs thin thread threads timestamp
  to topics topo-order track trailer trim-empty trivial trivial-merge type undefined unfold unidiff-zero unified
  union unmerged unordered unpack-unreachable unpacked unreachable unresolve unset unset-all unset-upstream
  unshallow unstable until untracked untracked-cache untracked-files update update-head-ok update-refs
  update-shallow updateref use-bitmap-index use-done-feature use-mailmap utf8 verbatim verbose verify
  verify-signatures version walk-reflogs warn-embedded-repo where whitespace width window window-memory with
  with-tree without word-diff word-diff-regex word-regexp worktree worktree-attributes write-bitmap-index
  write-commit-graph write-fetch-head write-midx write-tree ws-error-highlight zdiff3 zero-commit
  `.split(/\s+/),
);

const knownNames = [...known].sort();

/** Options that run programs or write files; git accepts some of them in subcommands whose manual does not mention them, such as `git shortlog --output`. */
const risky =
  `command exec ext-diff extcmd index-output open-files-in-pager output output-directory receive-pack
  unsafe-paths upload-pack`.split(/\s+/);

/** Refuses long options that are neither known to be harmless nor judged by the subcommand itself (`own`). */
export function unknownGitOptions(name: string, args: readonly Arg[], own: ReadonlySet<string>): Effect[] {
  const effects: Effect[] = [];
  for (const at of args) {
    const start = prefixOf(at);
    if (!start.startsWith('--')) continue;
    if (at.text === '--' || at.text === '--end-of-options') break;
    if (isKnown(start, own)) continue;
    const reason = `git ${name} ${start.split('=')[0] ?? ''} is not known to be harmless`;
    effects.push({ does: 'refuse', at, rule: 'unknown_option', reason });
  }
  return effects;
}

function isKnown(word: string, own: ReadonlySet<string>): boolean {
  const equals = word.indexOf('=');
  const written = word.slice(2, equals < 0 ? undefined : equals);
  const typed = written.startsWith('no-') && !known.has(written) ? written.slice(3) : written;
  return (
    typed !== '' &&
    (known.has(typed) || abbreviates(typed) || [...own].some((name) => name.startsWith(typed)))
  );
}

/** Returns true if a known name, and no risky one, begins with the text, which git accepts as an abbreviation. */
function abbreviates(typed: string): boolean {
  if (risky.some((name) => name.startsWith(typed))) return false;
  let low = 0;
  let high = knownNames.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((knownNames[middle] ?? '') < typed) low = middle + 1;
    else high = middle;
  }
  return knownNames[low]?.startsWith(typed) === true;
}
