import { expect, it } from 'vitest';
import { findImports, hasComputedImport } from './find-imports.ts';

const specifiers = (source: string) => findImports('src/a/b.ts', source).map(({ specifier }) => specifier);

it('finds every form of import', () => {
  const source = `
import './bare.ts';
import one from "one";
import * as two from 'two';
import three, { four as five } from 'three';
import {
  six, // it's six
  type seven,
} from '../six.ts';
import type { eight } from 'eight';
export * from 'nine';
export * as ten from 'ten';
export { eleven } from 'eleven';
export type { twelve } from 'twelve';
const thirteen = await import('thirteen');
const later = { fourteen: () => import("./fourteen.ts") };
import data from './data.json' with { type: 'json' };import fifteen from 'fifteen';
type Sixteen = import('sixteen').Sixteen;
import{seventeen}from'seventeen';
`;
  expect(specifiers(source).sort()).toEqual(
    [
      ...['./bare.ts', 'one', 'two', 'three', '../six.ts', 'eight', 'nine', 'ten', 'eleven', 'twelve'],
      ...['thirteen', './fourteen.ts', './data.json', 'fifteen', 'sixteen', 'seventeen'],
    ].sort(),
  );
});

it('finds no import in comments, strings and other code', () => {
  const source = `
// import one from 'one';
/* import two from 'two'; */
export const three = 'three';
export default 'four';
export type Five = 'five' | 'six';
const seven = important('seven');
`;
  expect(specifiers(source)).toEqual([]);
});

it('recognises type-only imports', () => {
  const source = "import type { A } from 'a';\nexport type { B } from 'b';\nimport { type C } from 'c';\n";
  expect(findImports('src/x.ts', source).map(({ typeOnly }) => typeOnly)).toEqual([true, true, false]);
  expect(findImports('src/x.ts', "import type from 'types';")).toMatchObject([{ specifier: 'types' }]);
});

it('resolves relative imports from the importing file', () => {
  const [inner, outer, foreign] = findImports('src/a/b.ts', "import './c.ts';import '../d.ts';import 'zod';");
  expect([inner?.target, outer?.target, foreign?.target]).toEqual(['src/a/c.ts', 'src/d.ts', undefined]);
});

it('notices an import with a computed specifier', () => {
  expect(hasComputedImport('await import(name)')).toBe(true);
  expect(hasComputedImport('await import(`./name.ts`)')).toBe(true);
  expect(hasComputedImport("await import('./name.ts') // import(name)")).toBe(false);
});
