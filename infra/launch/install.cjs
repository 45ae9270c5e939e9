'use strict';
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { linkPostgresLibraries } = require('./postgres-libraries.cjs');
const { withInstallLock } = require('./install-lock.cjs');
const { runChild } = require('./run-child.cjs');
const { findRuntime } = require('./runtime.cjs');

/** Brings node_modules below `root` in line with package-lock.json. Returns at once when it already is. */
async function ensureInstalled(root) {
  if (!isInstalled(root)) {
    await withInstallLock(root, async (addProcess) => {
      // The lock's previous holder may have done the work.
      if (!isInstalled(root)) await install(root, addProcess);
    });
  }
  linkPostgresLibraries(root);
}

async function install(root, onSpawn) {
  process.stderr.write('Installing dependencies…\n');
  const startedAtMs = performance.now();
  await runNpm(process.execPath, ['ci'], root, onSpawn);
  // npm omits an optional package whose "engines" the running Node does not meet. The pinned Node is installed now.
  if (!holdsLock(root)) await runNpm(findRuntime(root), ['install', '--no-save'], root, onSpawn);
  writeStamp(root);
  process.stderr.write(`Installed in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s.\n`);
}

async function runNpm(node, args, root, onSpawn) {
  const { npm_execpath: caller } = process.env;
  // Under yarn or pnpm the variable names another program; without a package manager it is not set.
  const [command, npm] = /npm-cli\.c?js$/.test(caller ?? '') ? [node, [caller]] : ['npm', []];
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--include=dev', '--include=optional'];
  const code = await runChild(command, [...npm, ...args, ...flags], {
    cwd: root,
    stdio: ['inherit', process.stderr, 'inherit'],
    env: { ...installEnvironment(), PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` },
    onSpawn,
  });
  if (code > 128) throw Object.assign(new Error('The install was interrupted.'), { exitCode: code });
  if (code !== 0) throw new Error('Installing the dependencies failed; npm says why above.');
}

/** npm settings that change what it installs and where. They are for the outer command, not for this install. */
const shaping =
  /^npm_config_(omit|include|only|also|dev|optional|production|workspaces?|include_workspace_root|global|location|prefix|local_prefix|dry_run|package_lock|package_lock_only|install_strategy|install_links|legacy_bundling|global_style|os|cpu|libc|force|loglevel|silent)$/;

function installEnvironment() {
  const isKept = (name) => name !== 'NODE_ENV' && !shaping.test(name.toLowerCase().replaceAll('-', '_'));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isKept(name)));
}

/** Whether node_modules is as this install left it, or was brought to the same state by hand. */
function isInstalled(root) {
  if (readText(stampFile(root)) === stamp(root)) return true;
  if (!holdsLock(root)) return false;
  writeStamp(root);
  return true;
}

/** Whether node_modules has everything that the lock file names for this platform. */
function holdsLock(root) {
  const record = readRecord(root);
  if (!record) return false;
  const found = JSON.parse(record).packages;
  const wanted = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(wanted).every(([place, entry]) => {
    if (!place.includes('node_modules/')) return true;
    const have = found[place];
    if (!have) return entry.optional === true && !isForThisPlatform(entry);
    return have.version === entry.version && have.integrity === entry.integrity;
  });
}

function isForThisPlatform({ os: systems, cpu: processors, libc }) {
  return Boolean(systems?.includes(process.platform) && processors?.includes(process.arch) && !libc?.includes('musl'));
}

const stampFile = (root) => path.join(root, 'node_modules', '.installed');

/** npm's own record of what is in node_modules, written at the end of every install. */
const readRecord = (root) => readText(path.join(root, 'node_modules', '.package-lock.json'));

function stamp(root) {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}\n`);
  hash.update(fs.readFileSync(path.join(root, 'package-lock.json')));
  return hash.update(readRecord(root) ?? '').digest('hex');
}

function writeStamp(root) {
  try {
    fs.writeFileSync(stampFile(root), stamp(root));
  } catch (error) {
    // Another user's node_modules: complete, but not writable.
    if (error.code !== 'EACCES' && error.code !== 'EROFS') throw error;
  }
}

function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

module.exports = { ensureInstalled };
