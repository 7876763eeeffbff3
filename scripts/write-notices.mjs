// Writes the licences of all packages whose code is in dist/, found from esbuild's metafile and the copied files.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes `dist/THIRD_PARTY_NOTICES.md` for the packages that these input files belong to. */
export function writeNotices(inputs) {
  const names = [...new Set(inputs.flatMap(packageOf))].sort();
  const head = 'nacre contains code of the following packages, under their licences.';
  writeFileSync(
    'dist/THIRD_PARTY_NOTICES.md',
    `# Third-party notices\n\n${head}\n${names.map((name) => toNotice(name, names)).join('')}`,
  );
}

function packageOf(path) {
  const [, name] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return name === undefined ? [] : [name];
}

function toNotice(name, names) {
  const { version, license } = manifestOf(name);
  return `\n## ${name} ${version} (${license})\n\n\`\`\`text\n${licenceOf(name, names).trim()}\n\`\`\`\n`;
}

function licenceOf(name, names) {
  // Of several packages from one repository, only one may contain the licence file.
  const repository = ({ repository: given }) => given?.url ?? given;
  const origin = repository(manifestOf(name));
  const kin = names.filter((other) => repository(manifestOf(other)) === origin);
  for (const one of [name, ...kin]) {
    const folder = join('node_modules', one);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file !== undefined) return readFileSync(join(folder, file), 'utf8');
  }
  throw new Error(`${name} is in the bundle, but its package has no licence file.`);
}

function manifestOf(name) {
  const path = join('node_modules', name, 'package.json');
  if (!existsSync(path)) throw new Error(`${name} is in the bundle, but not directly below node_modules.`);
  return JSON.parse(readFileSync(path, 'utf8'));
}
