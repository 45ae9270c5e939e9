'use strict';
// Every npm script's entry. It runs on the caller's Node (20 or newer), so it is CommonJS without dependencies. It
// installs what is missing, picks the Node that the code needs, and starts the command.
const path = require('node:path');
const { ensureInstalled } = require('./install.cjs');
const { findRuntime } = require('./runtime.cjs');
const { runChild } = require('./run-child.cjs');

const root = path.resolve(__dirname, '..', '..');

const entries = {
  start: 'infra/local/src/main.ts',
  cli: 'infra/cli/src/main.ts',
  demo: 'examples/countries/src/main.ts',
  'demo:shop': 'examples/shop/src/demo.ts',
  'demo:tasks': 'examples/tasks/src/demo.ts',
  bench: 'tests/load/src/main.ts',
  docs: 'infra/docs/src/main.ts',
  pictures: ['infra/launch/beside-tests.ts', 'tests/admin-pages/pictures/main.ts'],
  'bench:pages': ['infra/launch/beside-tests.ts', 'tests/admin-pages/speed/main.ts'],
  test: 'infra/launch/test.ts',
  check: 'infra/launch/check.ts',
  pack: 'infra/pack/main.ts',
  'pack:nats': 'infra/nats-server/main.ts',
  release: 'infra/release/main.ts',
};

/** Runs Node itself with the given arguments. */
const bare = 'node';

/** Returns a command's script and arguments, without the Node arguments that every command has. */
function programOf(command, args) {
  if (command === bare) return args;
  if (Object.hasOwn(entries, command)) {
    const [script, ...given] = [entries[command]].flat();
    return [path.join(root, script), ...given, ...args];
  }
  const commands = [...Object.keys(entries), bare].join('|');
  throw new Error(`Usage: node infra/launch/launch.cjs ${commands} [arguments]`);
}

async function launch(command, args) {
  const program = programOf(command, args);
  await ensureInstalled(root);
  const runtime = findRuntime(root);
  const searchPath = [path.dirname(runtime), path.join(root, 'node_modules', '.bin'), process.env.PATH];
  return runChild(runtime, ['--require', path.join(__dirname, 'tether.cjs'), ...program], {
    // The child has its own session: Ctrl-C at a terminal and npm's copy of it both reach this process, which passes on
    // one.
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      // With a cache for compiled code, services start in half the time.
      NODE_COMPILE_CACHE: path.join(root, 'node_modules', '.cache', 'compiled'),
      // Threads for files. Each upload waits for two disk flushes, and parallel uploads share theirs.
      UV_THREADPOOL_SIZE: '16',
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
