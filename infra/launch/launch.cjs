'use strict';
// The door of every npm script. It runs on whatever Node the caller has (20 or newer), so: CommonJS, no dependencies.
// It installs what is missing, picks the Node that the code is written for, and hands over to the command's entry.
const path = require('node:path');
const { ensureInstalled } = require('./install.cjs');
const { findRuntime } = require('./runtime.cjs');
const { runChild } = require('./run-child.cjs');

const root = path.resolve(__dirname, '..', '..');

const entries = {
  start: 'infra/local/src/main.ts',
  cli: 'infra/cli/src/main.ts',
  demo: 'examples/countries/src/main.ts',
  bench: 'tests/load/src/main.ts',
  docs: 'infra/docs/src/main.ts',
  test: 'infra/launch/test.ts',
  check: 'infra/launch/check.ts',
};

async function launch(command, args) {
  const entry = Object.hasOwn(entries, command) ? entries[command] : undefined;
  if (!entry) throw new Error(`Usage: node infra/launch/launch.cjs ${Object.keys(entries).join('|')} [arguments]`);
  await ensureInstalled(root);
  const runtime = findRuntime(root);
  const searchPath = [path.dirname(runtime), path.join(root, 'node_modules', '.bin'), process.env.PATH];
  return runChild(runtime, ['--require', path.join(__dirname, 'tether.cjs'), path.join(root, entry), ...args], {
    // A session of its own: a terminal's Ctrl-C and npm's copy of it both reach this process, and the child gets one.
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      // What one run has compiled the next one need not: services start in half the time.
      NODE_COMPILE_CACHE: path.join(root, 'node_modules', '.cache', 'compiled'),
      ...process.env,
      PATH: searchPath.filter(Boolean).join(path.delimiter),
    },
  });
}

launch(process.argv[2], process.argv.slice(3)).then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(error.exitCode ?? 1);
  },
);
