import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { needRoot } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { explainLayerErrors } from './explain-errors.ts';

const overflow = 'Value too large for defined data type';

describe('explainLayerErrors', () => {
  it('names the file that belongs to another user, and its owner', (context) => {
    needRoot(context);
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'a b'), '');
    chownSync(join(cwd, 'a b'), 12345, 54321);
    for (const line of [`bash: line 1: a b: ${overflow}`, `touch: cannot touch 'a b': ${overflow}`])
      expect(explainLayerErrors(`x\n${line}\n`, cwd)).toContain(
        '"a b" belongs to user 12345 and group 54321: a layer can copy only files of your own',
      );
  });

  it('explains the error if the file cannot be found', () => {
    expect(explainLayerErrors(`mv: ${overflow}\n`, '/nowhere')).toContain('belongs to another user or group');
  });

  it('explains the limit for the size of files, and nothing else', () => {
    expect(explainLayerErrors("dd: error writing 'x': File too large\n", '/')).toContain(
      'changes_file_bytes',
    );
    expect(explainLayerErrors('cat: x: No such file or directory\n', '/')).toBeUndefined();
  });
});
