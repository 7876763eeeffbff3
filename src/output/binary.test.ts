import { closeSync, openSync, readSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { binaryNotice, recogniseContent } from './binary.ts';

const bytes = (start: string, size = 64) => Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(size)]);
const at = (offset: number, text: string) => Buffer.concat([Buffer.alloc(offset, 1), bytes(text)]);
const text = { kind: 'text', nul: 'picture' };
const separated = { kind: 'text', nul: 'newline' };

describe('binary output', () => {
  test.each([
    ['PNG image', bytes('\x89PNG\r\n\x1a\n')],
    ['JPEG image', bytes('\xff\xd8\xff\xe0')],
    ['GIF image', bytes('GIF89a\x01')],
    ['WebP image', bytes('RIFF\x10\0\0\0WEBPVP8 ')],
    ['PDF document', Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n', 'latin1')],
    ['ZIP archive', bytes('PK\x03\x04')],
    ['gzip data', gzipSync('hello')],
    ['xz data', bytes('\xfd7zXZ\0')],
    ['zstd data', bytes('\x28\xb5\x2f\xfd')],
    ['bzip2 data', bytes('BZh91AY')],
    ['ELF binary', bytes('\x7fELF\x02\x01\x01')],
    ['Mach-O binary', bytes('\xcf\xfa\xed\xfe')],
    ['Mach-O universal binary', bytes('\xca\xfe\xba\xbe\0\0\0\x02')],
    ['Java class file', bytes('\xca\xfe\xba\xbe\0\0\0\x41')],
    ['WebAssembly module', bytes('\0asm\x01')],
    ['SQLite database', bytes('SQLite format 3\0')],
    ['tar archive', at(257, 'ustar')],
    ['MP4 media', at(4, 'ftypisom')],
    ['UTF-16 text', Buffer.from(`\ufeff${'plain text '.repeat(9)}`, 'utf16le')],
    ['UTF-16 text', Buffer.from('\ufeff漢字かな交じり文漢字かな交じり文', 'utf16le')],
    ['UTF-16 text', Buffer.from('no byte order mark '.repeat(9), 'utf16le')],
    ['data that is not UTF-8 text', Buffer.alloc(64)],
    ['data that is not UTF-8 text', Buffer.from(Array.from({ length: 256 }, (_, i) => (i * 37 + 200) % 256))],
  ])('is recognised: %s', (what, sample) => {
    expect(recogniseContent(sample)).toEqual({ kind: 'binary', what });
  });

  test('is recognised in a real executable', () => {
    const program = openSync(process.execPath, 'r');
    const start = Buffer.alloc(4096);
    readSync(program, start);
    closeSync(program);
    expect(recogniseContent(start)).toMatchObject({
      kind: 'binary',
      what: expect.stringMatching(/^(ELF|Mach-O)/),
    });
  });

  test('is replaced by one line', () => {
    expect(binaryNotice('PNG image', 12_345)).toBe(
      '[Binary output: PNG image, 12,345 bytes. Redirect it to a file, or pipe it through base64 or xxd | head.]',
    );
    expect(binaryNotice('UTF-16 text', 9)).toContain('iconv -f UTF-16');
  });
});

describe('text', () => {
  test.each([
    ['no bytes', Buffer.alloc(0)],
    ['colours', Buffer.from('\x1b[31mred\x1b[0m\n'.repeat(50))],
    ['backspaces and bells', Buffer.from('N\bN\x07\n'.repeat(50))],
    ['an invalid byte', Buffer.from([0x61, 0xff, 0x62])],
    ['only invalid bytes, but few', Buffer.from([0xff, 0xfe, 0xfd, 0xfc])],
    ['Latin-1', Buffer.from('Die Größe der Straße ist schön.\n'.repeat(50), 'latin1')],
    ['separators in a log format', Buffer.from('abc123\x1fA. Author\x1fa subject line\n'.repeat(50))],
    ['U+FFFD characters that the program wrote', Buffer.from('\ufffd'.repeat(100))],
    ['a character cut off by the end of the sample', Buffer.from('漢'.repeat(3000))],
    ['a stray NUL', Buffer.from('one line\nanother\0 line\nthird\n')],
    [
      'words that are magic numbers of a format',
      Buffer.from('%PDF-1.7 is a version, BM is not\xe9\n'.repeat(5), 'latin1'),
    ],
    ['a short word and an invalid byte', Buffer.from('MZ\xe9', 'latin1')],
  ])('stays text: %s', (_, sample) => {
    expect(recogniseContent(sample)).toEqual(text);
  });

  test.each([
    ['find -print0', './a.txt\0./b/c.txt\0./d\0'],
    ['env -0 with a value of two lines', 'A=1\0PATH=/bin\0B=x\ny\0'],
    ['one name', 'name\0'],
    ['single letters', 'a\0b\0c\0'],
    ['git diff --numstat -z with a rename', '1\t2\t\0old name\0new name\x003\t4\tother\0'],
    ['names in UTF-8', './größe\0./漢字\0'],
  ])('separated by NULs is recognised: %s', (_, sample) => {
    expect(recogniseContent(Buffer.from(sample))).toEqual(separated);
  });

  test('any text without control characters is text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (any) => {
        expect(recogniseContent(Buffer.from(any.replace(/\p{Cc}/gu, '')))).toEqual(text);
      }),
    );
  });
});
