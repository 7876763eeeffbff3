import { afterAll } from 'vitest';
import { removeTemporaryFolders } from '../support/temporary-folder.ts';

afterAll(removeTemporaryFolders);
