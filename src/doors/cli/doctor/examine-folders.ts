// Checks whether the folders that nacre writes to are writable and have enough free space.
import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../../support/make-folder.ts';
import { quoteWord } from '../../../support/quote.ts';
import type { PlaceAccess, SettingsAccess } from '../../door.ts';
import { type Finding, ok } from './finding.ts';

/** Checks `state_dir` and `audit_dir`, and whether the quotas fit in the free space. */
export function examineFolders({ places, settings }: PlaceAccess & SettingsAccess): readonly Finding[] {
  const dir = places.stateDir;
  return [
    examineFolder(dir, 'NACRE_STATE_DIR'),
    examineFolder(places.audit.dir, 'NACRE_AUDIT_DIR'),
    examineSpace(dir, settings),
  ];
}

function examineFolder(path: string, variable: string): Finding {
  const probe = join(path, `.doctor-${process.pid}`);
  try {
    makeFolder(path);
    writeFileSync(probe, '');
    rmSync(probe);
    return ok('folder', `${path} is writable`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const word = quoteWord(path);
    const own = `Take ownership (sudo mkdir -p ${word} && sudo chown -R "$USER" ${word}), or choose`;
    const fix = `${isBelowFolder(path) ? own : 'Choose'} another folder with ${variable}.`;
    return { check: 'folder', status: 'problem', found: `${path} is not writable: ${reason}`, fix };
  }
}

// If part of the path is a file, it belongs to something else; do not suggest `chown` for it.
function isBelowFolder(path: string): boolean {
  const above = dirname(path);
  if (existsSync(path)) return statSync(path).isDirectory();
  return above !== path && isBelowFolder(above);
}

function examineSpace(path: string, settings: SettingsAccess['settings']): Finding {
  const inForce = (key: string) => settings.find((one) => one.key === key)?.value;
  const kept = [
    { what: 'output', key: 'spool_total_bytes' },
    { what: 'audit records', key: 'audit_max_bytes' },
    ...(inForce('record') === true ? [{ what: 'recordings', key: 'record_max_bytes' }] : []),
  ].map(({ what, key }) => ({ what, key, bytes: Number(inForce(key)) }));
  const free = freeBytes(path);
  const each = kept.map(({ what, bytes }) => `${what} up to ${toGiB(bytes)}`);
  const quotas = `${joinWithAnd(each)} may be kept`;
  if (free === undefined || free >= kept.reduce((sum, { bytes }) => sum + bytes, 0))
    return ok(
      'quotas',
      `${quotas}; ${free === undefined ? 'the free space is unknown' : `${toGiB(free)} is free`}`,
    );
  return {
    check: 'quotas',
    status: 'warning',
    found: `${quotas}, but only ${toGiB(free)} is free at ${path}`,
    fix: `Free some space, or lower ${joinWithAnd(kept.map(({ key }) => `NACRE_${key.toUpperCase()}`))}.`,
  };
}

function joinWithAnd(things: readonly string[]): string {
  return new Intl.ListFormat('en').format(things);
}

function freeBytes(path: string): number | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      const { bavail, bsize } = statfsSync(folder);
      return bavail * bsize;
    } catch {
      if (folder === dirname(folder)) return undefined;
    }
  }
}

function toGiB(bytes: number): string {
  return `${(bytes / 1_073_741_824).toFixed(1)} GiB`;
}
