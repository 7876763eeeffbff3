// Whether the places that nacre writes to can be written, and whether there is room in them.
import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../../support/make-folder.ts';
import { quoteWord } from '../../../support/quote.ts';
import type { PlaceAccess, SettingsAccess } from '../../door.ts';
import { type Finding, ok } from './finding.ts';

/** Looks at the folders that nacre writes to. */
export function examineFolders({ places, settings }: PlaceAccess & SettingsAccess): readonly Finding[] {
  const dir = places.stateDir;
  return [
    examineFolder(dir, 'NACRE_STATE_DIR'),
    examineFolder(places.audit.dir, 'NACRE_AUDIT_DIR'),
    examineRoom(dir, settings),
  ];
}

function examineFolder(path: string, variable: string): Finding {
  const probe = join(path, `.doctor-${process.pid}`);
  try {
    makeFolder(path);
    writeFileSync(probe, '');
    rmSync(probe);
    return ok('folder', `${path} can be written`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const word = quoteWord(path);
    const own = `Make it yours (sudo mkdir -p ${word} && sudo chown -R "$USER" ${word}), or name`;
    const fix = `${isBelowFolder(path) ? own : 'Name'} another with ${variable}.`;
    return { check: 'folder', status: 'problem', found: `${path} cannot be written: ${reason}`, fix };
  }
}

// What is there and is no folder is somebody else's, and never to be given away.
function isBelowFolder(path: string): boolean {
  const above = dirname(path);
  if (existsSync(path)) return statSync(path).isDirectory();
  return above !== path && isBelowFolder(above);
}

function examineRoom(path: string, settings: SettingsAccess['settings']): Finding {
  const inForce = (key: string) => settings.find((one) => one.key === key)?.value;
  const kept = [
    { what: 'output', key: 'spool_total_bytes' },
    { what: 'audit records', key: 'audit_max_bytes' },
    ...(inForce('record') === true ? [{ what: 'recordings', key: 'record_max_bytes' }] : []),
  ].map(({ what, key }) => ({ what, key, bytes: Number(inForce(key)) }));
  const free = freeBytes(path);
  const each = kept.map(({ what, bytes }) => `${what} up to ${toGiB(bytes)}`);
  const quotas = `${inWords(each)} may be kept`;
  if (free === undefined || free >= kept.reduce((sum, { bytes }) => sum + bytes, 0))
    return ok(
      'quotas',
      `${quotas}; ${free === undefined ? 'the room is not known' : `${toGiB(free)} are free`}`,
    );
  return {
    check: 'quotas',
    status: 'warning',
    found: `${quotas}, but only ${toGiB(free)} are free at ${path}`,
    fix: `Make room, or lower ${inWords(kept.map(({ key }) => `NACRE_${key.toUpperCase()}`))}.`,
  };
}

function inWords(things: readonly string[]): string {
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
