import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, withoutPrefix } from '../words/arg.ts';
import type { Effect } from './program.ts';
import { splitWords } from './split-words.ts';

/** Matches git settings whose value is a command, such as `core.pager`. */
const commands =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|pager\..+|sequence\.editor|diff\.external|diff\..+\.(?:command|textconv)|merge\..+\.driver|filter\..+\.(?:clean|smudge|process)|credential(?:\..+)?\.helper|gpg(?:\..+)?\.(?:program|defaultkeycommand)|(?:merge|diff)tool\..+\.(?:cmd|path)|guitool\..+\.cmd|browser\..+\.(?:cmd|path)|man\..+\.(?:cmd|path)|interactive\.difffilter|sendemail\..*(?:cmd|command)|uploadpack\.packobjectshook|remote\..+\.(?:uploadpack|receivepack|vcs)|tar\..+\.command|trailer\..+\.(?:command|cmd)|receive\.procreceiverefs|imap\.tunnel|instaweb\.(?:httpd|browser)|web\.browser|help\.browser|ssh\.variant\.command|submodule\..+\.update)$/;

/** Matches git settings that choose where git loads code or settings from, such as `core.hooksPath` and `include.path`. */
const doors =
  /^(?:core\.(?:hookspath|attributesfile|worktree\.hooks)|include\.path|includeif\..+\.path|init\.templatedir|protocol(?:\..+)?\.allow|url\..+\.(?:insteadof|pushinsteadof)|remote\..+\.(?:proxy|url)|core\.gitdir|safe\.directory|http(?:\..+)?\.(?:proxy|sslcert|cookiefile)|sendemail\..*smtpserver|extensions\..+|commit\.template)$/;

const spared =
  /^(?:remote\..+\.url|safe\.directory|http\..*|url\.https?:.*|core\.attributesfile|commit\.template|extensions\..+)$/;

/** The effects of setting `key`: the value is the text of `at` from index `from` on, or unknown without `from`. */
export function configEffects(key: string, at: Arg | undefined, from: number, call: ProgramCall): Effect[] {
  const name = key.toLowerCase();
  const place = at ?? call.self;
  const value = at === undefined ? undefined : withoutPrefix(at, from);
  if (name.startsWith('alias.')) return aliasEffects(value, place);
  if (doors.test(name) && !spared.test(name)) {
    return [{ does: 'refuse', at: place, reason: `the git setting ${key} chooses which code git runs` }];
  }
  return commands.test(name) ? commandEffects(key, name, value, place) : [];
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
  if (/^(?:true|false|yes|no|on|off|1|0|)$/i.test(text)) return [];
  if (name.startsWith('submodule.') && !text.startsWith('!')) return [];
  if (name.includes('credential')) return credentialEffects(text, value, at);
  return [{ does: 'shell', text: knownArg(text.replace(/^!/, ''), at) }];
}

/** A credential helper is a command after `!`, a path, or the name of a `git credential-…` program. */
function credentialEffects(text: string, value: Arg, at: Arg): Effect[] {
  if (text.startsWith('!')) return [{ does: 'shell', text: knownArg(text.slice(1), at) }];
  if (/^(?:cache|store|osxkeychain|manager(?:-core)?|libsecret|wincred)(?: --?[\w=-]+)*$/.test(text))
    return [];
  return [{ does: 'start', argv: splitWords(value) }];
}
