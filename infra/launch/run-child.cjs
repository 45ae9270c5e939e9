'use strict';
const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** A signal's copy within this time counts as the same one: the terminal signals the group, and npm signals again. */
const sameSignalMs = 500;

/**
 * Runs a program to its end and forwards signals to it, each one once. Returns its exit code, or 128 + n when signal n
 * ended it.
 */
function runChild(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, options);
    const lastAtMs = new Map();
    const forward = (signal) => {
      const nowMs = performance.now();
      const repeated = nowMs - (lastAtMs.get(signal) ?? Number.NEGATIVE_INFINITY) < sameSignalMs;
      lastAtMs.set(signal, nowMs);
      if (!repeated) child.kill(signal);
    };
    for (const signal of forwarded) process.on(signal, forward);
    const settle = () => {
      for (const signal of forwarded) process.off(signal, forward);
    };
    child.once('error', (error) => {
      settle();
      reject(new Error(`Cannot run ${command}: ${error.message}`));
    });
    child.once('exit', (code, signal) => {
      settle();
      resolve(code ?? 128 + constants.signals[signal]);
    });
    options.onSpawn?.(child.pid);
  });
}

module.exports = { runChild };
