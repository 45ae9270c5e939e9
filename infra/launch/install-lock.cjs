'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');

/** A lock that nobody has written a process into for so long belongs to one that died in between. */
const unsignedStaleMs = 5_000;

/**
 * Runs `work` while no other launch installs into the same directory. `work` gets a function to name the processes
 * that it starts: an npm that outlives its launcher still holds the lock.
 */
async function withInstallLock(root, work) {
  const file = path.join(root, '.install-lock');
  await acquire(file);
  try {
    return await work((pid) => fs.appendFileSync(file, `${pid}\n`));
  } finally {
    fs.rmSync(file, { force: true });
  }
}

async function acquire(file) {
  for (let waited = false; ; ) {
    try {
      fs.writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isStale(file)) {
      breakLock(file);
    } else if (!waited) {
      process.stderr.write('Waiting for another install to finish…\n');
      waited = true;
    }
    await delay(100);
  }
}

function isStale(file) {
  try {
    const holders = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number);
    if (holders.length === 0) return Date.now() - fs.statSync(file).mtimeMs > unsignedStaleMs;
    return !holders.some(isAlive);
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

/** Only one of several waiters may remove a dead lock, else the second would remove the lock of the first. */
function breakLock(file) {
  const mutex = `${file}.break`;
  try {
    fs.mkdirSync(mutex);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (Date.now() - (fs.statSync(mutex, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > unsignedStaleMs) {
      fs.rmSync(mutex, { recursive: true, force: true });
    }
    return;
  }
  if (isStale(file)) fs.rmSync(file, { force: true });
  fs.rmdirSync(mutex);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

module.exports = { withInstallLock };
