#!/usr/bin/env node
'use strict';
// Runs on the caller's Node (20 or newer), picks the Node that the code needs, and starts the command.
const { homedir } = require('node:os');
const path = require('node:path');
const { findRuntime } = require('../launch/runtime.cjs');
const { linkPostgresLibraries } = require('../launch/postgres-libraries.cjs');
const { runChild } = require('../launch/run-child.cjs');
const { addServer } = require('./add-server.cjs');

const parentPollMs = 500;
const root = path.resolve(__dirname, '..');
const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'recordbus');

async function launch([command, ...args]) {
  const runtime = findRuntime(root);
  linkPostgresLibraries(root);
  const isStart = command === 'start';
  if (isStart && args.includes('--processes')) throw new Error('--processes needs a clone, or the image.');
  const searchPath = [path.dirname(runtime), isStart && (await addServer(root, cache, runtime)), process.env.PATH];
  const program = isStart ? ['local', ...args] : ['cli', ...(command === undefined ? [] : [command]), ...args];
  const [name, ...rest] = program;
  const file = path.join(root, 'node_modules/@recordbus', name, 'src/main.js');
  return runChild(runtime, ['--require', path.join(root, 'launch/tether.cjs'), file, ...rest], {
    // The child has its own session: Ctrl-C at a terminal and npm's copy of it both reach this process, which passes on
    // one.
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      NODE_COMPILE_CACHE: path.join(cache, 'compiled'),
      // Threads for files. Each upload waits for two disk flushes, and parallel uploads share theirs.
      UV_THREADPOOL_SIZE: '16',
      SERVICE_PAGES_DIR: path.join(root, 'pages'),
      ...process.env,
      PATH: searchPath.filter(Boolean).join(path.delimiter),
    },
  });
}

/** npx runs this below a shell, which a signal ends without passing it on. */
function stopWithParent() {
  const parent = process.ppid;
  const watch = () => process.ppid === parent || process.kill(process.pid, 'SIGTERM');
  setInterval(watch, parentPollMs).unref();
}

stopWithParent();
launch(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(error.exitCode ?? 1);
  },
);
