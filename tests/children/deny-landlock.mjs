// Installs a seccomp filter that denies landlock_create_ruleset(), as container runtimes do, then runs exec-guard.js.
import koffi from 'koffi';

const step = (code, value, whenTrue = 0, whenFalse = 0) => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenTrue, 2);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
};
const landlockCreateRuleset = 444;
const notImplemented = 38;
const filter = Buffer.concat([
  step(0x20, 0),
  step(0x15, landlockCreateRuleset, 0, 1),
  step(0x06, 0x00050000 | notImplemented),
  step(0x06, 0x7fff0000),
]);
const library = koffi.load(null);
const prctl = library.func('int prctl(int option, ulong a, ulong b, ulong c, ulong d)');
const program = koffi.struct({ length: 'uint16_t', filter: 'void *' });
const install = library.func('prctl', 'int', ['int', 'ulong', koffi.pointer(program)]);
prctl(38, 1, 0, 0, 0);
if (install(22, 2, { length: 4, filter }) !== 0) throw new Error('no filter could be installed');
// The test copies `exec-guard.js` next to this file.
await import(new URL('./exec-guard.js', import.meta.url).href);
