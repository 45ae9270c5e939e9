'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');

/** A lock that has no pid after this time belongs to a launch that died before it wrote its pid. */
const unsignedStaleMs = 5_000;
/** The boot time is only known to the second. */
const clockToleranceMs = 2_000;

/**
 * Runs `work` while no other launch installs into the same directory. `work` gets a function to add the processes that
 * it starts, so that an npm that outlives its launcher still holds the lock.
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
    const { mtimeMs } = fs.statSync(file);
    if (holders.length === 0) return Date.now() - mtimeMs > unsignedStaleMs;
    return !holders.some((pid) => isHolder(pid, mtimeMs));
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

/** Removes a dead lock. Only one of several waiters may do so, or the second would remove the first one's lock. */
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

/** Whether the process that wrote the lock still runs: not a zombie, and not a later process with the same pid. */
function isHolder(pid, signedAtMs) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  try {
    // proc(5): after the name come the state, and as field 22 the start in ticks (10 ms) since the boot.
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const bootSec = Number(/^btime (\d+)$/m.exec(fs.readFileSync('/proc/stat', 'utf8'))?.[1]);
    const startedAtMs = bootSec * 1000 + Number(fields[19]) * 10;
    return !/[ZX]/.test(fields[0]) && !(startedAtMs > signedAtMs + clockToleranceMs);
  } catch {
    // Without /proc, as on macOS, only the pid can be checked.
    return true;
  }
}

module.exports = { withInstallLock };
