import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix } from '../words/arg.ts';
import { editorLine } from '../words/editor-line.ts';
import type { Effect } from './program.ts';
import { splitWords } from './split-words.ts';

/** Git settings whose value is a command, such as `core.pager`; sections have one or two names before the last one. */
const commands = new Set(
  `core.pager core.editor core.sshcommand core.fsmonitor core.askpass sequence.editor diff.external pager.* diff.*.textconv
  diff.*.command merge.*.driver filter.*.clean filter.*.smudge filter.*.process gc.recentobjectshook credential.helper credential.*.helper`.split(
    /\s+/,
  ),
);

/** Git settings that are data, by section and name; `*` stands for any name. */
const data = new Set(
  `advice.* advice.ignoredhook color.pager am.* apply.* author.* committer.* user.* blame.* branch.*.* branch.autosetupmerge branch.autosetuprebase branch.sort
  checkout.* clean.requireforce clone.defaultremotename clone.rejectshallow clone.filtersubmodules color.* color.*.* column.*
  commit.gpgsign commit.verbose commit.status commit.cleanup commit.template
  core.abbrev core.attributesfile core.autocrlf core.bare core.bigfilethreshold core.checkroundtripencoding core.checkstat core.commentchar core.compression
  core.deltabasecachelimit core.eol core.excludesfile core.filemode core.fscache core.hidedotfiles core.ignorecase core.ignorestat core.logallrefupdates
  core.longpaths core.loosecompression core.multipackindex core.packedgitlimit core.packedgitwindowsize core.packedrefstimeout core.precomposeunicode
  core.preloadindex core.protecthfs core.protectntfs core.quotepath core.repositoryformatversion core.safecrlf core.sharedrepository core.sparsecheckout
  core.sparsecheckoutcone core.splitindex core.symlinks core.trustctime core.untrackedcache core.usereplacerefs core.warnambiguousrefs core.whitespace
  credential.usehttppath credential.username credential.*.username credential.interactive
  diff.algorithm diff.autorefreshindex diff.colormoved diff.colormovedws diff.context diff.dirstat diff.ignoresubmodules diff.indentheuristic
  diff.interhunkcontext diff.mnemonicprefix diff.noprefix diff.orderfile diff.relative diff.renamelimit diff.renames diff.statgraphwidth diff.statnamewidth
  diff.submodule diff.suppressblankempty diff.tool diff.wordregex diff.wserrorhighlight diff.*.xfuncname diff.*.binary diff.*.wordregex
  extensions.worktreeconfig extensions.objectformat extensions.partialclone feature.* fetch.* filter.*.required format.pretty format.signoff format.numbered format.thread
  gc.* gpg.format grep.* gui.encoding help.autocorrect http.* http.*.* https.* i18n.* index.* init.defaultbranch interactive.singlekey
  lfs.concurrenttransfers lfs.fetchexclude lfs.fetchinclude lfs.locksverify lfs.*.locksverify lfs.repositoryformatversion lfs.skipdownloaderrors lfs.url
  log.* mailmap.* maintenance.* merge.autostash merge.branchdesc merge.conflictstyle merge.defaulttoupstream merge.directoryrenames merge.ff
  merge.log merge.renamelimit merge.renames merge.renormalize merge.stat merge.tool merge.verbosity merge.verifysignatures merge.*.name mergetool.keepbackup
  mergetool.prompt mergetool.writetotemp difftool.prompt notes.* pack.* protocol.version pull.* push.* rebase.* receive.advertiseatomic receive.autogc
  receive.denycurrentbranch receive.denydeletes receive.denynonfastforwards receive.fsckobjects remote.pushdefault remote.*.fetch remote.*.mirror remote.*.promisor
  remote.*.partialclonefilter remote.*.prune remote.*.prunetags remote.*.push remote.*.pushurl remote.*.skipdefaultupdate remote.*.skipfetchall remote.*.tagopt
  remote.*.url repack.* rerere.* safe.barerepository safe.directory showbranch.default sparse.* splitindex.* stash.* status.* submodule.active submodule.fetchjobs
  submodule.recurse submodule.propagatebranches submodule.*.active submodule.*.branch submodule.*.fetchrecursesubmodules submodule.*.ignore submodule.*.shallow
  submodule.*.update submodule.*.url tag.forcesignannotated tag.gpgsign tag.sort transfer.fsckobjects transfer.hiderefs transfer.unpacklimit
  url.*.insteadof url.*.pushinsteadof versionsort.suffix worktree.guessremote worktree.userelativepaths`.split(
    /\s+/,
  ),
);

