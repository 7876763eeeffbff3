import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPlace } from '../support/nacre.ts';
import { blocks } from '../support/pages.ts';

/** A home with the settings that a guide shows, and a project in it. */
export function createGuidePlace(page: string, env: Readonly<Record<string, string>> = {}) {
  const place = createPlace(env);
  const settings = join(place.cwd, '.config/nacre');
  const project = join(place.cwd, 'project');
  for (const folder of [settings, project]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(settings, 'config.yaml'), blocks(`docs/guide/${page}.md`, 'yaml')[0] ?? '');
  return { ...place, home: place.cwd, cwd: project };
}
