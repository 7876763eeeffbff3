// Writes a zip archive: local headers with deflated data, the central directory, and its end record.
import { crc32, deflateRawSync } from 'node:zlib';

const deflated = 8;
const utf8Names = 0x0800;
const version = 20;
const madeOnUnix = (3 << 8) | version;
// The earliest date that a zip can express, so that the same files always produce the same archive.
const date = (1 << 5) | 1;

/** Returns the archive of these `{ path, data, mode }` files as a Buffer. */
export function toZip(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const file of files) {
    const entry = toEntry(file);
    directory.push(toDirectoryEntry(entry, offset));
    parts.push(entry.header, entry.name, entry.body);
    offset += entry.header.length + entry.name.length + entry.body.length;
  }
  const listing = Buffer.concat(directory);
  return Buffer.concat([...parts, listing, toEnd(directory.length, listing.length, offset)]);
}

function toEntry({ path, data, mode = 0o644 }) {
  const [name, body] = [Buffer.from(path), deflateRawSync(data, { level: 9 })];
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(version, 0);
  facts.writeUInt16LE(utf8Names, 2);
  facts.writeUInt16LE(deflated, 4);
  facts.writeUInt16LE(date, 8);
  facts.writeUInt32LE(crc32(data), 10);
  facts.writeUInt32LE(body.length, 14);
  facts.writeUInt32LE(data.length, 18);
  facts.writeUInt16LE(name.length, 22);
  return { name, body, mode, facts, header: Buffer.concat([Buffer.from('PK\x03\x04'), facts]) };
}

function toDirectoryEntry({ name, mode, facts }, offset) {
  const more = Buffer.alloc(14);
  more.writeUInt32LE(((0o100000 | mode) << 16) >>> 0, 6);
  more.writeUInt32LE(offset, 10);
  const made = Buffer.alloc(2);
  made.writeUInt16LE(madeOnUnix);
  return Buffer.concat([Buffer.from('PK\x01\x02'), made, facts, more, name]);
}

function toEnd(count, bytes, offset) {
  const end = Buffer.alloc(18);
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(bytes, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([Buffer.from('PK\x05\x06'), end]);
}
