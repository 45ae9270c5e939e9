import { createContext, Script } from 'node:vm';
import { analyse } from 'scslre';
import { attacksOn, codeOf, textOf } from './attack-texts.ts';

/** With this many words a linear match takes a millisecond, a quadratic one half a second. */
const repetitions = 30_000;

/** A match that takes more CPU time than this is slow, in milliseconds. */
const slowMs = 80;

/** A match's timeouts; the longer ones are for a busy machine. */
const timeoutsMs = [100, 500, 2500, 12_500];

/**
 * Finds a text that a pattern matches in more than linear time, as code that builds it; undefined when there is none.
 * It tries its own attacks first, then eslint-plugin-regexp's analysis, which finds attacks that repeat one character.
 */
export function findWeakness(source: string, flags: string): string | undefined {
  for (const attack of attacksOn(source, flags)) {
    if (isSlow(source, flags, textOf(attack, repetitions))) return codeOf(attack, repetitions);
  }
  const [report] = analyse({ source, flags: flags.replace('y', '') }).reports;
  return report && `${JSON.stringify(report.character.pick)}.repeat(${repetitions}) somewhere within`;
}

const match = new Script('text.replace(expression, "")');
const world = createContext({});

function isSlow(source: string, flags: string, text: string): boolean {
  Object.assign(world, { expression: new RegExp(source, flags), text });
  for (const timeout of timeoutsMs) {
    const before = process.cpuUsage();
    if (isOverIn(timeout)) return false;
    if (process.cpuUsage(before).user > slowMs * 1000) return true;
  }
  return true;
}

function isOverIn(timeout: number): boolean {
  try {
    match.runInContext(world, { timeout });
    return true;
  } catch (error) {
    // The error belongs to the other context, so `instanceof` does not work.
    if (Reflect.get(Object(error), 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}