/** The effects of setting `key`: the value is the text of `at` from index `from` on, or unknown without `from`. */
export function configEffects(key: string, at: Arg | undefined, from: number, call: ProgramCall): Effect[] {
  const place = at ?? call.self;
  const value = at === undefined ? undefined : withoutPrefix(at, from);
  const name = generalName(key);
  if (name.startsWith('alias.')) return aliasEffects(value, place);
  if (commands.has(name)) return commandEffects(key, name, value, place);
  if (cookieFile.test(name)) return [{ does: 'write', path: value ?? place }];
  const harmless = data.has(name) || (data.has(name.replace(/\.[^.]*$/, '.*')) && !namesCode.test(name));
  if (harmless && !choosesTransport(key, name, value)) return [];
  const reason = `the git setting ${key} is not known to be data, so it may choose which code git runs`;
  return [{ does: 'refuse', at: place, reason }];
}

/** Matches settings that name the file to which git writes cookies with `http.saveCookies`. */
const cookieFile = /^http\.(?:\*\.)?cookiefile$/;

/** Matches names of settings that run programs. Releases of git add some to sections that had only data, such as `gc.recentObjectsHook`. */
const namesCode = /(?:hook|command|cmd|program|helper|editor|pager|exec)$/;

/** `Branch.Main.Remote` becomes `branch.*.remote`: git ignores the case of the first and the last part. */
function generalName(key: string): string {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  const [section, name] = [key.slice(0, first).toLowerCase(), key.slice(last + 1).toLowerCase()];
  return first === last ? `${section}.${name}` : `${section}.*.${name}`;
}

/** A URL `ext::…` runs a command; so does every transport that is not built in. */
const transport = /^[\w+.-]+::/;

/** Formats that print one line; in the list of a rebase, a second line may be `exec COMMAND`. */
const oneLine =
  /^(?:[^%\n]|%(?:[%hHtTpPsfSdD]|[ac][neElLdDrtiIsh]|C(?:reset|red|green|blue|\([\w, #]*\))))*$/;

function choosesTransport(key: string, name: string, value: Arg | undefined): boolean {
  if (name === 'help.autocorrect') return !/^(?:0|never|prompt|show|)$/.test(value?.text ?? 'unknown');
  if (name === 'submodule.*.update') return value?.text === undefined || value.text.startsWith('!');
  if (name.startsWith('url.')) return !/^url\.(?:https?:|ssh:|git:|git@|file:|\/)/i.test(key);
  if (name === 'rebase.instructionformat') return !oneLine.test(value?.text ?? '%B');
  if (!/\.(?:push)?url$|^branch\.\*\.(?:push)?remote$|^remote\.pushdefault$/.test(name)) return false;
  return transport.test(value === undefined ? 'unknown::' : prefixOf(value));
}

/** Returns true for an address that makes git run a helper program. */
export function runsTransport(address: Arg): boolean {
  return transport.test(prefixOf(address));
}

function aliasEffects(value: Arg | undefined, at: Arg): Effect[] {
  if (value?.text === undefined)
    return [{ does: 'unknown', at, reason: 'what a git alias would run cannot be known' }];
  const text = value.text.trimStart();
  if (text.startsWith('!')) return [{ does: 'shell', text: knownArg(text.slice(1), at) }];
  return [{ does: 'start', argv: [knownArg('git', at), ...splitWords(value)] }];
}

function commandEffects(key: string, name: string, value: Arg | undefined, at: Arg): Effect[] {
  const text = value?.text;
  if (value === undefined || text === undefined)
    return [
      { does: 'refuse', at, reason: `the git setting ${key} would run a program that cannot be known` },
    ];
  if (/^(?:true|false|yes|no|on|off|1|0|cat|:|)$/i.test(text)) return [];
  if (name.includes('credential')) return credentialEffects(text, at);
  // Git adds a file name to the command lines of editors and drivers.
  const rest = /driver$|external$/.test(name) ? ' "$file"' : name === 'core.sshcommand' ? ' git@host' : '';
  const line = name.endsWith('editor') ? editorLine(text, name === 'sequence.editor') : text + rest;
  return [{ does: 'shell', text: knownArg(line.replace(/^!/, ''), at) }];
}

/**
 * A credential helper is a command after `!`, a path with arguments, or the rest of the name of a `git credential-…` program.
 * Git passes all of them to a shell.
 */
function credentialEffects(text: string, at: Arg): Effect[] {
  if (/^(?:cache|store|osxkeychain|manager|manager-core|libsecret|wincred)(?: --[\w=]+)*$/.test(text))
    return [];
  return [{ does: 'shell', text: knownArg(text.replace(/^!/, ''), at) }];
}
