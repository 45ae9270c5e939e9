import type { LiveResults } from './measure-live.ts';

/** Formats the results for live connections. */
export function liveLines(live: LiveResults): string[] {
  const { connections, kbEach, openedInSec, fanOutMs, paced, createsPerSec, resumedInSec, restart } = live;
  const { beside, alone } = createsPerSec;
  return [
    `${connections.toLocaleString('en')} live connections: opened in ${openedInSec.toFixed(1)} s, ` +
      `${kbEach === undefined ? 'unknown memory' : `${kbEach.toFixed(1)} kB`} each, back after a break in ${resumedInSec.toFixed(1)} s.`,
    `After a kill and a restart the product is ready in ${restart.readyInSec.toFixed(1)} s, and all of them are back ` +
      `in ${restart.resumedInSec.toFixed(1)} s.`,
    `One create that all clients see: the last message ${fanOutMs.map((ms) => Math.round(ms)).join(', ')} ms after its answer.`,
    ...paced.map(
      ({ rule, perSec, p50, p95, p99, cores }) =>
        `${perSec} creates/s under ${rule}, one client each: p50 ${Math.round(p50)} ms, p95 ${Math.round(p95)} ms, ` +
        `p99 ${Math.round(p99)} ms from the answer to the message; ${cores?.toFixed(2) ?? '?'} cores.`,
    ),
    `Creates beside them: ${Math.round(beside)}/s, ${(beside / alone).toFixed(2)} of those without.`,
  ];
}
