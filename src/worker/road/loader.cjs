// Runs on the other machine with `node -e`. It finds or receives the files of the worker, then becomes `worker.js attach`.
// It must parse and start in old versions of Node, because it reports that they are too old.
// Arguments: this text, the tag of its messages, the digest and size of the upload, the build, and folders to use.
const [major, minor] = process.versions.node.split('.').map(Number);
// Checked before `require`, because old versions do not support the prefix `node:`. After exit code 97, the shell tries the next Node.
if (major < 20 || (major === 20 && minor < 19)) process.exit(97);

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const crypto = require('node:crypto');
const url = require('node:url');

const [, , tag, digest, size, build, ...roots] = process.argv;

main();

function main() {
  try {
    const root = chooseRoot();
    const folder = path.join(root, digest);
    if (isOurs(folder)) return attach(root, folder);
    receive((upload) => {
      try {
        install(upload, root, folder);
        attach(root, folder);
      } catch (error) {
        fail(error);
      }
    });
  } catch (error) {
    fail(error);
  }
}

function say(message) {
  fs.writeSync(1, `\n${tag} ${JSON.stringify(message)}\n`);
}

function fail(error) {
  say({ error: error.code || 'failed', message: error.message, path: error.path });
  process.exit(1);
}

// Returns the first of `roots` that this user can create and write. If there is none, throws the error of the first one.
function chooseRoot() {
  let failure;
  for (const given of roots) {
    const root = given.replace(/^~/, os.homedir()).replace('UID', String(process.getuid()));
    try {
      fs.mkdirSync(root, { recursive: true, mode: 0o700 });
      fs.accessSync(root, fs.constants.W_OK);
      if (!isOurs(root)) throw new Error(`${root} belongs to another user, or others can write to it.`);
      return root;
    } catch (error) {
      failure = failure || error;
    }
  }
  throw failure;
}

// Another user could have created a folder below /tmp in advance.
function isOurs(folder) {
  try {
    const { uid, mode } = fs.lstatSync(folder);
    if (uid === process.getuid() && (mode & 0o170022) === 0o040000) return true;
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
  throw new Error(`${folder} belongs to another user, or others can write to it.`);
}

// The server sends exactly `size` bytes, and nothing more until it has read `ready`.
function receive(done) {
  const pieces = [];
  let left = Number(size);
  const take = (piece) => {
    pieces.push(piece);
    left -= piece.length;
    if (left > 0) return;
    process.stdin.off('data', take).off('end', stop).pause();
    done(Buffer.concat(pieces));
  };
  const stop = () => process.exit(1);
  process.stdin.on('data', take).on('end', stop);
  say({ need: 'files' });
}

// Format of an upload: the length of the list (u32), the list of paths and sizes as JSON, then the contents of the files.
function install(upload, root, folder) {
  const found = crypto.createHash('sha256').update(upload).digest('hex');
  if (found !== digest) throw new Error(`The upload has the digest ${found} instead of ${digest}.`);
  const part = path.join(root, `.${digest}.${crypto.randomBytes(8).toString('hex')}`);
  try {
    let at = 4 + upload.readUInt32BE(0);
    for (const file of JSON.parse(upload.toString('utf8', 4, at))) {
      const target = path.join(part, file.path);
      fs.mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
      fs.writeFileSync(target, upload.subarray(at, at + file.size), { mode: 0o700 });
      at += file.size;
    }
    fs.renameSync(part, folder);
  } catch (error) {
    fs.rmSync(part, { recursive: true, force: true });
    // `renameSync` fails if another connection has installed the same files in the meantime.
    if (!isOurs(folder)) throw error;
  }
}

function attach(root, folder) {
  say({ ready: { platform: process.platform, arch: process.arch, node: process.versions.node } });
  const program = path.join(folder, 'worker.js');
  process.argv = [process.execPath, program, 'attach', path.join(root, 'workers'), build];
  import(url.pathToFileURL(program).href).catch(fail);
}
