import { describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';
import { type PresetName, presets } from '../../src/policy/presets.ts';
import { readCases } from './read-cases.ts';

interface Spelling {
  /** A key of `lists`, names separated by commas, a preset after `@`, or `*`. */
  readonly list: string;
  readonly command: string;
}

const lists: Readonly<Record<string, string>> = {
  builtins: 'ls echo printf read',
  reading: 'ls echo printf cat',
  git: 'git',
  filters: 'ls grep find sed awk git',
  pipes: 'ls grep find sed awk git cat xargs head',
  languages: 'ls cat sqlite3 ed vim less man curl wget tar ssh scp rsync jq gpg openssl zip tee tr',
  decoders: 'ls grep find sed awk git cat xargs head tr rev echo printf sqlite3 ed vim tar base64',
  counters: 'ls wc du cut awk uniq sort grep nl cat sed head tr echo',
  tools: `ls node python3 perl make npm wget curl ssh docker kubectl cargo go gcc xargs env nice timeout man less rg fd fzf gh uv
    pip bat git`,
  usual: `git ls cat grep find sed awk jq curl tar ssh vim less sqlite3 make npm node python3 echo printf read head xargs exec test
    dd`,
  few: 'ls cat xargs find',
  system: 'ip tc bridge zip unzip man mandb apropos whatis',
  naming: `ls grep find sed awk git xargs cat sort head tail wc echo cut mkdir cp mv rm touch tee printf read tr jq curl tar date mktemp pwd
    basename dirname uniq mapfile`,
  editing: `ls grep find sed awk git xargs cat sort head tail wc echo cut mkdir cp mv rm touch tee printf read tr jq curl tar`,
};

function allowOf(list: string): readonly string[] | '*' {
  if (list === '*') return '*';
  if (list.startsWith('@')) return presets[list.slice(1) as PresetName].allowedCommands;
  return (lists[list] ?? list).split(/[\s,]+/);
}

function wrong(file: string, verdict: 'allow' | 'deny'): string[] {
  return readCases<Spelling>(file).flatMap(({ list, command }) => {
    const decision = decideCommand(command, allowOf(list));
    return decision.verdict === verdict ? [] : [`${command} [${list}]: ${decision.reason}`];
  });
}

describe('T6 P8 P10: many ways to write a command', () => {
  test('every spelling that starts another program, writes a protected file or is dangerous is refused', () => {
    expect(wrong('./spellings.jsonl', 'deny')).toEqual([]);
  });

  test('commands that agents type every day are allowed', () => {
    expect(wrong('./everyday.jsonl', 'allow')).toEqual([]);
  });
});
