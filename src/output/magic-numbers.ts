/** The file format that the first bytes identify, if any; not `certain` if they could also begin a text. */
export function formatOf(bytes: Uint8Array): { name: string; certain: boolean } | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 512)).toString('latin1');
  if (text.startsWith('\xca\xfe\xba\xbe')) return { name: javaOrFatMachO(text), certain: true };
  const found = formats.find(([start, , offset = 0]) => text.startsWith(start, offset));
  return found && { name: found[1], certain: /[^\t\n\r -~]/.test(found[0]) };
}

// Both start with CA FE BA BE; a small number of architectures follows, or a class file version of at least 45.
function javaOrFatMachO(text: string): string {
  return text.charCodeAt(6) === 0 && text.charCodeAt(7) < 45 ? 'Mach-O universal binary' : 'Java class file';
}

// A printable magic number can also begin a text; `formatOf` marks it as not `certain`.
const formats: readonly (readonly [start: string, name: string, offset?: number])[] = [
  ['\x89PNG\r\n\x1a\n', 'PNG image'],
  ['\xff\xd8\xff', 'JPEG image'],
  ['GIF87a', 'GIF image'],
  ['GIF89a', 'GIF image'],
  ['WEBP', 'WebP image', 8],
  ['II*\0', 'TIFF image'],
  ['MM\0*', 'TIFF image'],
  ['BM', 'BMP image'],
  ['%PDF-', 'PDF document'],
  ['PK\x03\x04', 'ZIP archive'],
  ['PK\x05\x06', 'ZIP archive'],
  ['\x1f\x8b\x08', 'gzip data'],
  ['\xfd7zXZ\0', 'xz data'],
  ['\x28\xb5\x2f\xfd', 'zstd data'],
  ['BZh', 'bzip2 data'],
  ['\x04\x22\x4d\x18', 'LZ4 data'],
  ['7z\xbc\xaf\x27\x1c', '7-Zip archive'],
  ['Rar!\x1a\x07', 'RAR archive'],
  ['ustar', 'tar archive', 257],
  ['!<arch>\n', 'ar archive'],
  ['\xed\xab\xee\xdb', 'RPM package'],
  ['\x7fELF', 'ELF binary'],
  ['\xfe\xed\xfa\xce', 'Mach-O binary'],
  ['\xfe\xed\xfa\xcf', 'Mach-O binary'],
  ['\xce\xfa\xed\xfe', 'Mach-O binary'],
  ['\xcf\xfa\xed\xfe', 'Mach-O binary'],
  ['MZ', 'Windows executable'],
  ['\0asm', 'WebAssembly module'],
  ['BC\xc0\xde', 'LLVM bitcode'],
  ['SQLite format 3\0', 'SQLite database'],
  ['PAR1', 'Parquet file'],
  ['\x93NUMPY', 'NumPy array'],
  ['\x89HDF\r\n\x1a\n', 'HDF5 file'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'Microsoft Office document'],
  ['ftyp', 'MP4 media', 4],
  ['WAVE', 'WAV audio', 8],
  ['OggS', 'Ogg media'],
  ['fLaC', 'FLAC audio'],
  ['ID3', 'MP3 audio'],
  ['\x1aE\xdf\xa3', 'Matroska media'],
  ['wOF2', 'WOFF2 font'],
  ['wOFF', 'WOFF font'],
  ['PACK\0', 'Git pack'],
];
